/* SPDX-License-Identifier: MIT */
/*
 * The driver that is an event loop of the user's.
 *
 * Each dispatch is a batch (see crank.h) up to the time at which it begins.
 */
#include "config.h"

#include "base.h"
#include "crank.h"
#include "start.h"
#include "turn.h"

#include <errno.h>

/* The descriptor is out of the loop, and not readable, until a timer is due. */
static int begin(struct timerthread *tt, void *arg)
{
	(void)arg;
	wakeup_rest(&tt->wakeup, INT64_MAX);
	return 0;
}

TT_EXPORT int timerthread_start_polled(struct timerthread *tt, int *ret_fd)
{
	int r = instance_check(tt, ret_fd != NULL);

	if (r < 0)
		return r;
	r = start_instance(tt, &(struct start){
				       .driver = DRIVER_POLLED,
				       .begin = begin,
			       });
	if (r == 0)
		*ret_fd = tt->wakeup.sleeper.fd;
	return r;
}

static int dispatch(struct timerthread *tt)
{
	int ran;

	wakeup_rise(&tt->wakeup);
	if (!crank(&tt->engine, instance_now(tt)))
		return -ECHILD;
	ran = tt->engine.ran;
	turn_end(tt);
	return ran;
}

TT_EXPORT int timerthread_dispatch(struct timerthread *tt)
{
	int saved_errno = errno;
	int r = turn_begin(tt, DRIVER_POLLED, true);

	if (r == 0) {
		r = dispatch(tt);
		errno = saved_errno;
	}
	return r;
}
