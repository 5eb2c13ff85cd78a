/* SPDX-License-Identifier: MIT */
/*
 * under-a-lock: an object that is freed when its timer is cancelled.
 *
 *     cc under-a-lock.c -o under-a-lock \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 *
 * Before: callbacks ran under the program's lock, or the cancel waited for
 * them.  So no callback was running when the cancel had returned.
 *
 * Now: callbacks run under no lock, so the callback takes the lock itself.
 * timerthread_cancel does not wait: after a result of 1 the callback still uses
 * the object.  timerthread_cancel_wait waits.  Release the lock before the
 * call, because the callback takes it.
 */
#include "porting.h"
#include <pthread.h>
#include <timerthread.h>

#define HOUR (3600 * TIMERTHREAD_SEC)

struct object {
	timerthread_id timer;
	int runs;
	sem_t begun;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *found; /* guarded by the lock; NULL: there is none */

static void expired(void *arg)
{
	struct object *o = arg;

	sem_post(&o->begun);
	pthread_mutex_lock(&lock);
	o->runs++;
	pthread_mutex_unlock(&lock);
}

static void begin_object(struct timerthread *tt, struct object *o)
{
	sem_init(&o->begun, 0, 0);
	o->runs = 0;
	expect(timerthread_schedule_every(tt, timerthread_now(tt), HOUR,
					  expired, o, &o->timer) == 0,
	       "there is a timer");
	found = o;
}

/* Called with the lock held; releases it. */
static void end_object(struct timerthread *tt)
{
	struct object *o = found;

	found = NULL; /* no other thread ends this object */
	pthread_mutex_unlock(&lock);
	timerthread_cancel_wait(tt, o->timer);
	/* Its callback is not running, and will not run. */
	expect(o->runs == 1, "the callback has returned");
	sem_destroy(&o->begun);
	free(o);
}

int main(void)
{
	struct object *o = malloc(sizeof(*o));
	struct timerthread *tt = NULL;

	expect(o && timerthread_create(&tt) == 0 &&
		       timerthread_start(tt, NULL) == 0,
	       "there is an instance");
	pthread_mutex_lock(&lock);
	begin_object(tt, o);
	await(&o->begun); /* the callback now waits for the lock */
	end_object(tt);
	timerthread_destroy(tt);
	puts("freed when its callback had returned");
	return 0;
}
