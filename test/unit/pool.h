/* SPDX-License-Identifier: MIT */
/*
 * An executor for tests: a queue, and threads that run what is in it, in that
 * order.
 *
 * A callback that runs in a pool may destroy the instance while the timer
 * thread is still handing over: then the pool stays as it is, for who opens one
 * later.  It allocates no memory, which tests make scarce.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <timerthread.h>

enum {
	POOLS = 8,
	POOL_THREADS = 3, /* at most */
	POOL_JOBS = 1 << 15,
};

struct pool_job {
	timerthread_fn *run;
	void *arg;
};

/* Made once, for tests that make mutexes scarce. */
#define POOL_MUTEX   .mutex = PTHREAD_MUTEX_INITIALIZER
#define POOL_CHANGED .changed = PTHREAD_COND_INITIALIZER

static struct pool {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	pthread_t thread[POOL_THREADS];
	unsigned threads; /* 0: it is none */
	bool open;
	bool ends;
	bool lockstep;
	uint32_t submitted, taken, over;
	struct pool_job job[POOL_JOBS];
} pools[POOLS] = {{POOL_MUTEX, POOL_CHANGED}, {POOL_MUTEX, POOL_CHANGED},
		  {POOL_MUTEX, POOL_CHANGED}, {POOL_MUTEX, POOL_CHANGED},
		  {POOL_MUTEX, POOL_CHANGED}, {POOL_MUTEX, POOL_CHANGED},
		  {POOL_MUTEX, POOL_CHANGED}, {POOL_MUTEX, POOL_CHANGED}};

static pthread_mutex_t pools_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Whose thread this is. */
static _Thread_local struct pool *pool_inside;

/* With the mutex held, which it lets go meanwhile. */
static inline void pool_run_next(struct pool *p)
{
	struct pool_job *next = &p->job[p->taken++ % POOL_JOBS];
	struct pool_job job = *next;

	/* Where nothing points to what is over, a leak can be seen. */
	*next = (struct pool_job){NULL, NULL};
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->mutex);
	job.run(job.arg);
	pthread_mutex_lock(&p->mutex);
	p->over++;
	pthread_cond_broadcast(&p->changed);
}

static inline void *pool_work(void *arg)
{
	struct pool *p = pool_inside = arg;

	pthread_mutex_lock(&p->mutex);
	while (!p->ends) {
		if (p->taken != p->submitted)
			pool_run_next(p);
		else
			pthread_cond_wait(&p->changed, &p->mutex);
	}
	pthread_mutex_unlock(&p->mutex);
	return NULL;
}

/* Where the queue is full it waits: whoever submits keeps to the pool's pace.
 */
static inline int pool_submit(void *ctx, timerthread_fn *run, void *arg)
{
	struct pool *p = ctx;
	uint32_t mine;

	pthread_mutex_lock(&p->mutex);
	while (p->submitted - p->taken == POOL_JOBS)
		pthread_cond_wait(&p->changed, &p->mutex);
	mine = p->submitted++;
	p->job[mine % POOL_JOBS] = (struct pool_job){run, arg};
	pthread_cond_broadcast(&p->changed);
	while (p->lockstep && (int32_t)(p->over - mine) <= 0)
		pthread_cond_wait(&p->changed, &p->mutex);
	pthread_mutex_unlock(&p->mutex);
	return 0;
}

/* False: not one thread could be started. */
static inline bool pool_start(struct pool *p, unsigned threads)
{
	if (p->threads == 0)
		p->ends = false;
	while (p->threads < threads &&
	       pthread_create(&p->thread[p->threads], NULL, pool_work, p) == 0)
		p->threads++;
	return p->threads > 0;
}

/* Prefers one that was open before. */
static inline struct pool *pool_find(unsigned threads)
{
	struct pool *unused = NULL;

	for (int i = 0; i < POOLS; i++) {
		if (pools[i].threads == threads && !pools[i].open)
			return &pools[i];
		if (pools[i].threads == 0 && !pools[i].open)
			unused = &pools[i];
	}
	return unused;
}

/* NULL: as pool_start. */
static inline struct pool *pool_open(unsigned threads)
{
	struct pool *p;

	pthread_mutex_lock(&pools_mutex);
	p = pool_find(threads);
	if (!p)
		abort();
	if (pool_start(p, threads)) {
		p->open = true;
		p->lockstep = false;
	} else {
		p = NULL;
	}
	pthread_mutex_unlock(&pools_mutex);
	return p;
}

/* From now on who submits goes on only when the pool is done with it. */
static inline void pool_lockstep(struct pool *p)
{
	pthread_mutex_lock(&p->mutex);
	p->lockstep = true;
	pthread_mutex_unlock(&p->mutex);
}

static inline void pool_end(struct pool *p)
{
	pthread_mutex_lock(&p->mutex);
	while (p->over != p->submitted)
		pthread_cond_wait(&p->changed, &p->mutex);
	p->ends = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->mutex);
	for (unsigned i = 0; i < p->threads; i++)
		pthread_join(p->thread[i], NULL);
}

/* Waits until all is over, unless it is called from within. */
static inline void pool_close(struct pool *p)
{
	bool inside = pool_inside == p;

	if (!inside)
		pool_end(p);
	pthread_mutex_lock(&pools_mutex);
	p->open = false;
	if (!inside)
		p->threads = 0;
	pthread_mutex_unlock(&pools_mutex);
}
