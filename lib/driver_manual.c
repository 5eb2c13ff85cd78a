/* SPDX-License-Identifier: MIT */
/*
 * The driver that is a test with a virtual clock.
 */
#include "config.h"

#include "base.h"
#include "clock.h"
#include "crank.h"
#include "start.h"
#include "turn.h"

#include <errno.h>
#include <stdlib.h>

TT_EXPORT int timerthread_start_manual(struct timerthread *tt, int64_t now)
{
	int saved_errno = errno;
	struct start how = {
		.driver = DRIVER_MANUAL,
	};
	int r = instance_check(tt, true);

	if (r < 0)
		return r;
	how.virtual = virtual_create(now);
	r = how.virtual ? start_instance(tt, &how) : -ENOMEM;
	if (r < 0)
		free(how.virtual);
	errno = saved_errno;
	return r;
}

static int advance(struct timerthread *tt, int64_t end)
{
	int ran;

	if (!crank(&tt->engine, end))
		return -ECHILD;
	if (!wakeup_stopping(&tt->wakeup))
		virtual_set(tt->virtual, end);
	ran = tt->engine.ran;
	turn_end(tt);
	return ran;
}

TT_EXPORT int timerthread_advance(struct timerthread *tt, int64_t ns)
{
	int saved_errno = errno;
	int r = turn_begin(tt, DRIVER_MANUAL, ns >= 0);

	if (r == 0) {
		r = advance(tt, clock_add(virtual_now(tt->virtual), ns));
		errno = saved_errno;
	}
	return r;
}
