/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "api/driver.h"
#include "engine/reclaim.h"

#include <errno.h>

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
