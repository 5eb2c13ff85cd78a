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

TT_EXPORT int timerthread_start_polled(struct timerthread *tt, int *ret_fd)
{
	bool valid = tt && !ret_fd == (tt->options.waking.fn != NULL);
	const struct start how = {.driver = DRIVER_POLLED};
	int r = start_instance(tt, valid, &how);

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
