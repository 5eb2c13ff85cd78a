/* SPDX-License-Identifier: MIT */
/*
 * The life of an instance: create, start, stop, destroy.
 *
 * stop shuts the buckets before it stops the thread, each under its lock: a
 * schedule call either is in its bucket by then or fails, so that what stop
 * leaves behind is complete.  Of several threads in stop one joins the timer
 * thread, and the others wait for that one.
 */
#include "config.h"

#include "base.h"
#include "driver_thread.h"
#include "futex.h"
#include "instance.h"

#include <errno.h>
#include <stdlib.h>

TT_EXPORT int timerthread_create(struct timerthread **ret_tt)
{
	int saved_errno = errno;
	struct timerthread *tt;

	if (!ret_tt)
		return -EINVAL;
	tt = aligned_alloc(TT_FAR_APART, sizeof(*tt));
	if (tt) {
		instance_init(tt);
		*ret_tt = tt;
	}
	errno = saved_errno;
	return tt ? 0 : -ENOMEM;
}

/* Makes the parts and the thread.  Nothing remains if it fails. */
static int start_parts(struct timerthread *tt, const pthread_attr_t *attr)
{
	struct intake *in;
	int r = futex_probe();

	if (r < 0)
		return r;
	in = intake_create(tt->buckets);
	if (!in)
		return -ENOMEM;
	r = ENOMEM;
	if (engine_init(&tt->engine, in, &tt->wakeup)) {
		r = driver_thread_start(tt, attr);
		if (r == 0) {
			intake_open(in);
			/* Release: pairs with the load in instance_intake. */
			atomword_store_release(&tt->intake, (uintptr_t)in);
			return 0;
		}
	}
	engine_destroy(&tt->engine);
	intake_destroy(in);
	return -r;
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
	int r;

	if (!tt || !joinable(attr))
		return -EINVAL;
	pthread_mutex_lock(&tt->mutex);
	if (tt->life == LIFE_NEW) {
		r = start_parts(tt, attr);
		if (r == 0)
			tt->life = LIFE_RUNNING;
	} else {
		r = tt->life == LIFE_RUNNING ? -EBUSY : -ESHUTDOWN;
	}
	pthread_mutex_unlock(&tt->mutex);
	errno = saved_errno;
	return r;
}

/* With the mutex held, which it lets go meanwhile. */
static void join(struct timerthread *tt)
{
	if (tt->joining) {
		while (tt->life != LIFE_STOPPED)
			pthread_cond_wait(&tt->stopped, &tt->mutex);
		return;
	}
	tt->joining = true;
	pthread_mutex_unlock(&tt->mutex);
	pthread_join(tt->thread, NULL);
	pthread_mutex_lock(&tt->mutex);
	tt->life = LIFE_STOPPED;
	pthread_cond_broadcast(&tt->stopped);
}

static void request_stop(struct timerthread *tt)
{
	if (tt->life == LIFE_NEW) {
		tt->life = LIFE_STOPPED;
	} else if (tt->life == LIFE_RUNNING) {
		tt->life = LIFE_STOPPING;
		intake_shut(instance_intake(tt));
		wakeup_stop(&tt->wakeup);
	}
}

TT_EXPORT int timerthread_stop(struct timerthread *tt)
{
	int r = 0, cancel_state;

	if (!tt)
		return -EINVAL;
	/* A thread that is cancelled here would leave a join half done. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_mutex_lock(&tt->mutex);
	request_stop(tt);
	if (tt->life == LIFE_STOPPING) {
		if (driver_thread_is_self(tt))
			r = 1;
		else
			join(tt);
	}
	pthread_mutex_unlock(&tt->mutex);
	pthread_setcancelstate(cancel_state, NULL);
	return r;
}

TT_EXPORT void timerthread_destroy(struct timerthread *tt)
{
	if (!tt)
		return;
	if (timerthread_stop(tt) == 0) {
		instance_free(tt);
		return;
	}
	/* Called from a callback: the thread outlives the callback. */
	pthread_detach(tt->thread);
	tt->orphaned = true;
}

TT_EXPORT int timerthread_get_pthread(struct timerthread *tt,
				      pthread_t *ret_thread)
{
	int r = 0;

	if (!tt || !ret_thread)
		return -EINVAL;
	pthread_mutex_lock(&tt->mutex);
	if (tt->life == LIFE_RUNNING)
		*ret_thread = tt->thread;
	else
		r = tt->life == LIFE_NEW ? -EINVAL : -ESHUTDOWN;
	pthread_mutex_unlock(&tt->mutex);
	return r;
}
