/* SPDX-License-Identifier: MIT */
/*
 * The start of an instance, with one of the three drivers.  A start that fails
 * leaves the instance as it was.
 */
#include "api/instance.h"
#include "base/keep.h"
#include "os/tool.h"

struct start {
	enum driver driver;
	const pthread_attr_t *attr; /* of the thread, if there is one */
	int *ret_fd; /* polled: where the descriptor is stored; or NULL */
	int64_t now; /* what the virtual clock shows, if there is one */
};

/* Sets what of the engine depends on the driver, too. */
static void set_options(struct timerthread *tt, const struct start *how)
{
	const struct options *o = &tt->options;
	struct engine *e = &tt->engine;

	/* A start that failed may have made it virtual. */
	e->watch = how->driver == DRIVER_VIRTUAL
			   ? WATCH_VIRTUAL(how->now)
			   : (struct watch){.clock = instance_clock(tt)};
	e->reclaim.if_told = how->driver == DRIVER_VIRTUAL;
	e->hand_over = o->submitting.fn ? executor_hand_over : NULL;
	e->dispatch_time = how->driver == DRIVER_POLLED ? o->dispatch_time : 0;
	e->wakeup.wake = how->driver == DRIVER_POLLED ? o->waking.fn : NULL;
	e->wakeup.wake_ctx = o->waking.ctx;
	/* A loop does not.  A timer within the slack need not be on time. */
	e->wakeup.spin =
		how->driver == DRIVER_THREAD && o->spin > e->wakeup.slack
			? o->spin - e->wakeup.slack
			: 0;
}

/*
 * With a virtual clock, the same calls should have the same results each time,
 * also the order of equal deadlines.  So there is one bucket: the bucket of a
 * call depends on its CPU.  And no round of reclaiming begins because time has
 * passed: it may put entries back in another order.
 */
static int start_engine(struct timerthread *tt, const struct start *how)
{
	struct engine *e = &tt->engine;
	uint32_t n = how->driver == DRIVER_VIRTUAL ? 1 : tt->options.buckets;
	int r;

	set_options(tt, how);
	if (tt->options.submitting.fn && !runs_open(&tt->runs, n))
		return -ENOMEM;
	r = engine_open(e, n, tt->options.reserve,
			how->driver == DRIVER_POLLED);
	/* The descriptor is not readable until a timer is due. */
	if (r == 0 && how->driver == DRIVER_POLLED)
		wakeup_begin_sleep(&e->wakeup, INT64_MAX);
	if (r == 0 && how->driver == DRIVER_THREAD)
		r = -driver_begin_thread(tt, how->attr);
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
	uint32_t generation = fork_need_generation();
	int r = start_engine(tt, how);

	if (r < 0)
		return r;
	tt->driver = how->driver;
	tt->life = LIFE_RUNNING;
	instances_add(&tt->listed, tt);
	if (how->ret_fd)
		*how->ret_fd = tt->engine.wakeup.sleeper.fd;
	/* Release: pairs with the load in instance_lives. */
	atom32_store_release(&tt->engine.started_by, generation);
	if (tt->engine.cap.max == 0 && !tool_here())
		atom32_store_release(&tt->engine.short_way, generation);
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

/* valid: the call's other arguments are. */
static int start(struct timerthread *tt, bool valid, const struct start *how)
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

static bool joinable(const pthread_attr_t *attr)
{
	int state;

	return !attr || (pthread_attr_getdetachstate(attr, &state) == 0 &&
			 state == PTHREAD_CREATE_JOINABLE);
}

TT_EXPORT_RARE int timerthread_start(struct timerthread *tt,
				     const pthread_attr_t *attr)
{
	const struct start how = {.driver = DRIVER_THREAD, .attr = attr};

	return start(tt, joinable(attr), &how);
}

TT_EXPORT_RARE int timerthread_start_polled(struct timerthread *tt, int *ret_fd)
{
	const struct start how = {.driver = DRIVER_POLLED, .ret_fd = ret_fd};

	return start(tt, true, &how);
}

TT_EXPORT_RARE int timerthread_start_virtual(struct timerthread *tt,
					     int64_t now)
{
	const struct start how = {.driver = DRIVER_VIRTUAL, .now = now};

	return start(tt, true, &how);
}
