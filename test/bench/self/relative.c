/* SPDX-License-Identifier: MIT */
/*
 * CPU time of a pair whose timer is scheduled after a time span, beside one
 * whose deadline is given: without slack, which takes a reading of the clock,
 * and with enough of it for the kernel's coarse clock.  And how far that clock
 * is behind the other, at most, while each CPU has two threads to run: it must
 * not be more than what the slack allows for (lib/os/coarse.h).
 */
#include "config.h"

#include "bench.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SLACK (10 * TIMERTHREAD_MSEC)

enum { WINDOW = 1000, MAX_THREADS = 128 };

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

static struct timerthread *start_with_slack(int64_t slack)
{
	struct timerthread *tt;

	check(timerthread_create(&tt), "timerthread_create");
	check(timerthread_set_slack(tt, slack), "timerthread_set_slack");
	check(timerthread_start(tt, NULL), "timerthread_start");
	return tt;
}

static void pairs(const struct bench_options *o)
{
	struct series bare = {.n = 0}, exact = {.n = 0}, coarse = {.n = 0};
	struct series more = {.n = 0};
	long n = o->quick ? 500000 : 2000000;
	struct timerthread *without = start_with_slack(0);
	struct timerthread *with = start_with_slack(SLACK);

	cost(without, true, n / 4);
	cost(with, true, n / 4);
	for (int i = 0; i < o->rounds; i++) {
		double a = cost(with, true, n), c = cost(with, false, n);

		series_add(&bare, a);
		series_add(&coarse, c);
		series_add(&exact, cost(without, false, n));
		series_add(&more, c - a);
	}
	timerthread_destroy(without);
	timerthread_destroy(with);
	print_series("pair, deadline given", &bare, "ns CPU");
	print_series("pair, time span, no slack", &exact, "ns CPU");
	print_series("pair, time span, slack 10 ms", &coarse, "ns CPU");
	print_target("what this takes more than a deadline", &more, "ns", 10);
}

static int64_t read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * BENCH_S + t.tv_nsec;
}

static int64_t watch_until;

static void *watch_coarse(void *ret_most)
{
	int64_t *most = ret_most, exact;

	do {
		int64_t behind;

		exact = read_ns(CLOCK_MONOTONIC);
		behind = exact - read_ns(CLOCK_MONOTONIC_COARSE);
		*most = behind > *most ? behind : *most;
	} while (exact < watch_until);
	return NULL;
}

static void behind(const struct bench_options *o)
{
	long n = 2 * sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread[MAX_THREADS];
	int64_t most[MAX_THREADS] = {0}, all = 0;
	struct timespec tick;

	n = n < MAX_THREADS ? n : MAX_THREADS;
	watch_until = now_ns() + (o->quick ? 2 : 20) * BENCH_S;
	for (long i = 0; i < n; i++)
		check(-pthread_create(&thread[i], NULL, watch_coarse, &most[i]),
		      "pthread_create");
	for (long i = 0; i < n; i++) {
		pthread_join(thread[i], NULL);
		all = most[i] > all ? most[i] : all;
	}
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	print_figure("a tick", (double)tick.tv_nsec / 1e6, "ms",
		     BENCH_NO_TARGET);
	print_figure("the coarse clock is behind, at most",
		     (double)all / (double)tick.tv_nsec, "ticks", 2.5);
}

void bench_relative(const struct bench_options *o)
{
	pairs(o);
	behind(o);
}
