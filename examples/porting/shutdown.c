/* SPDX-License-Identifier: MIT */
/*
 * shutdown: a stack that is large enough, and a shutdown that gives up.
 *
 *     cc shutdown.c -o shutdown \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 *
 * Before: the program chose the stack of its timer thread; and at the end it
 * waited for the thread, but not for ever.
 *
 * Now: timerthread_start takes the attributes of the thread.  Choose the size
 * of the stack if callbacks need much, for the default depends on the C library
 * and on limits.  timerthread_stop_until waits for the callbacks until a
 * deadline.  Then no other callback begins, and timers can be taken back.
 * timerthread_destroy would wait: a program that exits leaves it out.
 */
#include "porting.h"
#include <errno.h>
#include <pthread.h>
#include <timerthread.h>

#define HOUR (3600 * TIMERTHREAD_SEC)

enum { STACK = 4 << 20, BUFFER = 1 << 20 };

static sem_t begun, go_on;

/* A callback that hangs. */
static void expired(void *arg)
{
	volatile char buffer[BUFFER];

	for (int i = 0; i < BUFFER; i += 1024)
		buffer[i] = 1;
	*(int *)arg = buffer[0];
	sem_post(&begun);
	await(&go_on);
}

static void never(void *arg)
{
	(void)arg;
	expect(0, "this timer never runs");
}

static void count(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	(void)id;
	(void)arg;
	expect(fn == never, "it has not begun");
	++*(int *)ctx;
}

static struct timerthread *start(size_t stack)
{
	struct timerthread *tt = NULL;
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	expect(pthread_attr_setstacksize(&attr, stack) == 0 &&
		       timerthread_create(&tt) == 0 &&
		       timerthread_start(tt, &attr) == 0,
	       "there is an instance");
	pthread_attr_destroy(&attr);
	return tt;
}

static void give_up(struct timerthread *tt)
{
	int taken = 0;

	expect(timerthread_stop_until(tt,
				      timerthread_now(tt) + TIMERTHREAD_MSEC) ==
		       -ETIMEDOUT,
	       "a callback still runs");
	expect(timerthread_schedule_after(tt, 0, never, NULL, NULL) ==
		       -ESHUTDOWN,
	       "the instance is stopped");
	expect(timerthread_cancel_all(tt, count, &taken) == 1 && taken == 1,
	       "a timer is taken back");
}

int main(void)
{
	struct timerthread *tt = start(STACK);
	int written = 0;

	sem_init(&begun, 0, 0);
	sem_init(&go_on, 0, 0);
	expect(timerthread_schedule_after(tt, 0, expired, &written, NULL) ==
			       0 &&
		       timerthread_schedule_after(tt, HOUR, never, NULL,
						  NULL) == 0,
	       "timers are scheduled");
	await(&begun);
	give_up(tt);
	sem_post(&go_on); /* here the callback returns after all */
	expect(timerthread_stop(tt) == 0 && written == 1, "it has returned");
	timerthread_destroy(tt);
	puts("gave up, and went on");
	return 0;
}
