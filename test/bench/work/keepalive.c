/* SPDX-License-Identifier: MIT */
/*
 * Connections with an idle timeout of a minute: now this one, now that one has
 * a packet, and its timer is moved to a minute from now.
 */
#include "config.h"

#include "work.h"

static struct timers timers;
static int threads;
static _Atomic long failures;

static void begin(int i)
{
	for (size_t k = (size_t)i; k < timers.n; k += (size_t)threads)
		must_schedule(timer_at(&timers, k), now_ns(), 60 * BENCH_S,
			      ignore, NULL);
}

/* Each thread has its own connections. */
static long turn(int i)
{
	uint64_t rng = 88172645463325252u + (uint64_t)i;
	const size_t mine = timers.n / (size_t)threads;
	long n = 0, failed = 0;

	for (; !team_over(); n++) {
		size_t k =
			next_random(&rng) % mine * (size_t)threads + (size_t)i;

		failed += peer_reschedule(timer_at(&timers, k), now_ns(),
					  60 * BENCH_S) != 0;
	}
	failures += failed;
	return n;
}

static void end(int i)
{
	for (size_t k = (size_t)i; k < timers.n; k += (size_t)threads)
		peer_cancel(timer_at(&timers, k));
}

int work_keepalive(void)
{
	size_t n = (size_t)argument("count", 100000);
	struct team team = {.begin = begin, .turn = turn, .end = end};

	team.threads = threads = (int)argument("threads", 1);
	team.ns = argument_ns("seconds", 0.5);
	timers = timers_new(n);
	start_peer(threads, n, 60 * BENCH_S);
	return team_work(&team, &timers, &failures);
}
