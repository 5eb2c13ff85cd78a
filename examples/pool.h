/* SPDX-License-Identifier: MIT */
/*
 * pool: a fixed number of threads that call functions for others, in the order
 * in which they were submitted, from a queue of a fixed size.
 */
#ifndef POOL_H
#define POOL_H

#include <pthread.h>
#include <stdbool.h>

enum { POOL_THREADS = 4, POOL_QUEUE = 16 };

struct work {
	void (*run)(void *arg);
	void *arg;
};

struct pool {
	pthread_t thread[POOL_THREADS];
	pthread_mutex_t lock;
	pthread_cond_t changed; /* there is work, or no more of it */

	/* Guarded by the lock. */
	struct work queue[POOL_QUEUE];
	unsigned first, n;
	bool closed;
	unsigned long accepted, refused, called;
};

/* Returns 0 or a negative errno. */
int pool_start(struct pool *p);

/*
 * A timerthread_submit_fn; pool is the struct pool.  -EAGAIN: the queue is
 * full.  -ESHUTDOWN: no more is taken.
 */
int pool_submit(void *pool, void (*run)(void *arg), void *arg);

/* Takes no more, lets the threads finish what they took, and joins them. */
void pool_finish(struct pool *p);

/* Whether the calling thread is one of a pool. */
bool pool_inside(void);

#endif
