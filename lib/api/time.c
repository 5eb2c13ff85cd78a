/* SPDX-License-Identifier: MIT */
/*
 * The time, as a program sees it, and when the next timer is due.
 */
#include "api/instance.h"
#include "base/keep.h"
#include "engine/turn.h"

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
	int64_t sec = clock_add(tv_sec, tv_nsec / NS_PER_S);
	int64_t rest = tv_nsec % NS_PER_S, t;

	/* With the same sign, the product overflows only if the sum does. */
	if (sec > 0 && rest < 0) {
		sec--;
		rest += NS_PER_S;
	} else if (sec < 0 && rest > 0) {
		sec++;
		rest -= NS_PER_S;
	}
	if (__builtin_mul_overflow(sec, (int64_t)NS_PER_S, &t))
		return sec > 0 ? INT64_MAX : INT64_MIN;
	return clock_add(t, rest);
}

/* The number in this range that can be divided by the largest power of two. */
TT_EXPORT int64_t timerthread_round(int64_t deadline, int64_t slack)
{
	int64_t last = clock_add(deadline, clock_later(slack, 0)), low;

	if (deadline == INT64_MIN || deadline == TIMERTHREAD_NEVER)
		return deadline;
	/* Below the highest bit in which the time before the range differs. */
	low = INT64_MAX >> __builtin_clzll((uint64_t)((deadline - 1) ^ last));
	return last & ~low;
}

/*
 * When the next timer is due, for a caller that sleeps until then.
 *
 * On a virtual clock, the result is the deadline of a pending timer.  There the
 * test is the driver, so the caller may look as the driver does, under the
 * mutex, while the driver is not in a turn.  On other clocks, the result is
 * what the driver and the buckets have announced, which needs only the
 * wake-up's lock.
 *
 * INT64_MIN: the driver is awake, or in a turn.
 */
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
