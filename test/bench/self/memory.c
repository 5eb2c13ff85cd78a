/* SPDX-License-Identifier: MIT */
/*
 * How the resident memory grows while nearly all timers are cancelled.  The
 * yardstick is the size of what is live: 64 bytes a slot, 16 an entry.  Each
 * case runs in a process of its own, so that none finds memory that another
 * has left.
 */
#include "config.h"

#include "bench.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_WINDOW = 50000 };

static struct memory_case {
	const char *name;
	int threads;
	unsigned long window; /* in flight a thread */
	unsigned long rate;   /* a second; 0: as fast as it goes */
	int64_t timeout;
	bool ticks; /* nearer timers run meanwhile, twice a second */
} cases[] = {
	{"two threads at full speed, 1,000 in flight each, timeout 1 s", 2,
	 1000, 0, BENCH_S, false},
	{"500,000 a second, 1,000 in flight, timeout 60 s", 1, 1000, 500000,
	 60 * BENCH_S, false},
	{"300,000 a second, 50,000 in flight, timeout 60 s, ticks", 1, 50000,
	 300000, 60 * BENCH_S, true},
};

static const struct memory_case *now_run;
static struct timerthread *tt;
static _Atomic bool stop;
static _Atomic unsigned long pairs, failed;

static void ignore(void *arg)
{
	(void)arg;
}

static void tick(void *arg)
{
	timerthread_schedule_after(tt, BENCH_S / 2, tick, arg, NULL);
}

static void wait_for_turn(int64_t start, unsigned long turn)
{
	int64_t rate = (int64_t)now_run->rate;
	int64_t at = start + (int64_t)turn * BENCH_S / rate;
	struct timespec t = {at / BENCH_S, at % BENCH_S};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void *worker(void *arg)
{
	const struct memory_case *c = now_run;
	timerthread_id *ring = calloc(MAX_WINDOW, sizeof(*ring));
	int64_t start = now_ns();
	unsigned long turn = 0;

	check(ring ? 0 : -ENOMEM, "calloc");
	pin(*(int *)arg);
	for (; !atomic_load_explicit(&stop, memory_order_relaxed); turn++) {
		timerthread_id *id = &ring[turn % c->window];

		if (c->rate && turn % 500 == 0)
			wait_for_turn(start, turn);
		if (turn >= c->window && timerthread_cancel(tt, *id) != 0)
			atomic_fetch_add(&failed, 1);
		check(timerthread_schedule(tt, now_ns() + c->timeout, ignore,
					   NULL, id),
		      "timerthread_schedule");
	}
	atomic_fetch_add(&pairs, turn);
	free(ring);
	return NULL;
}

static void nap(int64_t ns)
{
	struct timespec t = {ns / BENCH_S, ns % BENCH_S};

	nanosleep(&t, NULL);
}

static void print_result(long start, long first, long most, int64_t seconds)
{
	unsigned long live = (unsigned long)now_run->threads * now_run->window;

	printf(" %s\n", now_run->name);
	printf("  %.1f million pairs in %d s, live timers' own %.2f MiB\n",
	       (double)pairs / 1e6, (int)seconds, (double)live * 80 / 1048576);
	print_figure("growth since before the start",
		     (double)(most - start) / 1048576, "MiB", BENCH_NO_TARGET);
	print_figure("growth after 0.5 s", (double)(most - first) / 1048576,
		     "MiB", 1);
	if (failed > 0)
		print_figure("failed cancels", (double)failed, "", 0);
	fflush(stdout);
}

static void measure(int64_t seconds)
{
	long start = resident_bytes(), first, most;
	int cpu[2] = {0, 1};
	pthread_t t[2];

	tt = start_timers();
	if (now_run->ticks)
		tick(NULL);
	for (int i = 0; i < now_run->threads; i++)
		check(-pthread_create(&t[i], NULL, worker, &cpu[i]),
		      "pthread_create");
	nap(BENCH_S / 2);
	first = most = resident_bytes();
	for (int64_t i = 0; i < 10 * seconds - 5; i++) {
		long now;

		nap(BENCH_S / 10);
		now = resident_bytes();
		most = now > most ? now : most;
	}
	atomic_store(&stop, true);
	for (int i = 0; i < now_run->threads; i++)
		pthread_join(t[i], NULL);
	timerthread_destroy(tt);
	print_result(start, first, most, seconds);
}

void bench_memory(const struct bench_options *o)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pid_t child;

		fflush(stdout);
		child = fork();
		if (child == 0) {
			now_run = &cases[i];
			measure(o->quick ? 2 : 10);
			_exit(0);
		}
		check(child < 0 ? -errno : 0, "fork");
		waitpid(child, NULL, 0);
	}
}
