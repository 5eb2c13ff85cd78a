/* SPDX-License-Identifier: MIT */
/*
 * The time, as a program sees it.
 */
#include "config.h"

#include "api/instance.h"
#include "os/base.h"
#include "os/clock.h"

/*
 * An instance that a parent has started has a clock, too.  A virtual clock
 * stands still, and its lock may be held by a thread that does not exist here.
 */
static int64_t inherited_now(const struct timerthread *tt)
{
	const struct watch *w = &tt->engine.watch;

	return w->is_virtual ? w->shown : clock_now(w->clock);
}

TT_EXPORT int64_t timerthread_now(const struct timerthread *tt)
{
	if (!tt)
		return clock_now(CLOCK_MONOTONIC);
	return instance_inherited(tt) ? inherited_now(tt) : instance_now(tt);
}

TT_EXPORT int64_t timerthread_from_timespec(int64_t tv_sec, int64_t tv_nsec)
{
	return clock_from_timespec(tv_sec, tv_nsec);
}
