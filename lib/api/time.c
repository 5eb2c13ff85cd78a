/* SPDX-License-Identifier: MIT */
/*
 * The time, as a program sees it.
 */
#include "config.h"

#include "api/instance.h"
#include "base/base.h"
#include "os/clock.h"

TT_EXPORT int64_t timerthread_now(const struct timerthread *tt)
{
	if (!tt)
		return clock_now(CLOCK_MONOTONIC);
	/* It stands still.  A thread that is not here may hold its lock. */
	if (instance_inherited(tt) && tt->engine.watch.is_virtual)
		return tt->engine.watch.shown;
	return instance_now(tt);
}

TT_EXPORT int64_t timerthread_from_timespec(int64_t tv_sec, int64_t tv_nsec)
{
	return clock_from_timespec(tv_sec, tv_nsec);
}

/* The number in this range that can be divided by the largest power of two. */
TT_EXPORT int64_t timerthread_round(int64_t deadline, int64_t slack)
{
	int64_t last = clock_add(deadline, clock_later(slack, 0)), low;

	if (deadline == INT64_MIN || deadline == TIMERTHREAD_NEVER)
		return deadline;
	last -= last == TIMERTHREAD_NEVER;
	/* Below the highest bit in which the time before the range differs. */
	low = INT64_MAX >> __builtin_clzll((uint64_t)((deadline - 1) ^ last));
	return last & ~low;
}
