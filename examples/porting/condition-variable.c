/* SPDX-License-Identifier: MIT */
/*
 * condition-variable: a loop that waits for jobs and for timers.
 *
 *     cc condition-variable.c -o condition-variable \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 *
 * Before: a thread slept in pthread_cond_timedwait until the first timer was
 * due, or a job came.
 *
 * Now: it sleeps there as before.  timerthread_get_next_deadline says until
 * when, timerthread_dispatch runs the timers, and timerthread_set_wake sets the
 * function that wakes the loop.  Make no call on the instance with the lock of
 * the condition variable held: the call may wake the loop, which takes it.
 */
#include "porting.h"
#include <pthread.h>
#include <time.h>
#include <timerthread.h>

struct loop {
	struct timerthread *tt;
	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t changed;
	int woken, jobs, done;
};

/* The library calls this, on any thread. */
static void wake(void *ctx)
{
	struct loop *l = ctx;

	pthread_mutex_lock(&l->lock);
	l->woken = 1;
	pthread_cond_signal(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

static void wait_until(struct loop *l, int64_t t)
{
	struct timespec until = {t / TIMERTHREAD_SEC, t % TIMERTHREAD_SEC};
	int r = 0;

	pthread_mutex_lock(&l->lock);
	while (!l->woken && l->jobs == 0 && r == 0) {
		if (t == TIMERTHREAD_NEVER)
			pthread_cond_wait(&l->changed, &l->lock);
		else
			r = pthread_cond_timedwait(&l->changed, &l->lock,
						   &until);
	}
	l->woken = 0;
	l->done += l->jobs; /* the jobs are done here */
	l->jobs = 0;
	pthread_mutex_unlock(&l->lock);
}

static void *loop_main(void *arg)
{
	struct loop *l = arg;
	int64_t next;

	/* Both calls fail once the instance was stopped. */
	while (timerthread_get_next_deadline(l->tt, &next) == 0) {
		wait_until(l, next);
		if (timerthread_dispatch(l->tt) < 0)
			break;
	}
	return NULL;
}

static void expired(void *arg)
{
	sem_post(arg);
}

/* The clock of the condition variable must be that of the instance. */
static void init_loop(struct loop *l)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&l->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&l->changed, &attr);
	pthread_condattr_destroy(&attr);
	l->woken = l->done = 0;
	l->jobs = 1;
	expect(timerthread_create(&l->tt) == 0 &&
		       timerthread_set_wake(l->tt, wake, l) == 0 &&
		       timerthread_start_polled(l->tt, NULL) == 0,
	       "there is an instance");
}

int main(void)
{
	struct loop l;
	pthread_t thread;
	sem_t ran;

	sem_init(&ran, 0, 0);
	init_loop(&l);
	expect(pthread_create(&thread, NULL, loop_main, &l) == 0,
	       "there is a thread");
	expect(timerthread_schedule_after(l.tt, TIMERTHREAD_MSEC, expired, &ran,
					  NULL) == 0,
	       "a timer is scheduled");
	await(&ran);
	timerthread_stop(l.tt); /* this wakes the loop, which ends */
	pthread_join(thread, NULL);
	expect(l.done == 1, "the job was done");
	timerthread_destroy(l.tt);
	puts("a job and a timer");
	return 0;
}
