/* SPDX-License-Identifier: MIT */
/*
 * The options: what may be set between create and start.
 */
#include "config.h"

#include "base.h"
#include "instance.h"

#include <errno.h>
#include <string.h>

TT_EXPORT int timerthread_set_name(struct timerthread *tt, const char *name)
{
	size_t length = name ? strnlen(name, THREAD_NAME_SIZE) : 0;
	int r = -EBUSY;

	if (!tt || length == 0 || length == THREAD_NAME_SIZE)
		return -EINVAL;
	pthread_mutex_lock(&tt->mutex);
	if (tt->life == LIFE_NEW) {
		memcpy(tt->name, name, length + 1);
		r = 0;
	}
	pthread_mutex_unlock(&tt->mutex);
	return r;
}

TT_EXPORT int timerthread_set_buckets(struct timerthread *tt, unsigned n)
{
	int r = -EBUSY;

	if (!tt || n < 1 || n > INTAKE_MAX_BUCKETS)
		return -EINVAL;
	pthread_mutex_lock(&tt->mutex);
	if (tt->life == LIFE_NEW) {
		tt->buckets = n;
		r = 0;
	}
	pthread_mutex_unlock(&tt->mutex);
	return r;
}
