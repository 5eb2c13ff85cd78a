/* SPDX-License-Identifier: MIT */
/*
 * How many timers can run: so many a second are scheduled, by one thread or
 * several, each for a random moment within the second after, and all run.  What
 * does one cost the facility's own threads, and how late is it?
 *
 * Each callback counts, and touches what it is given; one of 64 looks at the
 * clock.
 */
#include "config.h"

#include "work.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { SAMPLED = 64, WARM_UP_S = 2 };

static struct timers timers;
struct record {
	int64_t deadline; /* 0: its time is not looked at */
	_Atomic bool pending;
};
static struct record *records;

/* Written by the facility's thread; several may be. */
static int64_t *late;
static _Atomic size_t samples;
static size_t most_samples;
static _Atomic long ran;
static _Atomic bool measured;

static long threads;
static int64_t rate, begin, end;
static _Atomic int64_t own_cpu; /* of the threads that schedule */

static void fire(void *arg)
{
	struct record *r = arg;
	int64_t deadline = r->deadline;
	size_t i;

	/* Mostly one thread: then this costs what an addition does. */
	atomic_store_explicit(
		&ran, atomic_load_explicit(&ran, memory_order_relaxed) + 1,
		memory_order_relaxed);
	atomic_store_explicit(&r->pending, false, memory_order_release);
	if (deadline == 0 ||
	    !atomic_load_explicit(&measured, memory_order_relaxed))
		return;
	i = atomic_fetch_add_explicit(&samples, 1, memory_order_relaxed);
	if (i < most_samples)
		late[i] = now_ns() - deadline;
}

static int64_t thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * BENCH_S + t.tv_nsec;
}

/* False: the one before it in its place is a second late, and has not run. */
static bool schedule_one(size_t i, int64_t now, uint64_t *rng)
{
	int64_t delay = (int64_t)(next_random(rng) % (uint64_t)BENCH_S);
	struct record *r = &records[i];

	if (atomic_load_explicit(&r->pending, memory_order_acquire))
		return false;
	r->deadline = i % SAMPLED == 0 ? now + delay : 0;
	atomic_store_explicit(&r->pending, true, memory_order_relaxed);
	must_schedule(timer_at(&timers, i), now, delay, fire, r);
	return true;
}

/* Each its part of the rate, and of the timers. */
static void *schedule_on_time(void *arg)
{
	const size_t part = (size_t)(intptr_t)arg;
	const size_t n = timers.n / (size_t)threads;
	uint64_t rng = 88172645463325252u + part;
	int64_t before = 0;
	size_t done = 0;

	peer_enter();
	for (int64_t now = now_ns(); now < end; now = now_ns()) {
		size_t due = (size_t)((double)(now - begin) * (double)rate /
				      (double)threads / 1e9);

		if (before == 0 &&
		    atomic_load_explicit(&measured, memory_order_relaxed))
			before = thread_cpu_ns();
		while (done < due &&
		       schedule_one(part * n + done % n, now, &rng))
			done++;
		sleep_until_ns(now + BENCH_MS / 5);
	}
	atomic_fetch_add(&own_cpu, thread_cpu_ns() - before);
	peer_leave();
	return NULL;
}

static void measure(void)
{
	int64_t cpu, from;
	long first;

	sleep_until_ns(begin + WARM_UP_S * BENCH_S);
	first = atomic_load(&ran);
	from = now_ns();
	cpu = process_cpu_ns();
	atomic_store(&measured, true);
	sleep_until_ns(end);
	atomic_store(&measured, false);
	first = atomic_load(&ran) - first;
	cpu = process_cpu_ns() - cpu;
	result("ran_s", (double)first * 1e9 / (double)(now_ns() - from));
	/* Until they have ended, which is now. */
	sleep_until_ns(end + BENCH_S / 10);
	result("cpu_ns", (double)(cpu - atomic_load(&own_cpu)) / (double)first);
}

static void run(void)
{
	pthread_t t[64];

	begin = now_ns();
	end = begin + WARM_UP_S * BENCH_S + argument_ns("seconds", 3);
	for (long i = 0; i < threads; i++) {
		int r = pthread_create(&t[i], NULL, schedule_on_time,
				       (void *)(intptr_t)i);

		if (r != 0)
			peer_die("a thread", r);
	}
	measure();
	for (long i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
}

int work_capacity(void)
{
	rate = argument("rate", 1000000);
	threads = (long)argument("threads", 1);
	if (threads < 1 || threads > 64 || rate < 1000)
		peer_die("threads or rate", EINVAL);
	/* Twice as many as are pending, if none is late. */
	timers = timers_new((size_t)rate * 2);
	most_samples =
		(size_t)(rate * argument_ns("seconds", 3) / BENCH_S) / SAMPLED +
		1000;
	records = calloc(timers.n, sizeof(*records));
	late = calloc(most_samples, sizeof(*late));
	if (!records || !late)
		peer_die("memory for records", ENOMEM);
	start_peer((int)threads, (size_t)rate, 0);
	run();
	peer_stop();
	if (samples > most_samples)
		samples = most_samples;
	if (samples > 0)
		result_percentiles("late_", late, samples);
	free(late);
	free(records);
	timers_free(&timers);
	return 0;
}
