/* SPDX-License-Identifier: MIT */
/*
 * The driver that is a test, with a virtual clock.
 */
#include "config.h"

#include "api/driver.h"
#include "api/start.h"
#include "engine/turn.h"
#include "os/base.h"
#include "os/clock.h"

#include <errno.h>

TT_EXPORT int timerthread_start_manual(struct timerthread *tt, int64_t now)
{
	int r = instance_check(tt, true);

	if (r < 0)
		return r;
	return start_instance(tt, &(struct start){
					  .driver = DRIVER_MANUAL,
					  .now = now,
				  });
}

static int advance(struct timerthread *tt, int64_t end)
{
	int ran;

	if (!engine_turn(&tt->engine, end))
		return -ECHILD;
	if (!wakeup_stopping(&tt->engine.wakeup))
		virtual_set(tt->engine.virtual, end);
	ran = tt->engine.ran;
	driver_end(tt);
	return ran;
}

TT_EXPORT int timerthread_advance(struct timerthread *tt, int64_t ns)
{
	int saved_errno = errno;
	int r = driver_begin(tt, DRIVER_MANUAL, ns >= 0);

	if (r == 0) {
		r = advance(tt, clock_add(virtual_now(tt->engine.virtual), ns));
		errno = saved_errno;
	}
	return r;
}
