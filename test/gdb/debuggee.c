/* SPDX-License-Identifier: MIT */
/*
 * A program to be looked at: five instances, one with a callback that waits and
 * timers of each kind, one with a callback that waits in a thread of an
 * executor's, one with a virtual clock, one with nothing, and one that is never
 * dispatched, whose name has what a terminal would obey.  Prints "ready" when
 * all is so, and waits to be ended.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <timerthread.h>

static void check(int r)
{
	if (r < 0) {
		fprintf(stderr, "it failed: %d\n", r);
		exit(1);
	}
}

/* The functions must not become one. */
static volatile int calls;

static pthread_barrier_t all_wait;

static void wait_for_ever(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&all_wait);
	for (;;)
		pause();
}

/* What the debugger might take for the library's. */
static struct running {
	timerthread_fn *run;
	void *arg;
} task;

static void *run_task(void *arg)
{
	task.run(task.arg);
	return arg;
}

static int submit(void *ctx, timerthread_fn *run, void *arg)
{
	pthread_t thread;

	(void)ctx;
	task = (struct running){run, arg};
	return -pthread_create(&thread, NULL, run_task, NULL);
}

static void tick(void *arg)
{
	calls += arg == &calls;
}

static void expire(void *arg)
{
	calls -= arg == &calls;
}

static struct timerthread *create(const char *name)
{
	struct timerthread *tt = NULL;

	check(timerthread_create(&tt));
	check(timerthread_set_name(tt, name));
	return tt;
}

static void schedule(struct timerthread *tt, int64_t after)
{
	int64_t now = timerthread_now(tt);

	check(timerthread_schedule(tt,
				   after < 0 ? TIMERTHREAD_NEVER : now + after,
				   expire, (void *)0x123, NULL));
}

int main(void)
{
	struct timerthread *busy = create("busy"), *still = create("still");
	struct timerthread *pool = create("pool");
	struct timerthread *polled = create("\033[31m\n\x9b\xc2\x9b\\");
	timerthread_id id;
	int fd;

	pthread_barrier_init(&all_wait, NULL, 3);
	check(timerthread_set_executor(pool, submit, NULL));
	check(timerthread_start(pool, NULL));
	check(timerthread_schedule(pool, 0, wait_for_ever, (void *)0xfed,
				   NULL));
	create("idle");
	check(timerthread_start_virtual(still, 1000));
	schedule(still, 500 * TIMERTHREAD_MSEC);
	check(timerthread_start_polled(polled, &fd));
	check(timerthread_schedule_after(polled, 100 * TIMERTHREAD_SEC, expire,
					 (void *)0x321, NULL));
	check(timerthread_start(busy, NULL));
	schedule(busy, 3600 * TIMERTHREAD_SEC);
	schedule(busy, -1);
	check(timerthread_schedule_every(
		busy, timerthread_now(busy) + 600 * TIMERTHREAD_SEC,
		5 * TIMERTHREAD_SEC, tick, (void *)0x456, NULL));
	check(timerthread_schedule_after(busy, 600 * TIMERTHREAD_SEC, expire,
					 (void *)0x789, &id));
	check(timerthread_cancel(busy, id));
	check(timerthread_schedule_after(busy, 7200 * TIMERTHREAD_SEC, expire,
					 (void *)0xabc, &id));
	check(timerthread_reschedule_after(busy, id, 9000 * TIMERTHREAD_SEC));
	check(timerthread_prepare(busy, expire, (void *)0xbad, &id));
	check(timerthread_schedule(busy, 0, wait_for_ever, (void *)0xdef,
				   NULL));
	pthread_barrier_wait(&all_wait);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
