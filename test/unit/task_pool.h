/* SPDX-License-Identifier: MIT */
/*
 * A pool of threads that are an executor, with as much room as the test likes;
 * and threads that wait for the end of a callback, or of all.
 */
#pragma once

#include "tasks.h"

/* A pool of threads, which takes so many as there is room for. */
enum { POOL = 3, ROOM_MAX = 4096 };

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct task ring[ROOM_MAX];
	size_t first, n, room;
	unsigned submits; /* that are going on */
	bool over;
	unsigned threads;
	pthread_t thread[POOL];
} pool = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
};

static inline int submit_to_pool(void *ctx, timerthread_fn *run, void *arg)
{
	(void)ctx;
	pthread_mutex_lock(&pool.mutex);
	pool.submits++;
	while (pool.n == pool.room)
		pthread_cond_wait(&pool.changed, &pool.mutex);
	pool.submits--;
	pool.ring[(pool.first + pool.n++) % ROOM_MAX] = (struct task){run, arg};
	pthread_cond_broadcast(&pool.changed);
	pthread_mutex_unlock(&pool.mutex);
	return 0;
}

/* False: there is no more to come. */
static inline bool take_task(struct task *t)
{
	bool any;

	pthread_mutex_lock(&pool.mutex);
	while (pool.n == 0 && !pool.over)
		pthread_cond_wait(&pool.changed, &pool.mutex);
	any = pool.n > 0;
	if (any) {
		*t = pool.ring[pool.first];
		pool.ring[pool.first] = (struct task){NULL, NULL};
		pool.first = (pool.first + 1) % ROOM_MAX;
		pool.n--;
	}
	pthread_cond_broadcast(&pool.changed);
	pthread_mutex_unlock(&pool.mutex);
	return any;
}

static inline void *pool_main(void *arg)
{
	struct task t;

	while (take_task(&t))
		t.run(t.arg);
	return arg;
}

static inline void start_pool(unsigned threads, size_t room)
{
	pthread_mutex_lock(&pool.mutex);
	pool.over = false;
	pool.room = room;
	pool.threads = threads;
	pthread_mutex_unlock(&pool.mutex);
	for (unsigned i = 0; i < threads; i++)
		ck_assert_int_eq(
			pthread_create(&pool.thread[i], NULL, pool_main, NULL),
			0);
}

/* All that it has taken is called by then, and what it is just given too. */
static inline void end_pool(void)
{
	pthread_mutex_lock(&pool.mutex);
	while (pool.submits > 0)
		pthread_cond_wait(&pool.changed, &pool.mutex);
	pool.over = true;
	pthread_cond_broadcast(&pool.changed);
	pthread_mutex_unlock(&pool.mutex);
	for (unsigned i = 0; i < pool.threads; i++)
		pthread_join(pool.thread[i], NULL);
}

static inline bool submit_blocks(void)
{
	bool blocks;

	pthread_mutex_lock(&pool.mutex);
	blocks = pool.n == pool.room && pool.submits > 0;
	pthread_mutex_unlock(&pool.mutex);
	return blocks;
}

/* A thread that waits, for the end of a callback or of all. */
struct canceller {
	pthread_t thread;
	timerthread_id id;
	int result, seen;
};

static inline void *wait_in_thread(void *arg)
{
	struct canceller *w = arg;

	w->result = timerthread_cancel_wait(tt, w->id);
	w->seen = written;
	return NULL;
}

/* For a callback that writes nothing. */
static inline void *only_wait(void *arg)
{
	struct canceller *w = arg;

	w->result = timerthread_cancel_wait(tt, w->id);
	return NULL;
}

static inline void *stop_in_thread(void *arg)
{
	struct canceller *w = arg;

	w->result = timerthread_stop(tt);
	w->seen = written;
	return NULL;
}

static inline void *destroy_in_thread(void *arg)
{
	struct canceller *w = arg;

	timerthread_destroy(tt);
	w->seen = written;
	return NULL;
}

static inline void start_waiter(struct canceller *w, void *(*how)(void *))
{
	ck_assert_int_eq(pthread_create(&w->thread, NULL, how, w), 0);
}

/* It has come back only when the callback had written that. */
static inline void check_waiter(struct canceller *w, int result, int seen)
{
	pthread_join(w->thread, NULL);
	ck_assert_int_eq(w->result, result);
	ck_assert_int_eq(w->seen, seen);
}

/* Until the timer thread, or what stands in for it, is over. */
static inline void wait_for_driver(void)
{
	bool turning;

	do {
		sched_yield();
		pthread_mutex_lock(&tt->mutex);
		turning = tt->turning;
		pthread_mutex_unlock(&tt->mutex);
	} while (turning);
}
