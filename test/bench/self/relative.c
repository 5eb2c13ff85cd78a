/* SPDX-License-Identifier: MIT */
/*
 * CPU time of a pair whose timer is scheduled after a time span, beside one
 * whose deadline is given: the span takes a reading of the clock.
 */
#include "config.h"

#include "bench.h"

#include <errno.h>

enum { WINDOW = 1000 };

static bool given;

static void ignore(void *arg)
{
	(void)arg;
}

static int schedule(struct timerthread *tt, int64_t now, timerthread_id *ret_id)
{
	return given ? timerthread_schedule(tt, now + 2 * BENCH_S, ignore, NULL,
					    ret_id)
		     : timerthread_schedule_after(tt, 2 * BENCH_S, ignore, NULL,
						  ret_id);
}

static void relative_loop(struct timerthread *tt, long n, int window)
{
	timerthread_id ring[WINDOW];
	int at = 0, failures = 0;
	int64_t now = now_ns();

	for (int i = 0; i < window; i++)
		failures += schedule(tt, now, &ring[i]) != 0;
	for (long i = 0; i < n; i++) {
		failures += timerthread_cancel(tt, ring[at]) != 0;
		failures += schedule(tt, now, &ring[at]) != 0;
		if (++at == window) {
			at = 0;
			now = now_ns();
		}
	}
	for (int i = 0; i < window; i++)
		timerthread_cancel(tt, ring[i]);
	check(failures ? -EINVAL : 0, "a call in the measured loop");
}

static double cost(struct timerthread *tt, bool with_deadline, long n)
{
	given = with_deadline;
	return loop_cost(relative_loop, tt, 1, n, WINDOW);
}

void bench_relative(const struct bench_options *o)
{
	struct series bare = {.n = 0}, span = {.n = 0}, more = {.n = 0};
	long n = o->quick ? 500000 : 2000000;
	struct timerthread *tt;

	check(timerthread_create(&tt), "timerthread_create");
	check(timerthread_start(tt, NULL), "timerthread_start");
	cost(tt, true, n / 4);
	for (int i = 0; i < o->rounds; i++) {
		double a = cost(tt, true, n), b = cost(tt, false, n);

		series_add(&bare, a);
		series_add(&span, b);
		series_add(&more, b - a);
	}
	timerthread_destroy(tt);
	print_series("pair, deadline given", &bare, "ns CPU");
	print_series("pair, time span", &span, "ns CPU");
	print_series("what this takes more than a deadline", &more, "ns CPU");
}
