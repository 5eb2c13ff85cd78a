/* SPDX-License-Identifier: MIT */
/*
 * The drivers that are calls of the program: an event loop, and a test with a
 * virtual clock.
 *
 * Guarantees, also for the timer thread:
 *  1. From the beginning of a driver's work to its driver_end, no other turn
 *     begins, and the instance is not freed.
 *  2. A call that comes while a turn is ending waits for the end, and is not
 *     refused.
 */
#include "api/instance.h"
#include "base/keep.h"
#include "engine/reclaim.h"
#include "engine/turn.h"

#include <limits.h>

/* With the mutex held.  inside: the caller is a callback. */
static int check_driver(struct timerthread *tt, enum driver driver, bool inside)
{
	if (tt->life == LIFE_NEW)
		return -EINVAL;
	if (tt->driver != DRIVER_NONE && tt->driver != driver)
		return -EINVAL;
	if (tt->life != LIFE_RUNNING)
		return -ESHUTDOWN;
	return tt->turning || inside ? -EBUSY : 0;
}

/*
 * Returns 0 or an error.  -EINVAL: the instance has another driver, or none, or
 * an argument is not valid.  -ECHILD.  -ESHUTDOWN.  -EBUSY: another turn is
 * going on, or the caller is a callback.
 */
static int driver_begin(struct timerthread *tt, enum driver driver, bool valid)
{
	int r = instance_check(tt, valid);
	bool inside;

	if (r < 0)
		return r;
	inside = instance_inside(tt, 0);
	pthread_mutex_lock(&tt->mutex);
	r = check_driver(tt, driver, inside);
	if (r == 0)
		tt->turning = true;
	pthread_mutex_unlock(&tt->mutex);
	return r;
}

/*
 * The descriptor may become readable as soon as it is set.  It is set under the
 * mutex, so that a thread which comes for that is not refused.  Otherwise an
 * edge-triggered loop would wait for ever.
 */
void driver_end(struct timerthread *tt)
{
	struct engine *e = &tt->engine;

	pthread_mutex_lock(&tt->mutex);
	if (tt->driver == DRIVER_POLLED) {
		e->wakeup.by = reclaim_at(e);
		wakeup_begin_sleep(&e->wakeup, e->next);
	}
	tt->turning = false;
	instance_leave(tt);
}

/* A batch (see turn.h) up to the time at which it begins. */
TT_EXPORT int timerthread_dispatch(struct timerthread *tt)
{
	int r = driver_begin(tt, DRIVER_POLLED, true);

	if (r < 0)
		return r;
	KEEP_THREAD_UNLESS(tt->engine.task_id.fn);
	wakeup_end_sleep(&tt->engine.wakeup);
	if (!engine_turn(&tt->engine, instance_now(tt)))
		return -ECHILD;
	r = tt->engine.ran;
	driver_end(tt);
	return r;
}

/* Goes from one deadline to the next.  False: in a child of fork(2). */
static bool run_until(struct timerthread *tt, int64_t end, int *ran)
{
	struct engine *e = &tt->engine;
	int64_t next, now = watch_now(&e->watch);

	do {
		next = engine_next(e, end);
		now = next > now ? next : now;
		if (wakeup_stopping(&e->wakeup))
			break;
		watch_set(&e->watch, now);
		if (!engine_turn(e, now))
			return false;
		*ran += e->ran < INT_MAX - *ran ? e->ran : INT_MAX - *ran;
	} while (e->ran > 0 || now < end || e->again);
	return true;
}

TT_EXPORT int timerthread_advance(struct timerthread *tt, int64_t ns)
{
	int r = driver_begin(tt, DRIVER_VIRTUAL, ns >= 0), ran = 0;

	if (r < 0)
		return r;
	KEEP_THREAD_UNLESS(tt->engine.task_id.fn);
	ns = clock_add(watch_now(&tt->engine.watch), ns);
	if (!run_until(tt, ns, &ran))
		return -ECHILD;
	driver_end(tt);
	return ran;
}
