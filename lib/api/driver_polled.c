/* SPDX-License-Identifier: MIT */
/*
 * The driver that is an event loop of the program.
 *
 * Each dispatch is a batch (see turn.h) up to the time at which it begins.
 */
#include "config.h"

#include "api/driver.h"
#include "api/start.h"
#include "engine/turn.h"
#include "os/base.h"
#include "os/errno.h"

/* The descriptor is not readable until a timer is due. */
static int begin_polled(struct timerthread *tt, void *arg)
{
	(void)arg;
	wakeup_lie_down(&tt->engine.wakeup, INT64_MAX);
	return 0;
}

TT_EXPORT int timerthread_start_polled(struct timerthread *tt, int *ret_fd)
{
	bool valid = tt && !ret_fd == (tt->options.waking.fn != NULL);
	int r = start_instance(tt, valid,
			       &(struct start){
				       .driver = DRIVER_POLLED,
				       .begin = begin_polled,
			       });

	if (r == 0 && ret_fd)
		*ret_fd = tt->engine.wakeup.sleeper.fd;
	return r;
}

TT_EXPORT int timerthread_dispatch(struct timerthread *tt)
{
	KEEP_ERRNO;
	int r = driver_begin(tt, DRIVER_POLLED, true);

	if (r < 0)
		return r;
	wakeup_rise(&tt->engine.wakeup);
	if (!engine_turn(&tt->engine, instance_now(tt)))
		return -ECHILD;
	r = tt->engine.ran;
	driver_end(tt);
	return r;
}
