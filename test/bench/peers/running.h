/* SPDX-License-Identifier: MIT */
/*
 * For facilities with one thread and one lock of ours: whose callback runs, and
 * who waits for its end.  All of it under that lock, but not the callback.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>

static pthread_cond_t is_over = PTHREAD_COND_INITIALIZER;
static const void *running;
static int waiters;

static inline void running_begin(const void *timer)
{
	running = timer;
}

static inline void running_end(void)
{
	running = NULL;
	if (waiters > 0)
		pthread_cond_broadcast(&is_over);
}

/* Until the callback of this timer does not run; lock is held. */
static inline void running_wait(pthread_mutex_t *lock, const void *timer)
{
	waiters++;
	while (running == timer)
		pthread_cond_wait(&is_over, lock);
	waiters--;
}
