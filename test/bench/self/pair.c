/* SPDX-License-Identifier: MIT */
/*
 * CPU time of one schedule and one cancel, with what the timer thread spends
 * meanwhile, less the same loop with only its clock read.  The yardstick is
 * an uncontended atomic read-modify-write.
 */
#include "config.h"

#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_WINDOW = 1000 };

static void ignore(void *arg)
{
	(void)arg;
}

void pair_loop(struct timerthread *tt, long n, int window)
{
	timerthread_id ring[MAX_WINDOW];
	int at = 0, failures = 0;

	for (int i = 0; i < window; i++)
		check(timerthread_schedule(tt, now_ns() + BENCH_S, ignore, NULL,
					   &ring[i]),
		      "timerthread_schedule");
	for (long i = 0; i < n; i++) {
		failures += timerthread_cancel(tt, ring[at]) != 0;
		failures += timerthread_schedule(tt, now_ns() + BENCH_S, ignore,
						 NULL, &ring[at]) != 0;
		if (++at == window)
			at = 0;
	}
	for (int i = 0; i < window; i++)
		timerthread_cancel(tt, ring[i]);
	check(failures ? -EINVAL : 0, "a call in the measured loop");
}

static void pairs_with_window(const struct bench_options *o, int window)
{
	struct series rmw = {.n = 0}, one = {.n = 0}, two = {.n = 0};
	struct series in_rmw = {.n = 0}, second = {.n = 0};
	long n = o->quick ? 500000 : 2000000;
	struct timerthread *tt = start_timers();

	loop_cost(pair_loop, tt, 2, n / 4, window);
	for (int i = 0; i < o->rounds; i++) {
		double unit = read_modify_write(n);
		double a = net_cost(pair_loop, tt, 1, n, window);
		double b = net_cost(pair_loop, tt, 2, n, window);

		series_add(&rmw, unit);
		series_add(&one, a);
		series_add(&two, b);
		series_add(&in_rmw, a / unit);
		series_add(&second, b / a);
	}
	timerthread_destroy(tt);
	printf(" %d in flight a thread\n", window);
	print_series("atomic read-modify-write", &rmw, "ns");
	print_series("pair, one thread, net", &one, "ns CPU");
	print_series("pair, two threads on two CPUs, net", &two, "ns CPU");
	print_target("one thread's pair / read-modify-write", &in_rmw, "x", 7);
	print_target("two threads' pair / one thread's", &second, "x", 1.2);
}

void bench_pair(const struct bench_options *o)
{
	pairs_with_window(o, 1);
	pairs_with_window(o, MAX_WINDOW);
}
