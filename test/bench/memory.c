/* SPDX-License-Identifier: MIT */
/*
 * How the resident memory grows after the first half second while nearly all
 * timers are cancelled, 1,000 in flight a thread.  The yardstick is the size
 * of what is live.
 */
#include "config.h"

#include "bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { WINDOW = 1000 };

static struct timerthread *tt;
static int64_t timeout;
static long rate; /* a second; 0: as fast as it goes */
static _Atomic bool stop;
static _Atomic unsigned long pairs;

static void ignore(void *arg)
{
	(void)arg;
}

static void wait_for_turn(int64_t start, unsigned long turn)
{
	int64_t at = start + (int64_t)turn * BENCH_S / rate;
	struct timespec t = {at / BENCH_S, at % BENCH_S};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void *worker(void *arg)
{
	static _Thread_local timerthread_id ring[WINDOW];
	int64_t start = now_ns();
	unsigned long turn = 0;

	pin(*(int *)arg);
	for (; !atomic_load_explicit(&stop, memory_order_relaxed); turn++) {
		timerthread_id *id = &ring[turn % WINDOW];

		if (rate && turn % 500 == 0)
			wait_for_turn(start, turn);
		if (turn >= WINDOW)
			timerthread_cancel(tt, *id);
		check(timerthread_schedule(tt, now_ns() + timeout, ignore, NULL,
					   id),
		      "timerthread_schedule");
	}
	atomic_fetch_add(&pairs, turn);
	return NULL;
}

static void nap(int64_t ns)
{
	struct timespec t = {ns / BENCH_S, ns % BENCH_S};

	nanosleep(&t, NULL);
}

static void measure(const char *name, int threads, int64_t seconds)
{
	int cpu[2] = {0, 1};
	pthread_t t[2];
	long first, most = 0;

	tt = start_timers();
	stop = false;
	pairs = 0;
	for (int i = 0; i < threads; i++)
		check(-pthread_create(&t[i], NULL, worker, &cpu[i]),
		      "pthread_create");
	nap(BENCH_S / 2);
	first = resident_bytes();
	for (int64_t i = 0; i < 10 * seconds - 5; i++) {
		long now;

		nap(BENCH_S / 10);
		now = resident_bytes();
		most = now > most ? now : most;
	}
	atomic_store(&stop, true);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	timerthread_destroy(tt);
	printf(" %s: %.1f million pairs in %d s, live timers' own %d KiB\n",
	       name, (double)pairs / 1e6, (int)seconds,
	       threads * WINDOW * 80 / 1024);
	print_figure("growth after 0.5 s", (double)(most - first) / 1048576,
		     "MiB", 1);
}

void bench_memory(const struct bench_options *o)
{
	int64_t seconds = o->quick ? 2 : 10;

	rate = 0;
	timeout = BENCH_S;
	measure("two threads at full speed, timeout 1 s", 2, seconds);
	rate = 500000;
	timeout = 60 * BENCH_S;
	measure("500,000 a second, timeout 60 s", 1, seconds);
}
