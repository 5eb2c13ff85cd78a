/* SPDX-License-Identifier: MIT */
/*
 * CPU time of one schedule and one cancel, with what the timer thread spends
 * meanwhile, less the same loop with only its clock read.  The yardstick is
 * an uncontended atomic read-modify-write.
 */
#include "config.h"

#include "bench.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_WINDOW = 1000 };

struct run {
	struct timerthread *tt; /* NULL: only the clock */
	long pairs;
	int window;
	int cpu;
};

static pthread_barrier_t barrier;

static void ignore(void *arg)
{
	(void)arg;
}

static double read_modify_write(long n)
{
	static _Atomic unsigned word;
	int64_t start = process_cpu_ns();

	for (long i = 0; i < n; i++)
		atomic_fetch_add(&word, 1);
	return (double)(process_cpu_ns() - start) / (double)n;
}

static void clock_loop(long n)
{
	volatile int64_t deadline;

	for (long i = 0; i < n; i++)
		deadline = now_ns() + BENCH_S;
	(void)deadline;
}

static void pair_loop(struct timerthread *tt, long n, int window)
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

static void *runner(void *arg)
{
	struct run *r = arg;

	pin(r->cpu);
	pthread_barrier_wait(&barrier);
	if (r->tt)
		pair_loop(r->tt, r->pairs, r->window);
	else
		clock_loop(r->pairs);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* CPU nanoseconds a turn of the loop on so many threads. */
static double measure(struct timerthread *tt, int threads, long n, int window)
{
	struct run r[2];
	pthread_t t[2];
	int64_t start;

	pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
	for (int i = 0; i < threads; i++) {
		r[i] = (struct run){tt, n, window, i};
		check(-pthread_create(&t[i], NULL, runner, &r[i]),
		      "pthread_create");
	}
	pthread_barrier_wait(&barrier);
	start = process_cpu_ns();
	pthread_barrier_wait(&barrier);
	start = process_cpu_ns() - start;
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	pthread_barrier_destroy(&barrier);
	return (double)start / (double)n / threads;
}

static void pairs_with_window(const struct bench_options *o, int window)
{
	struct series rmw = {.n = 0}, one = {.n = 0}, two = {.n = 0};
	struct series in_rmw = {.n = 0}, second = {.n = 0};
	long n = o->quick ? 500000 : 2000000;
	struct timerthread *tt = start_timers();

	measure(tt, 2, n / 4, window);
	for (int i = 0; i < o->rounds; i++) {
		double unit = read_modify_write(n);
		double a =
			measure(tt, 1, n, window) - measure(NULL, 1, n, window);
		double b =
			measure(tt, 2, n, window) - measure(NULL, 2, n, window);

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
