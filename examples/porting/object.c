/* SPDX-License-Identifier: MIT */
/*
 * object: a timer that is made once, and that any thread arms and disarms.
 *
 *     cc object.c -o object $(pkg-config --cflags --libs timerthread) -pthread
 *
 * Before: a timer object with start, stop and "is it active?".
 *
 * Now: timerthread_prepare makes the timer with its object, and
 * timerthread_cancel_wait ends it.  In between, any thread calls
 * timerthread_reschedule_after to start it (also if it is running) and
 * timerthread_disarm to stop it.  timerthread_get_deadline tells whether it is
 * pending.
 */
#include "porting.h"
#include <errno.h>
#include <pthread.h>
#include <timerthread.h>

#define HOUR (3600 * TIMERTHREAD_SEC)

enum { THREADS = 2, TIMES = 1000 };

struct object {
	struct timerthread *tt;
	timerthread_id timer;
	sem_t expired;
};

static void expired(void *arg)
{
	struct object *o = arg;

	sem_post(&o->expired);
}

static int start(struct object *o, int64_t delay)
{
	return timerthread_reschedule_after(o->tt, o->timer, delay);
}

static int is_pending(struct object *o)
{
	int64_t deadline;

	return timerthread_get_deadline(o->tt, o->timer, &deadline) == 0;
}

static void *start_often(void *arg)
{
	for (int i = 0; i < TIMES; i++)
		expect(start(arg, HOUR) == 0, "any thread starts it");
	return NULL;
}

static void start_on_threads(struct object *o)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		expect(pthread_create(&threads[i], NULL, start_often, o) == 0,
		       "there is a thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void use(struct object *o)
{
	expect(!is_pending(o), "it is not pending at first");
	start_on_threads(o);
	expect(is_pending(o), "it is pending");
	expect(timerthread_disarm(o->tt, o->timer) == 0, "it was stopped");
	expect(!is_pending(o), "then it is not pending");
	for (int i = 0; i < 3; i++) {
		/* The last run may not have returned: it runs again. */
		expect(start(o, TIMERTHREAD_MSEC) == 0, "it starts again");
		await(&o->expired);
	}
	timerthread_disarm_wait(o->tt, o->timer);
	expect(timerthread_disarm(o->tt, o->timer) == -ENOENT,
	       "there is nothing to stop");
}

int main(void)
{
	struct object o;

	sem_init(&o.expired, 0, 0);
	expect(timerthread_create(&o.tt) == 0 &&
		       timerthread_start(o.tt, NULL) == 0 &&
		       timerthread_prepare(o.tt, expired, &o, &o.timer) == 0,
	       "there is a timer");
	use(&o);
	expect(timerthread_cancel_wait(o.tt, o.timer) == 0, "it is over");
	timerthread_destroy(o.tt);
	sem_destroy(&o.expired);
	puts("one timer, three runs");
	return 0;
}
