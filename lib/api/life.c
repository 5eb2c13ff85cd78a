/* SPDX-License-Identifier: MIT */
/*
 * The end of an instance: stop, destroy.
 *
 * A stop shuts the buckets, each under its lock, before it stops the driver.
 * So a schedule call has either put its timer into its bucket by then, or
 * fails, and the set of timers that stop leaves behind is complete.  If several
 * threads are in stop, one joins the timer thread, and the others wait for that
 * one.  A destroy waits until they have left.  If a callback destroys, the last
 * one to leave frees the instance.
 */
#include "api/instance.h"
#include "base/keep.h"
#include "os/futex.h"
#include "os/memory.h"
#include "os/tool.h"

#include <limits.h>

/*
 * Something that the mutex protects has changed.  With the mutex held: once it
 * is released, a thread that waits may free the instance.
 */
static void tell_change(struct timerthread *tt)
{
	atom32_add(&tt->changes, 1);
	futex_wake(&tt->changes, INT_MAX);
}

/*
 * Until the next change or, by CLOCK_MONOTONIC, the deadline; may return early
 * for no reason.  With the mutex held, which it releases meanwhile: so the
 * caller counts in joiners, or is the one that destroys.
 */
static void await_change(struct timerthread *tt, int64_t deadline)
{
	uint32_t seen = atom32_load(&tt->changes);

	pthread_mutex_unlock(&tt->mutex);
	futex_wait_until(&tt->changes, seen, CLOCK_MONOTONIC, deadline);
	pthread_mutex_lock(&tt->mutex);
}

/*
 * Frees it and what start made for it.  Nothing of it may run.  inherited: in a
 * child of fork(2), where the mutex may be held for ever.  On some systems it
 * has memory of its own, which is then lost.
 */
static void free_instance(struct timerthread *tt, bool inherited)
{
	instances_remove(&tt->listed);
	if (!inherited)
		await_empty(&tt->engine.await);
	if (!inherited || (pthread_mutex_trylock(&tt->mutex) == 0 &&
			   pthread_mutex_unlock(&tt->mutex) == 0))
		pthread_mutex_destroy(&tt->mutex);
	engine_close(&tt->engine, inherited);
	runs_free(&tt->runs);
	memory_free(tt);
}

void instance_leave(struct timerthread *tt)
{
	bool destroyed = atom32_load(&tt->engine.destroyed);
	bool over = destroyed && instance_is_quiet(tt);
	/* Before that, the driver may be counting in `given`. */
	bool last = over && tt->joiners == 0 &&
		    ((tt->runs.given - tt->runs.called) & TALLY_MAX) == 0;

	/*
	 * Else a thread that is in stop joins the timer thread.  As a rule that
	 * detaches itself: a thread that has ended, and is then detached, stays
	 * for DRD, which takes a later one with its pthread_t for it.
	 */
	if (destroyed && !tt->turning && tt->driver == DRIVER_THREAD &&
	    tt->life != LIFE_STOPPED && tt->joiners == 0) {
		tt->life = LIFE_STOPPED;
		pthread_detach(tt->thread);
	}
	/* A run that an executor still has must not keep a descriptor open. */
	if (over)
		sleeper_close(&tt->engine.wakeup.sleeper, false);
	/* Nobody waits before a stop, and a wake is a system call. */
	if (tt->life != LIFE_RUNNING)
		tell_change(tt);
	pthread_mutex_unlock(&tt->mutex);
	if (last)
		free_instance(tt, false);
}

/* With the mutex held, which it releases meanwhile.  The driver has ended. */
static void join_once(struct timerthread *tt)
{
	if (tt->runs.given > 0)
		tool_acquire(&tt->runs);
	if (!tt->joined) {
		tt->joined = true;
		pthread_mutex_unlock(&tt->mutex);
		if (tt->driver == DRIVER_THREAD)
			pthread_join(tt->thread, NULL);
		pthread_mutex_lock(&tt->mutex);
		tt->life = LIFE_STOPPED;
		tell_change(tt);
	}
	while (tt->life != LIFE_STOPPED)
		await_change(tt, INT64_MAX);
}

/*
 * As timerthread_stop_until, but the deadline is by CLOCK_MONOTONIC.  With the
 * mutex held, which it releases meanwhile.
 */
static int join_driver(struct timerthread *tt, int64_t deadline)
{
	int r = 0;

	tt->joiners++;
	while (!instance_is_quiet(tt) && clock_now(CLOCK_MONOTONIC) < deadline)
		await_change(tt, deadline);
	if (instance_is_quiet(tt))
		join_once(tt);
	else
		r = -ETIMEDOUT;
	tt->joiners--;
	return r;
}

static void request_stop(struct timerthread *tt)
{
	if (tt->life == LIFE_NEW) {
		tt->life = LIFE_STOPPED;
	} else if (tt->life == LIFE_RUNNING) {
		tt->life = LIFE_STOPPING;
		intake_set_open(tt->engine.intake, false);
		runs_close_running(&tt->runs);
		wakeup_stop(&tt->engine.wakeup);
	}
}

/*
 * For a loop that the program wakes.  With the mutex held, which it releases
 * meanwhile; a destroy waits for joiners.  False: in a child of fork(2), where
 * others may have the mutex.
 */
static bool tell_loop(struct timerthread *tt)
{
	tt->joiners++;
	pthread_mutex_unlock(&tt->mutex);
	if (instance_wake(tt, 0) < 0)
		return false;
	pthread_mutex_lock(&tt->mutex);
	tt->joiners--;
	return true;
}

/*
 * As timerthread_stop.  Takes the mutex, and holds it on return; but not after
 * -ECHILD: this is a child that was made meanwhile.
 */
static int stop(struct timerthread *tt, int64_t until)
{
	bool inside = instance_inside(tt, 0) || instance_owns_thread(tt);

	pthread_mutex_lock(&tt->mutex);
	request_stop(tt);
	if (tt->life != LIFE_STOPPING)
		return 0;
	if (tt->engine.wakeup.wake && !tell_loop(tt))
		return -ECHILD;
	if (inside)
		return 1;
	return join_driver(tt, until);
}

TT_EXPORT_RARE int timerthread_stop_until(struct timerthread *tt,
					  int64_t deadline)
{
	/* A thread that is cancelled here would leave a join half done, too. */
	KEEP_THREAD;
	int r = instance_check(tt, true);

	if (r < 0)
		return r;
	if (tt->options.is_default)
		return -EPERM;
	r = stop(tt, instance_steady_time(tt, deadline));
	if (r != -ECHILD)
		instance_leave(tt);
	return r;
}

TT_EXPORT_RARE int timerthread_stop(struct timerthread *tt)
{
	return timerthread_stop_until(tt, TIMERTHREAD_NEVER);
}

TT_EXPORT_RARE void timerthread_destroy(struct timerthread *tt)
{
	KEEP_THREAD;
	int r = -ECHILD;

	if (!tt || tt->options.is_default)
		return;
	if (!instance_inherited(tt))
		r = stop(tt, INT64_MAX);
	if (r == -ECHILD) {
		free_instance(tt, true);
		return;
	}
	while (r == 0 && tt->joiners > 0)
		await_change(tt, INT64_MAX);
	atom32_store(&tt->engine.destroyed, 1);
	runs_close_called(&tt->runs);
	instance_leave(tt);
}

TT_EXPORT_RARE int timerthread_get_pthread(struct timerthread *tt,
					   pthread_t *ret_thread)
{
	int r = instance_check(tt, ret_thread != NULL);

	if (r < 0)
		return r;
	pthread_mutex_lock(&tt->mutex);
	if (tt->life != LIFE_RUNNING)
		r = tt->life == LIFE_NEW ? -EINVAL : -ESHUTDOWN;
	else if (tt->driver == DRIVER_THREAD)
		*ret_thread = tt->thread;
	else
		r = -EINVAL;
	pthread_mutex_unlock(&tt->mutex);
	return r;
}
