/* SPDX-License-Identifier: MIT */
/*
 * Instances with a thread on one of the clocks, and how long that sleeps.
 */
#pragma once

#include "clocks.h"
#include "timers.h"

#include <sched.h>
#include <time.h>

#define S INT64_C(1000000000)

static inline void begin(clockid_t clock)
{
	setup();
	ck_assert_int_eq(timerthread_set_clock(tt, clock), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
}

static inline int64_t asleep_until(void)
{
	int64_t t;

	lock_acquire(&tt->engine.wakeup.lock);
	t = tt->engine.wakeup.sleep;
	lock_release(&tt->engine.wakeup.lock);
	return t;
}

static inline void wait_until_asleep(int64_t until)
{
	while (asleep_until() != until)
		sched_yield();
}
