/* SPDX-License-Identifier: MIT */
#include "pool.h"
#include <errno.h>

static _Thread_local bool inside;

bool pool_inside(void)
{
	return inside;
}

/*
 * Waits for work.  Also when it is closed the queue is emptied first: what was
 * accepted is called, whatever happens.  Who takes work wakes another thread if
 * there is more, so that a submit need wake one only when there was none.
 */
static bool take(struct pool *p, struct work *work)
{
	bool any;

	pthread_mutex_lock(&p->lock);
	while (p->n == 0 && !p->closed)
		pthread_cond_wait(&p->changed, &p->lock);
	any = p->n > 0;
	if (any) {
		*work = p->queue[p->first];
		p->first = (p->first + 1) % POOL_QUEUE;
		p->n--;
		p->called++;
		if (p->n > 0)
			pthread_cond_signal(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return any;
}

static void *pool_main(void *arg)
{
	struct work work;

	inside = true;
	while (take(arg, &work))
		work.run(work.arg);
	return NULL;
}

/*
 * Never waits for room: it is called on the driver's thread, which all timers
 * need.
 */
int pool_submit(void *pool, void (*run)(void *arg), void *arg)
{
	struct pool *p = pool;
	int ret = 0;

	pthread_mutex_lock(&p->lock);
	if (p->closed) {
		ret = -ESHUTDOWN;
	} else if (p->n == POOL_QUEUE) {
		p->refused++;
		ret = -EAGAIN;
	} else {
		p->queue[(p->first + p->n) % POOL_QUEUE] =
			(struct work){run, arg};
		p->accepted++;
		if (p->n++ == 0)
			pthread_cond_signal(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return ret;
}

static void finish(struct pool *p, int threads)
{
	pthread_mutex_lock(&p->lock);
	p->closed = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	for (int i = 0; i < threads; i++)
		pthread_join(p->thread[i], NULL);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
}

int pool_start(struct pool *p)
{
	*p = (struct pool){.n = 0};
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	for (int i = 0; i < POOL_THREADS; i++) {
		int error = pthread_create(&p->thread[i], NULL, pool_main, p);

		if (error != 0) {
			finish(p, i);
			return -error;
		}
	}
	return 0;
}

void pool_finish(struct pool *p)
{
	finish(p, POOL_THREADS);
}
