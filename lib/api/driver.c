/* SPDX-License-Identifier: MIT */
#include "api/driver.h"
#include "api/executor.h"
#include "base/keep.h"
#include "engine/reclaim.h"
#include "os/tool.h"

/* Sets what the engine takes from the options. */
static void set_options(struct timerthread *tt, const struct start *how)
{
	const struct options *o = &tt->options;
	struct engine *e = &tt->engine;

	/* A start that failed may have made it virtual. */
	e->watch = how->driver == DRIVER_VIRTUAL
			   ? WATCH_VIRTUAL(how->now)
			   : (struct watch){.clock = instance_clock(tt)};
	e->hand_over = o->submitting.fn ? executor_hand_over : NULL;
	e->task_id = o->task_id;
	e->slow = o->slow;
	e->dispatch_time = how->driver == DRIVER_POLLED ? o->dispatch_time : 0;
	e->cap.max = o->max_timers;
	e->wakeup.wake = how->driver == DRIVER_POLLED ? o->waking.fn : NULL;
	e->wakeup.wake_ctx = o->waking.ctx;
	e->wakeup.slack = o->slack;
	/* A loop does not.  A timer within the slack need not be on time. */
	e->wakeup.spin = how->driver == DRIVER_THREAD && o->spin > o->slack
				 ? o->spin - o->slack
				 : 0;
}

/*
 * With a virtual clock, the same calls should have the same results each time.
 * So there is one bucket: the bucket of a call depends on its CPU, and the
 * order of equal deadlines depends on the bucket.
 */
static int start_engine(struct timerthread *tt, const struct start *how)
{
	struct engine *e = &tt->engine;
	uint32_t n = how->driver == DRIVER_VIRTUAL ? 1 : tt->options.buckets;
	int r;

	set_options(tt, how);
	if (tt->options.submitting.fn && !runs_open(&tt->runs, n))
		return -ENOMEM;
	r = engine_open(e, n, how->driver == DRIVER_POLLED);
	if (r == 0 && !engine_reserve(e, tt->options.reserve))
		r = -ENOMEM;
	/* The descriptor is not readable until a timer is due. */
	if (r == 0 && how->driver == DRIVER_POLLED)
		wakeup_lie_down(&e->wakeup, INT64_MAX);
	if (r == 0 && how->begin)
		r = -how->begin(tt, how->arg);
	if (r == 0) {
		intake_set_open(e->intake, true);
	} else {
		engine_close(e, false);
		runs_free(&tt->runs);
	}
	return r;
}

static int start_new(struct timerthread *tt, const struct start *how)
{
	/* Before there is a thread that compares with it. */
	uint32_t born = fork_need_generation();
	int r = start_engine(tt, how);

	if (r < 0)
		return r;
	tt->driver = how->driver;
	tt->life = LIFE_RUNNING;
	instances_add(&tt->listed, tt);
	if (how->ret_fd)
		*how->ret_fd = tt->engine.wakeup.sleeper.fd;
	/* Release: pairs with the load in instance_lives. */
	atom32_store_release(&tt->engine.born, born);
	if (tt->engine.cap.max == 0 && !tool_here())
		atom32_store_release(&tt->engine.plain, born);
	return 0;
}

/* With the mutex held: no option changes any more. */
static int start_once(struct timerthread *tt, const struct start *how)
{
	/* A descriptor, or a function in its place. */
	if (how->driver == DRIVER_POLLED &&
	    !how->ret_fd != (tt->options.waking.fn != NULL))
		return -EINVAL;
	if (tt->life != LIFE_NEW)
		return tt->life == LIFE_RUNNING ? -EBUSY : -ESHUTDOWN;
	return start_new(tt, how);
}

int start_instance(struct timerthread *tt, bool valid, const struct start *how)
{
	KEEP_ERRNO;
	int r = instance_check(tt, valid);

	if (r < 0)
		return r;
	pthread_mutex_lock(&tt->mutex);
	r = start_once(tt, how);
	pthread_mutex_unlock(&tt->mutex);
	return r;
}

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

int driver_begin(struct timerthread *tt, enum driver driver, bool valid)
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
		wakeup_lie_down(&e->wakeup, e->next);
	}
	tt->turning = false;
	instance_leave(tt);
}
