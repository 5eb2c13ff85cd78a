/* SPDX-License-Identifier: MIT */
/*
 * How often the timer thread wakes for requests that all finish in time:
 * 20,000 a second, timeout 100 ms, each cancelled after 1 ms.  The yardstick
 * is one wake-up a timeout, ten a second.
 */
#include "config.h"

#include "bench.h"

#include <errno.h>

enum { A_MS = 20 };

static void ignore(void *arg)
{
	(void)arg;
}

void bench_wakeups(const struct bench_options *o)
{
	timerthread_id id[A_MS] = {0};
	struct timerthread *tt = start_timers();
	int64_t seconds = o->quick ? 5 : 20, start, at;
	long before, failed = 0;
	struct sleeps w;

	watch_sleeps(&w, tt);
	before = sleeps(&w);
	start = now_ns();
	for (at = start; at < start + seconds * BENCH_S; at += BENCH_MS) {
		sleep_until_ns(at);
		for (int i = 0; i < A_MS; i++) {
			if (id[i] && timerthread_cancel(tt, id[i]) != 0)
				failed++;
			check(timerthread_schedule_after(tt, 100 * BENCH_MS,
							 ignore, NULL, &id[i]),
			      "timerthread_schedule_after");
		}
	}
	print_figure("wake-ups of the timer thread",
		     (double)(sleeps(&w) - before) / (double)seconds,
		     "a second", 20);
	print_figure("failed cancels", (double)failed, "", 0);
	timerthread_destroy(tt);
}
