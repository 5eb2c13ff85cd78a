/* SPDX-License-Identifier: MIT */
/*
 * The calls on timers: check the arguments, find the part, call it.
 */
#include "config.h"

#include "base.h"
#include "clock.h"
#include "instance.h"

#include <errno.h>

/*
 * Why an instance had no intake: never started, or stopped before it was.  0:
 * it was just being started, and has one now.
 */
static TT_NOINLINE int why_no_intake(struct timerthread *tt)
{
	int r = 0;

	pthread_mutex_lock(&tt->mutex);
	if (!instance_intake(tt))
		r = tt->life == LIFE_NEW ? -EINVAL : -ESHUTDOWN;
	pthread_mutex_unlock(&tt->mutex);
	return r;
}

TT_EXPORT int timerthread_schedule(struct timerthread *tt, int64_t deadline,
				   timerthread_fn *fn, void *arg,
				   timerthread_id *ret_id)
{
	struct intake *in;
	int r;

	if (unlikely(!tt || !fn))
		return -EINVAL;
	in = instance_intake(tt);
	if (unlikely(!in)) {
		r = why_no_intake(tt);
		if (r < 0)
			return r;
		in = instance_intake(tt);
	}
	return bucket_schedule(intake_pick(in), &tt->wakeup, deadline, fn, arg,
			       ret_id);
}

TT_EXPORT int timerthread_schedule_after(struct timerthread *tt, int64_t delay,
					 timerthread_fn *fn, void *arg,
					 timerthread_id *ret_id)
{
	int64_t deadline = clock_add(clock_now(), delay);

	return timerthread_schedule(tt, deadline, fn, arg, ret_id);
}

TT_EXPORT int timerthread_cancel(struct timerthread *tt, timerthread_id id)
{
	struct intake *in;
	struct slot *s;

	if (unlikely(!tt))
		return -EINVAL;
	in = instance_intake(tt);
	s = likely(in != NULL) ? intake_slot(in, id) : NULL;
	return likely(s != NULL) ? slot_cancel(s, id) : -ENOENT;
}

TT_EXPORT int64_t timerthread_now(const struct timerthread *tt)
{
	return tt ? clock_now() : -EINVAL;
}

TT_EXPORT const char *timerthread_version(void)
{
	return PACKAGE_VERSION;
}
