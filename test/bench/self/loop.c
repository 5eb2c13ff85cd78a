/* SPDX-License-Identifier: MIT */
/*
 * What a turn of a loop costs in CPU time, on one thread or on two that start
 * together, with what the timer thread spends meanwhile.
 */
#include "config.h"

#include "bench.h"

#include <pthread.h>
#include <stdatomic.h>

struct run {
	bench_loop *loop;
	struct timerthread *tt;
	long turns;
	int window;
	int cpu;
};

static pthread_barrier_t barrier;

double read_modify_write(long n)
{
	static _Atomic unsigned word;
	int64_t start = process_cpu_ns();

	for (long i = 0; i < n; i++)
		atomic_fetch_add(&word, 1);
	return (double)(process_cpu_ns() - start) / (double)n;
}

static void clock_loop(struct timerthread *tt, long n, int window)
{
	volatile int64_t deadline;

	(void)tt;
	(void)window;
	for (long i = 0; i < n; i++)
		deadline = now_ns() + BENCH_S;
	(void)deadline;
}

static void *runner(void *arg)
{
	struct run *r = arg;

	pin(r->cpu);
	pthread_barrier_wait(&barrier);
	r->loop(r->tt, r->turns, r->window);
	pthread_barrier_wait(&barrier);
	return NULL;
}

double loop_cost(bench_loop *loop, struct timerthread *tt, int threads, long n,
		 int window)
{
	struct run r[2];
	pthread_t t[2];
	int64_t start;

	pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
	for (int i = 0; i < threads; i++) {
		r[i] = (struct run){loop, tt, n, window, i};
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

double net_cost(bench_loop *loop, struct timerthread *tt, int threads, long n,
		int window)
{
	return loop_cost(loop, tt, threads, n, window) -
	       loop_cost(clock_loop, NULL, threads, n, window);
}
