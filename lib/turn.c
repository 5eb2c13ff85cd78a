/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "inside.h"
#include "turn.h"

#include <errno.h>

/* With the mutex held. */
static int check(const struct timerthread *tt, enum driver driver)
{
	if (tt->life == LIFE_NEW)
		return -EINVAL;
	if (tt->driver != DRIVER_NONE && tt->driver != driver)
		return -EINVAL;
	if (tt->life != LIFE_RUNNING)
		return -ESHUTDOWN;
	return tt->turning || inside_instance(tt) ? -EBUSY : 0;
}

int turn_begin(struct timerthread *tt, enum driver driver, bool valid)
{
	int r = instance_check(tt, valid);

	if (r < 0)
		return r;
	pthread_mutex_lock(&tt->mutex);
	r = check(tt, driver);
	if (r == 0) {
		tt->turning = true;
		tt->refused = false;
	} else if (r == -EBUSY) {
		tt->refused = true;
	}
	pthread_mutex_unlock(&tt->mutex);
	return r;
}

bool turn_end(struct timerthread *tt)
{
	bool ends;

	pthread_mutex_lock(&tt->mutex);
	ends = !tt->refused;
	tt->refused = false;
	if (ends) {
		tt->turning = false;
		instance_leave(tt);
	} else {
		pthread_mutex_unlock(&tt->mutex);
	}
	return ends;
}
