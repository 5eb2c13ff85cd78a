/* SPDX-License-Identifier: MIT */
/*
 * Starts an instance by the driver that TT_DRIVER in the environment names,
 * so that the same tests run on all of them:
 *
 *	thread		its own thread, the default
 *	polled		a thread of the test that polls and dispatches
 *	virtual		a thread of the test that lets the virtual clock go on
 *			as time does
 *	executor	its own thread, which hands over to a pool of one
 */
#pragma once

/* First: what is called "tt" in it would hide that of who includes this. */
#include "api/instance.h"

#include "pool.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum drivers {
	ON_THREAD = 1,
	ON_POLLED = 2,
	ON_VIRTUAL = 4,
	ON_EXECUTOR = 8,
};

static const char *const driver_names[] = {
	[ON_THREAD] = "thread",
	[ON_POLLED] = "polled",
	[ON_VIRTUAL] = "virtual",
	[ON_EXECUTOR] = "executor",
};

/* The one that is tested; by default that which is given. */
static inline enum drivers driver_tested_or(enum drivers driver)
{
	const char *name = getenv("TT_DRIVER");

	if (!name)
		return driver;
	for (int i = ON_THREAD; i <= ON_EXECUTOR; i *= 2) {
		if (strcmp(name, driver_names[i]) == 0)
			return (enum drivers)i;
	}
	fprintf(stderr, "there is no TT_DRIVER=%s\n", name);
	exit(EXIT_FAILURE);
}

static inline enum drivers driver_tested(void)
{
	return driver_tested_or(ON_THREAD);
}

/*
 * The thread of a test that drives an instance.  It must not be on its way
 * into a call when another thread destroys the instance, nor poll what is
 * closed then.  While it is inside, it is waited for.
 */
enum pump_place {
	PUMP_WAITS, /* for its instance to be started */
	PUMP_OUTSIDE,
	PUMP_INSIDE,
	PUMP_ENDS,
};

/* An instance that was started here, and is not on a thread alone. */
static struct driven {
	struct timerthread *tt; /* NULL: this one is free */
	struct pool *pool;      /* NULL: it has a pump */
	pthread_t pump;
	enum pump_place place;
	bool halted;
	bool detached;
	int fd;      /* -1: the clock is virtual */
	int bell[2]; /* a pipe: the first is readable when it is halted */
	int64_t seen;
} driven[POOLS];

/* Protects all of them. */
static pthread_mutex_t driven_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t driven_changed = PTHREAD_COND_INITIALIZER;

static inline int64_t driver_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void pump_rest(const struct driven *d)
{
	static const struct timespec moment = {0, 100000};
	struct pollfd fds[2] = {
		{.fd = d->bell[0], .events = POLLIN},
		{.fd = d->fd, .events = POLLIN},
	};

	if (d->fd < 0)
		nanosleep(&moment, NULL);
	else
		poll(fds, 2, -1);
}

/*
 * After a long time it goes on from there: where a timer's period is shorter
 * than its callback takes, it would fall behind more with each call.
 */
static inline int64_t pump_step(struct driven *d)
{
	int64_t now = driver_time(), step = now - d->seen;

	d->seen = now;
	return step < 1000000 ? step : 1000000;
}

/* False: the instance was stopped. */
static inline bool pump_call(struct driven *d)
{
	int r = d->fd < 0 ? timerthread_advance(d->tt, pump_step(d))
			  : timerthread_dispatch(d->tt);

	if (r < 0 && r != -ESHUTDOWN)
		abort();
	return r >= 0;
}

/* False: it was halted. */
static inline bool pump_go(struct driven *d, enum pump_place to)
{
	bool goes;

	pthread_mutex_lock(&driven_mutex);
	goes = !d->halted;
	d->place = to;
	if (!goes)
		d->place = PUMP_ENDS;
	pthread_cond_broadcast(&driven_changed);
	pthread_mutex_unlock(&driven_mutex);
	return goes;
}

static inline void driven_free(struct driven *d)
{
	for (int i = 0; i < 2; i++) {
		if (d->bell[i] >= 0)
			close(d->bell[i]);
	}
	pthread_mutex_lock(&driven_mutex);
	d->tt = NULL;
	pthread_cond_broadcast(&driven_changed);
	pthread_mutex_unlock(&driven_mutex);
}

static inline void pump_end(struct driven *d)
{
	bool detached;

	pthread_mutex_lock(&driven_mutex);
	d->place = PUMP_ENDS;
	detached = d->detached;
	pthread_cond_broadcast(&driven_changed);
	pthread_mutex_unlock(&driven_mutex);
	if (detached)
		driven_free(d);
}

static inline void *pump_main(void *arg)
{
	struct driven *d = arg;

	pthread_mutex_lock(&driven_mutex);
	while (d->place == PUMP_WAITS && !d->halted)
		pthread_cond_wait(&driven_changed, &driven_mutex);
	pthread_mutex_unlock(&driven_mutex);
	while (pump_go(d, PUMP_OUTSIDE)) {
		pump_rest(d);
		if (!pump_go(d, PUMP_INSIDE) || !pump_call(d))
			break;
	}
	pump_end(d);
	return NULL;
}

/* A free one, for tt. */
static inline struct driven *driven_take(struct timerthread *tt)
{
	struct driven *d = NULL;

	pthread_mutex_lock(&driven_mutex);
	while (!d) {
		for (int i = 0; i < POOLS && !d; i++)
			d = driven[i].tt ? NULL : &driven[i];
		/* Those that are halted will be free. */
		if (!d)
			pthread_cond_wait(&driven_changed, &driven_mutex);
	}
	*d = (struct driven){.tt = tt, .fd = -1, .bell = {-1, -1}};
	pthread_mutex_unlock(&driven_mutex);
	return d;
}

static inline struct driven *driven_find(const struct timerthread *tt)
{
	struct driven *d = NULL;

	pthread_mutex_lock(&driven_mutex);
	for (int i = 0; i < POOLS; i++) {
		if (driven[i].tt == tt && !driven[i].halted)
			d = &driven[i];
	}
	pthread_mutex_unlock(&driven_mutex);
	return d;
}

/* From now on it is not found: another may come to be at the same address. */
static inline void driven_halt(struct driven *d, bool detach)
{
	pthread_mutex_lock(&driven_mutex);
	d->halted = true;
	d->detached = detach;
	pthread_cond_broadcast(&driven_changed);
	pthread_mutex_unlock(&driven_mutex);
}

static inline void pump_halt(struct driven *d, bool detach)
{
	pthread_t pump = d->pump;
	int bell = d->bell[1];

	driven_halt(d, detach);
	if (detach)
		pthread_detach(pump);
	else if (write(bell, "", 1) != 1)
		abort();
}

static inline void pump_join(struct driven *d)
{
	pthread_join(d->pump, NULL);
	driven_free(d);
}

/* Has the call that it is in begun? */
static inline bool pump_drives(struct timerthread *tt)
{
	bool turning;

	pthread_mutex_lock(&tt->mutex);
	turning = tt->turning;
	pthread_mutex_unlock(&tt->mutex);
	return turning;
}

/* Until it begins no call any more; the last one may go on. */
static inline void pump_wait(struct driven *d)
{
	enum pump_place place;

	do {
		sched_yield();
		pthread_mutex_lock(&driven_mutex);
		place = d->place;
		pthread_mutex_unlock(&driven_mutex);
	} while (place != PUMP_ENDS &&
		 (place != PUMP_INSIDE || !pump_drives(d->tt)));
}

static inline int pump_start(struct timerthread *tt, bool polled)
{
	struct driven *d = driven_take(tt);
	int r;

	if (pipe(d->bell) != 0)
		abort();
	/* Before the instance, which cannot be started twice. */
	if (pthread_create(&d->pump, NULL, pump_main, d) != 0) {
		driven_free(d);
		return -EAGAIN;
	}
	d->seen = driver_time();
	r = polled ? timerthread_start_polled(tt, &d->fd)
		   : timerthread_start_virtual(tt, d->seen);
	if (r == 0) {
		pump_go(d, PUMP_OUTSIDE);
	} else {
		pump_halt(d, false);
		pump_join(d);
	}
	return r;
}

static inline int pooled_start(struct timerthread *tt, unsigned threads)
{
	struct pool *pool = pool_open(threads);
	int r;

	if (!pool)
		return -EAGAIN;
	/* Where this fails so does the start. */
	timerthread_set_executor(tt, pool_submit, pool);
	r = timerthread_start(tt, NULL);
	if (r == 0)
		driven_take(tt)->pool = pool;
	else
		pool_close(pool);
	return r;
}

static inline int driver_start_on(struct timerthread *tt, enum drivers driver,
				  unsigned threads)
{
	switch (driver) {
	case ON_POLLED:
		return pump_start(tt, true);
	case ON_VIRTUAL:
		return pump_start(tt, false);
	case ON_EXECUTOR:
		return pooled_start(tt, threads);
	default:
		return timerthread_start(tt, NULL);
	}
}

/* As timerthread_start with no attributes, on the driver that is tested. */
static inline int driver_start(struct timerthread *tt)
{
	return driver_start_on(tt, driver_tested(), 1);
}

static inline void pump_destroy(struct timerthread *tt, struct driven *d)
{
	bool inside = pthread_equal(pthread_self(), d->pump);

	pump_halt(d, inside);
	if (!inside)
		pump_wait(d);
	timerthread_destroy(tt);
	if (!inside)
		pump_join(d);
}

static inline void pooled_destroy(struct timerthread *tt, struct driven *d)
{
	struct pool *pool = d->pool;

	driven_halt(d, false);
	timerthread_destroy(tt);
	driven_free(d);
	pool_close(pool);
}

/*
 * As timerthread_destroy: also from callbacks, and for an instance that was
 * started in another way, or not at all.
 */
static inline void driver_destroy(struct timerthread *tt)
{
	struct driven *d = tt ? driven_find(tt) : NULL;

	if (!d)
		timerthread_destroy(tt);
	else if (d->pool)
		pooled_destroy(tt, d);
	else
		pump_destroy(tt, d);
}

/*
 * From now on, what expires while a callback runs is handed over in the order
 * of deadlines when that is over.  Else a pool gets each as soon as it is due.
 */
static inline void driver_keep_order(struct timerthread *tt)
{
	struct driven *d = driven_find(tt);

	if (d && d->pool)
		pool_lockstep(d->pool);
}
