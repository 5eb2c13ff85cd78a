/* SPDX-License-Identifier: MIT */
/*
 * thread-pool: callbacks that take long, on a pool of threads.
 *
 *     cc thread-pool.c pool.c -o thread-pool \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 *
 * The timer thread does not run the timers that expire but submits them to
 * pool.c, a small pool with a bounded queue.  So a slow callback keeps one of
 * the pool's threads busy, and no other timer waits for it.  When the queue is
 * full the pool refuses, and the callback runs on the timer thread: slower, but
 * no timer is lost, and the timer thread, which submits too many, is delayed.
 *
 * A timer in the queue is pending as before: it can be cancelled until its
 * callback begins.
 *
 * The order in which to end:
 *
 *  1. timerthread_stop: from then on nothing is submitted, and no callback
 *     begins.  What is in the queue is still called, and does nothing.
 *  2. Let the pool call all that it accepted, and join its threads.  It must
 *     call every one: the instance's memory is not freed before the last.
 *  3. timerthread_cancel_all, if anybody needs to know which timers did not
 *     run, and timerthread_destroy.
 *
 * Nothing here depends on how quick the machine is: slow callbacks are those
 * that wait for a gate, which opens when the others have been seen to run.
 */
#include "pool.h"
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timerthread.h>
#include <unistd.h>

enum {
	QUICK = 100,
	EXTRA = 5, /* more than the queue has room for */
	CROWD = POOL_QUEUE + EXTRA,
	BEATS = 10,
	PATIENCE_S = 60
};

/* A timer, and what became of it. */
struct job {
	timerthread_id id;
	atomic_int runs;
	bool in_pool; /* where it ran */
};

static struct timerthread *tt;
static struct pool pool;

static sem_t entered;  /* a slow callback has begun */
static sem_t gate;     /* one may go on */
static sem_t exit_now; /* so may the one that stops it all */
static sem_t finished; /* a quick one is done */

static struct job slow[POOL_THREADS], quick[QUICK], crowd[CROWD];
static struct job last_slow[POOL_THREADS], last_crowd[CROWD], far;
static atomic_int failures;

static void check(const char *what, int ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "thread-pool: %s: %s\n", what, strerror(-ret));
	exit(EXIT_FAILURE);
}

static void expect(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "thread-pool: not so: %s\n", what);
	failures++;
}

static void await(sem_t *sem, int n)
{
	while (n > 0)
		/* Else a signal handler ran. */
		if (sem_wait(sem) == 0 || errno != EINTR)
			n--;
}

/* The callbacks. */

static void job_ran(struct job *j)
{
	j->in_pool = pool_inside();
	atomic_fetch_add(&j->runs, 1);
}

static void run_quick(void *arg)
{
	job_ran(arg);
	sem_post(&finished);
}

static void run_slow(void *arg)
{
	sem_post(&entered);
	await(&gate, 1);
	job_ran(arg);
}

/* A callback may stop its own instance; that does not wait for itself. */
static void run_stop(void *arg)
{
	sem_post(&entered);
	await(&exit_now, 1);
	expect(timerthread_stop(tt) == 1, "stop knows its own callback");
	for (int i = 0; i < POOL_THREADS - 1; i++)
		sem_post(&gate);
	job_ran(arg);
}

static atomic_int beating;
static int beats; /* no lock: its runs follow each other */

/* Runs every millisecond, on one thread or another, but never on two. */
static void beat(void *arg)
{
	(void)arg;
	if (atomic_fetch_add(&beating, 1) != 0)
		abort();
	if (++beats == BEATS)
		sem_post(&finished);
	atomic_fetch_sub(&beating, 1);
}

/* What is shown. */

static void schedule(struct job *j, timerthread_fn *fn, int64_t delay)
{
	check("timerthread_schedule_after",
	      timerthread_schedule_after(tt, delay, fn, j, &j->id));
}

static int count_runs(struct job *jobs, int n)
{
	int runs = 0;

	for (int i = 0; i < n; i++) {
		int r = atomic_load(&jobs[i].runs);

		expect(r <= 1, "a timer runs once");
		runs += r;
	}
	return runs;
}

static int count_in_pool(const struct job *jobs, int n)
{
	int in_pool = 0;

	for (int i = 0; i < n; i++)
		in_pool += jobs[i].in_pool;
	return in_pool;
}

/* All threads but one are kept busy, and everything else goes on. */
static void slow_ones_delay_nobody(void)
{
	timerthread_id heart;

	for (int i = 0; i < POOL_THREADS - 1; i++)
		schedule(&slow[i], run_slow, 0);
	await(&entered, POOL_THREADS - 1);
	check("timerthread_schedule_every",
	      timerthread_schedule_every(tt, timerthread_now(tt),
					 TIMERTHREAD_MSEC, beat, NULL, &heart));
	for (int i = 0; i < QUICK; i++)
		schedule(&quick[i], run_quick, i * 100 * TIMERTHREAD_USEC);
	await(&finished, QUICK + 1);
	check("timerthread_cancel_wait", timerthread_cancel_wait(tt, heart));
	expect(count_runs(slow, POOL_THREADS) == 0, "the slow ones still run");
	expect(count_runs(quick, QUICK) == QUICK, "the quick ones have run");
	printf("%d slow callbacks run; meanwhile:\n", POOL_THREADS - 1);
	printf("  quick ones                   %6d\n", QUICK);
	printf("  of these in the pool         %6d\n",
	       count_in_pool(quick, QUICK));
	printf("  beats                        %6d\n", beats);
}

/* A timer that waits in the queue. */
static struct job *find_queued(void)
{
	for (int i = 0; i < CROWD; i++)
		if (atomic_load(&crowd[i].runs) == 0)
			return &crowd[i];
	return NULL;
}

/*
 * All threads are busy, so that the queue fills up.  What finds no room runs on
 * the timer thread, without waiting for any of the slow ones.
 */
static void fill_queue(struct job *jobs)
{
	for (int i = 0; i < CROWD; i++)
		schedule(&jobs[i], run_quick, 0);
	await(&finished, EXTRA);
	expect(count_runs(jobs, CROWD) == EXTRA, "the others are in the queue");
	expect(count_in_pool(jobs, CROWD) == 0,
	       "what was refused ran on the timer thread");
}

static void full_queue_refuses(void)
{
	struct job *queued;

	schedule(&slow[POOL_THREADS - 1], run_slow, 0);
	await(&entered, 1);
	fill_queue(crowd);
	queued = find_queued();
	expect(queued && timerthread_cancel(tt, queued->id) == 0,
	       "a timer in the queue can be cancelled");
	for (int i = 0; i < POOL_THREADS; i++)
		sem_post(&gate);
	await(&finished, POOL_QUEUE - 1);
	expect(!queued || atomic_load(&queued->runs) == 0,
	       "what was cancelled has not run");
	printf("all threads are busy:\n");
	printf("  refused, on the timer thread %6d\n", EXTRA);
	printf("  cancelled in the queue       %6d\n", 1);
	printf("  run when there was a thread  %6d\n",
	       count_in_pool(crowd, CROWD));
}

static void never_ran(timerthread_id id, timerthread_fn *fn, void *arg,
		      void *ctx)
{
	const struct job *j = arg;
	int *n = ctx;

	expect(j->id == id && fn == run_quick && atomic_load(&j->runs) == 0,
	       "what is taken back has not run");
	++*n;
}

/* One of the slow callbacks stops it all, while the queue is full. */
static void shut_down(void)
{
	int left = 0;

	for (int i = 0; i < POOL_THREADS - 1; i++)
		schedule(&last_slow[i], run_slow, 0);
	schedule(&last_slow[POOL_THREADS - 1], run_stop, 0);
	await(&entered, POOL_THREADS);
	fill_queue(last_crowd);
	schedule(&far, run_quick, 3600 * TIMERTHREAD_SEC);
	sem_post(&exit_now);

	/* Was it first or is this?  Here it returns when no callback runs. */
	check("timerthread_stop", timerthread_stop(tt));
	expect(count_runs(last_slow, POOL_THREADS) == POOL_THREADS,
	       "what had begun has ended");
	pool_finish(&pool);
	check("timerthread_cancel_all",
	      timerthread_cancel_all(tt, never_ran, &left));
	timerthread_destroy(tt);

	expect(count_runs(last_crowd, CROWD) == EXTRA,
	       "what was in the queue never ran");
	expect(left == POOL_QUEUE + 1, "it is taken back, and the far one");
	expect(pool.called == pool.accepted, "what is accepted is called");
	printf("at the end:\n");
	printf("  timers that never ran        %6d\n", left);
	printf("the pool:\n");
	printf("  accepted                     %6lu\n", pool.accepted);
	printf("  called                       %6lu\n", pool.called);
	printf("  refused                      %6lu\n", pool.refused);
}

static void start(void)
{
	sem_init(&entered, 0, 0);
	sem_init(&gate, 0, 0);
	sem_init(&exit_now, 0, 0);
	sem_init(&finished, 0, 0);
	check("pool_start", pool_start(&pool));
	check("timerthread_create", timerthread_create(&tt));
	check("timerthread_set_executor",
	      timerthread_set_executor(tt, pool_submit, &pool));
	check("timerthread_start", timerthread_start(tt, NULL));
}

int main(void)
{
	alarm(PATIENCE_S); /* if something that is awaited never comes */
	start();
	slow_ones_delay_nobody();
	full_queue_refuses();
	shut_down();
	expect(count_runs(slow, POOL_THREADS) == POOL_THREADS &&
		       count_in_pool(slow, POOL_THREADS) == POOL_THREADS,
	       "the slow ones ran in the pool");
	return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
