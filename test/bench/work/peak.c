/* SPDX-License-Identifier: MIT */
/*
 * A peak: many timers, an hour ahead and more, which are all cancelled.  Then
 * nothing happens.  What memory does the process have at the peak, just after
 * it, and some seconds later?
 */
#include "config.h"

#include "work.h"

static struct timers timers;
static long before;

static void result_memory(const char *key)
{
	result(key, (double)(resident_bytes() - before));
}

int work_peak(void)
{
	uint64_t rng = 88172645463325252u;
	int64_t seconds, failed = 0;

	timers = timers_new((size_t)argument("count", 1000000));
	seconds = argument_ns("seconds", 12);
	start_peer(1, timers.n, 0);
	peer_enter();
	before = resident_bytes();
	for (size_t i = 0; i < timers.n; i++)
		must_schedule(timer_at(&timers, i), now_ns(),
			      3600 * BENCH_S +
				      (int64_t)(next_random(&rng) %
						(3600 * (uint64_t)BENCH_S)),
			      ignore, NULL);
	result_memory("peak");
	for (size_t i = 0; i < timers.n; i++)
		failed += peer_cancel(timer_at(&timers, i)) != 1;
	result_memory("after");
	sleep_until_ns(now_ns() + seconds);
	result_memory("left");
	result("failed", (double)failed);
	peer_leave();
	peer_stop();
	timers_free(&timers);
	return 0;
}
