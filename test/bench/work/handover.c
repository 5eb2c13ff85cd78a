/* SPDX-License-Identifier: MIT */
/*
 * One thread schedules and another, on another CPU, cancels, some 1,000 later.
 * A place in the ring between them says itself whether it is full, and each
 * side looks at the other once in a batch: what the ring costs is small, and
 * the same for all.  CPU time is that of both threads with their waiting, so
 * that a slow canceller counts twice.
 */
#include "config.h"

#include "work.h"

#include <sched.h>

enum { RING = 2048, IN_FLIGHT = 1000, BATCH = 16 };

static struct timers timers;
static _Atomic uint32_t full[RING] __attribute__((aligned(64)));
static _Atomic long failures;

/* Some of the facilities need a CPU for their thread meanwhile. */
static bool wait_until(size_t place, uint32_t value)
{
	for (int i = 0;
	     atomic_load_explicit(&full[place], memory_order_acquire) != value;
	     i++) {
		if (team_over())
			return false;
		relax();
		if (i % 256 == 255)
			sched_yield();
	}
	return true;
}

static void set(size_t place, uint32_t value)
{
	atomic_store_explicit(&full[place], value, memory_order_release);
}

/* Each is one thread's. */
static size_t next_in __attribute__((aligned(128)));
static size_t next_out __attribute__((aligned(128)));

static long produce(void)
{
	long n = 0;

	for (;; n += BATCH) {
		if (!wait_until((next_in + BATCH - 1) % RING, 0))
			return n;
		for (int k = 0; k < BATCH; k++) {
			size_t place = next_in++ % RING;

			must_schedule(timer_at(&timers, place), now_ns(),
				      10 * BENCH_S, ignore, NULL);
			set(place, 1);
		}
	}
}

static void cancel_batch(void)
{
	long failed = 0;

	for (int k = 0; k < BATCH; k++) {
		size_t place = next_out++ % RING;

		failed += peer_cancel(timer_at(&timers, place)) != 1;
		set(place, 0);
	}
	if (failed)
		failures += failed;
}

/* Stays behind: waits for what is so far ahead.  The turns are the other's. */
static long consume(void)
{
	while (wait_until((next_out + IN_FLIGHT + BATCH - 1) % RING, 1))
		cancel_batch();
	return 0;
}

static long turn(int i)
{
	return i == 0 ? produce() : consume();
}

static void nothing(int i)
{
	(void)i;
}

int work_handover(void)
{
	struct team team = {
		.threads = 2,
		.begin = nothing,
		.turn = turn,
		.end = nothing,
		.ns = argument_ns("seconds", 0.5),
	};

	timers = timers_new(RING);
	start_peer(2, RING, 10 * BENCH_S);
	return team_work(&team, &timers, &failures);
}
