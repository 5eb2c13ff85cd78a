/* SPDX-License-Identifier: MIT */
/*
 * When the next timer is due, for a caller that sleeps until then.
 *
 * On a virtual clock, the result is the deadline of a pending timer.  There the
 * test is the driver, so the caller may look as the driver does, under the
 * mutex, while the driver is not in a turn.  On other clocks, the result is
 * what the driver and the buckets have announced, which needs only the
 * wake-up's lock.
 */
#include "config.h"

#include "api/instance.h"
#include "base/base.h"
#include "base/keep.h"
#include "engine/turn.h"

/* INT64_MIN: the driver is awake, or in a turn. */
static int64_t next_deadline(struct timerthread *tt)
{
	int64_t t = INT64_MIN;

	if (tt->driver != DRIVER_VIRTUAL)
		return wakeup_next(&tt->engine.wakeup);
	pthread_mutex_lock(&tt->mutex);
	if (!tt->turning && tt->life == LIFE_RUNNING)
		t = engine_next(&tt->engine, INT64_MAX);
	pthread_mutex_unlock(&tt->mutex);
	return t;
}

TT_EXPORT_RARE int timerthread_get_next_deadline(struct timerthread *tt,
						 int64_t *ret_deadline)
{
	KEEP_ERRNO;
	int64_t t;
	int r = tt && ret_deadline ? instance_started(tt)
				   : instance_check(tt, false);

	if (r < 0)
		return r;
	t = next_deadline(tt);
	/* Only now: a stop before that need not have woken the loop again. */
	if (wakeup_stopping(&tt->engine.wakeup))
		return -ESHUTDOWN;
	*ret_deadline = clock_later(t, instance_now(tt));
	return 0;
}
