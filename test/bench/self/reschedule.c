/* SPDX-License-Identifier: MIT */
/*
 * Connections with an idle timer each, which every packet moves to a later
 * time: by timerthread_reschedule, and beside it by cancel and schedule.  Net
 * of the loop's clock read, with what the timer thread spends meanwhile.
 */
#include "config.h"

#include "bench.h"

#include <errno.h>
#include <stdio.h>

enum { CONNECTIONS = 1000 };

static void ignore(void *arg)
{
	(void)arg;
}

static int64_t later(void)
{
	return now_ns() + BENCH_S;
}

static void arm(struct timerthread *tt, timerthread_id *id)
{
	check(timerthread_schedule(tt, later(), ignore, NULL, id),
	      "timerthread_schedule");
}

static void moving_loop(struct timerthread *tt, long n, int window)
{
	timerthread_id id[CONNECTIONS];
	int at = 0, failures = 0;

	for (int i = 0; i < window; i++)
		arm(tt, &id[i]);
	for (long i = 0; i < n; i++) {
		failures += timerthread_reschedule(tt, id[at], later()) != 0;
		if (++at == window)
			at = 0;
	}
	for (int i = 0; i < window; i++)
		timerthread_cancel(tt, id[i]);
	check(failures ? -EINVAL : 0, "timerthread_reschedule");
}

static void on_threads(const struct bench_options *o, int threads)
{
	struct series moving = {.n = 0}, again = {.n = 0}, ratio = {.n = 0};
	struct timerthread *tt = start_timers();
	long n = o->quick ? 500000 : 2000000;

	for (int i = 0; i < o->rounds; i++) {
		double a = net_cost(moving_loop, tt, threads, n, CONNECTIONS);
		double b = net_cost(pair_loop, tt, threads, n, CONNECTIONS);

		series_add(&moving, a);
		series_add(&again, b);
		series_add(&ratio, a / b);
	}
	timerthread_destroy(tt);
	printf(" %d timers a thread, threads: %d\n", CONNECTIONS, threads);
	print_series("reschedule to a later time", &moving, "ns CPU");
	print_series("cancel + schedule", &again, "ns CPU");
	print_target("reschedule / cancel + schedule", &ratio, "x", 1);
}

void bench_reschedule(const struct bench_options *o)
{
	on_threads(o, 1);
	on_threads(o, 2);
}
