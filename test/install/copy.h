/* SPDX-License-Identifier: MIT */
/*
 * A copy of the library, in a program or in a plugin: what one tells the other.
 */
#pragma once

#include <timerthread.h>

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

struct copy {
	struct timerthread *tt; /* the default instance */
	timerthread_id id;      /* of a timer that never runs */
	pthread_t thread;       /* on which another one ran */
};

typedef int copy_use_fn(struct copy *ret);

static sem_t copy_ran;

static inline void copy_expire(void *arg)
{
	struct copy *c = (struct copy *)arg;

	c->thread = pthread_self();
	sem_post(&copy_ran);
}

/* 0, or what went wrong. */
static inline int copy_use(struct copy *c)
{
	int r = timerthread_default(&c->tt);

	if (r == 0)
		r = timerthread_schedule(c->tt, TIMERTHREAD_NEVER, copy_expire,
					 c, &c->id);
	sem_init(&copy_ran, 0, 0);
	if (r == 0)
		r = timerthread_schedule_after(c->tt, TIMERTHREAD_MSEC,
					       copy_expire, c, NULL);
	while (r == 0 && sem_wait(&copy_ran) != 0)
		continue;
	return r;
}
