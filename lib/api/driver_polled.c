/* SPDX-License-Identifier: MIT */
/*
 * The driver that is an event loop of the program.
 *
 * Each dispatch is a batch (see turn.h) up to the time at which it begins.
 */
#include "api/driver.h"
#include "base/keep.h"
#include "engine/turn.h"

TT_EXPORT int timerthread_start_polled(struct timerthread *tt, int *ret_fd)
{
	const struct start how = {.driver = DRIVER_POLLED, .ret_fd = ret_fd};

	return start_instance(tt, true, &how);
}

TT_EXPORT int timerthread_dispatch(struct timerthread *tt)
{
	int r = driver_begin(tt, DRIVER_POLLED, true);

	if (r < 0)
		return r;
	KEEP_THREAD_UNLESS(tt->engine.task_id.fn);
	wakeup_rise(&tt->engine.wakeup);
	if (!engine_turn(&tt->engine, instance_now(tt)))
		return -ECHILD;
	r = tt->engine.ran;
	driver_end(tt);
	return r;
}
