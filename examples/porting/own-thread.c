/* SPDX-License-Identifier: MIT */
/*
 * own-thread: timers that run in a thread of the program's own making.
 *
 *     cc own-thread.c -o own-thread \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 *
 * Before: the program made the timer thread itself, because its threads are
 * made by a wrapper, have values under keys, or are known to another library.
 *
 * Now: the program makes the thread as before, and that thread is the driver.
 * timerthread_start_polled gives it a descriptor to wait for.  It ends when
 * timerthread_dispatch fails: with -ESHUTDOWN after timerthread_stop, or with
 * -ECHILD if a callback has forked, and this is the child.
 */
#include "porting.h"
#include <poll.h>
#include <pthread.h>
#include <timerthread.h>

struct driver {
	struct timerthread *tt;
	int fd;
	sem_t ran;
};

static pthread_key_t key; /* each thread of this program has a name here */
static char timers[] = "timers";

static void run_timers(struct driver *d)
{
	struct pollfd p = {.fd = d->fd, .events = POLLIN};

	do
		poll(&p, 1, -1);
	while (timerthread_dispatch(d->tt) >= 0);
}

/* What the program's wrapper does at the start of each thread. */
static void *thread_main(void *arg)
{
	pthread_setspecific(key, timers);
	run_timers(arg);
	return NULL;
}

static void expired(void *arg)
{
	struct driver *d = arg;

	expect(pthread_getspecific(key) == timers,
	       "the callback runs in the program's thread");
	sem_post(&d->ran);
}

int main(void)
{
	struct driver d;
	pthread_t thread;

	pthread_key_create(&key, NULL);
	sem_init(&d.ran, 0, 0);
	expect(timerthread_create(&d.tt) == 0 &&
		       timerthread_start_polled(d.tt, &d.fd) == 0,
	       "there is an instance");
	expect(pthread_create(&thread, NULL, thread_main, &d) == 0,
	       "there is a thread");
	expect(timerthread_schedule_after(d.tt, TIMERTHREAD_MSEC, expired, &d,
					  NULL) == 0,
	       "a timer is scheduled");
	await(&d.ran);
	timerthread_stop(d.tt); /* this wakes the thread, which ends */
	pthread_join(thread, NULL);
	timerthread_destroy(d.tt);
	sem_destroy(&d.ran);
	pthread_key_delete(key);
	puts("ran in the thread of the program");
	return 0;
}
