/* SPDX-License-Identifier: MIT */
/*
 * The life of an instance: create, start, stop, destroy.
 *
 * stop shuts the buckets before it stops the thread, each under its lock: a
 * schedule call either is in its bucket by then or fails, so that what stop
 * leaves behind is complete.  Of several threads in stop one joins the timer
 * thread, and the others wait for that one.  Whoever destroys waits until they
 * have left; where a callback destroys, the last one to leave frees.
 */
#include "config.h"

#include "base.h"
#include "driver_thread.h"
#include "instance.h"

#include <errno.h>
#include <stdlib.h>

TT_EXPORT int timerthread_create(struct timerthread **ret_tt)
{
	int saved_errno = errno;
	struct timerthread *tt;

	if (!ret_tt)
		return -EINVAL;
	tt = fork_watch() == 0 ? aligned_alloc(TT_FAR_APART, sizeof(*tt))
			       : NULL;
	if (tt) {
		instance_init(tt);
		*ret_tt = tt;
	}
	errno = saved_errno;
	return tt ? 0 : -ENOMEM;
}

/* What the parts take from the options. */
static bool fill_parts(struct timerthread *tt, struct intake *in)
{
	const struct options *o = &tt->options;
	const struct engine_parts parts = {
		.intake = in,
		.wakeup = &tt->wakeup,
		.await = &tt->await,
		.limit = &tt->limit,
		.clock = o->clock,
	};

	tt->wakeup.slack = o->slack;
	tt->limit.max = o->max_timers;
	return engine_init(&tt->engine, &parts);
}

/* With the sleeper open.  Nothing else remains if it fails. */
static int start_thread(struct timerthread *tt, const pthread_attr_t *attr)
{
	struct intake *in = intake_create(tt->options.buckets);
	int r = ENOMEM;

	if (!in)
		return -ENOMEM;
	if (fill_parts(tt, in)) {
		r = driver_thread_start(tt, attr);
		if (r == 0) {
			intake_open(in);
			tt->intake = in;
			return 0;
		}
	}
	engine_destroy(&tt->engine);
	intake_destroy(in);
	return -r;
}

static int start_parts(struct timerthread *tt, const pthread_attr_t *attr)
{
	int r = sleeper_open(&tt->wakeup.sleeper, tt->options.clock);

	if (r < 0)
		return r;
	r = start_thread(tt, attr);
	if (r < 0) {
		sleeper_close(&tt->wakeup.sleeper);
		return r;
	}
	tt->life = LIFE_RUNNING;
	/* Release: pairs with the load in instance_lives. */
	atom32_store_release(&tt->born, fork_generation());
	return 0;
}

static bool joinable(const pthread_attr_t *attr)
{
	int state;

	return !attr || (pthread_attr_getdetachstate(attr, &state) == 0 &&
			 state == PTHREAD_CREATE_JOINABLE);
}

TT_EXPORT int timerthread_start(struct timerthread *tt,
				const pthread_attr_t *attr)
{
	int saved_errno = errno;
	int r = instance_check(tt, joinable(attr));

	if (r < 0)
		return r;
	pthread_mutex_lock(&tt->mutex);
	if (tt->life == LIFE_NEW)
		r = start_parts(tt, attr);
	else
		r = tt->life == LIFE_RUNNING ? -EBUSY : -ESHUTDOWN;
	pthread_mutex_unlock(&tt->mutex);
	errno = saved_errno;
	return r;
}

/* With the mutex held, which it lets go meanwhile. */
static void join(struct timerthread *tt)
{
	tt->joiners++;
	if (tt->joining) {
		while (tt->life != LIFE_STOPPED)
			pthread_cond_wait(&tt->changed, &tt->mutex);
	} else {
		tt->joining = true;
		pthread_mutex_unlock(&tt->mutex);
		pthread_join(tt->thread, NULL);
		pthread_mutex_lock(&tt->mutex);
		tt->life = LIFE_STOPPED;
	}
	tt->joiners--;
	pthread_cond_broadcast(&tt->changed);
}

static void request_stop(struct timerthread *tt)
{
	if (tt->life == LIFE_NEW) {
		tt->life = LIFE_STOPPED;
	} else if (tt->life == LIFE_RUNNING) {
		tt->life = LIFE_STOPPING;
		intake_shut(tt->intake);
		wakeup_stop(&tt->wakeup);
	}
}

/* As timerthread_stop; with the mutex held, and no thread cancellation. */
static int stop(struct timerthread *tt)
{
	request_stop(tt);
	if (tt->life != LIFE_STOPPING)
		return 0;
	if (driver_thread_is_self(tt))
		return 1;
	join(tt);
	return 0;
}

/* With the mutex held: is there none left who would look at tt? */
static bool is_last(const struct timerthread *tt)
{
	return tt->orphaned && tt->life == LIFE_STOPPED && tt->joiners == 0;
}

TT_EXPORT int timerthread_stop(struct timerthread *tt)
{
	int r, cancel_state;
	bool last;

	if (!tt)
		return -EINVAL;
	if (instance_inherited(tt))
		return -ECHILD;
	if (tt->options.is_default)
		return -EPERM;
	/* A thread that is cancelled here would leave a join half done. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_mutex_lock(&tt->mutex);
	r = stop(tt);
	last = is_last(tt);
	pthread_mutex_unlock(&tt->mutex);
	if (last)
		instance_free(tt);
	pthread_setcancelstate(cancel_state, NULL);
	return r;
}

TT_EXPORT void timerthread_destroy(struct timerthread *tt)
{
	int cancel_state;

	if (!tt || tt->options.is_default)
		return;
	if (instance_inherited(tt)) {
		instance_free_inherited(tt);
		return;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_mutex_lock(&tt->mutex);
	if (stop(tt) == 0) {
		while (tt->joiners > 0)
			pthread_cond_wait(&tt->changed, &tt->mutex);
		pthread_mutex_unlock(&tt->mutex);
		instance_free(tt);
	} else {
		tt->orphaned = true;
		pthread_mutex_unlock(&tt->mutex);
	}
	pthread_setcancelstate(cancel_state, NULL);
}

TT_EXPORT int timerthread_get_pthread(struct timerthread *tt,
				      pthread_t *ret_thread)
{
	int r = instance_check(tt, ret_thread != NULL);

	if (r < 0)
		return r;
	pthread_mutex_lock(&tt->mutex);
	if (tt->life == LIFE_RUNNING)
		*ret_thread = tt->thread;
	else
		r = tt->life == LIFE_NEW ? -EINVAL : -ESHUTDOWN;
	pthread_mutex_unlock(&tt->mutex);
	return r;
}
