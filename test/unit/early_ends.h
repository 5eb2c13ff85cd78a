/* SPDX-License-Identifier: MIT */
/*
 * Of each thread's waits for a change of tt, every other one ends at once, for
 * no reason.  A thread may set what it calls before each of the other waits for
 * a change, and what it calls after each wait for any word.
 *
 * Who includes this is linked with -Wl,--wrap=futex_wait_until: the linker puts
 * the function below in the place of that one.
 */
#pragma once

#include "fixture.h"
#include "wrapped_wait.h"

static __thread void (*before_wait)(void), (*after_wait)(void);

void __wrap_futex_wait_until(atom32 *word, uint32_t expected, clockid_t clock,
			     int64_t deadline)
{
	static __thread bool ends_early;

	/* The thread of one that was destroyed may be here, too. */
	if (word == &atomic_load(&published)->changes) {
		ck_assert_int_eq(clock, CLOCK_MONOTONIC);
		ends_early = !ends_early;
		if (ends_early)
			return;
		if (before_wait)
			before_wait();
	}
	__real_futex_wait_until(word, expected, clock, deadline);
	if (after_wait)
		after_wait();
}

static sem_t stop_sleeps, stop_goes_on; /* each test makes its own */

static void tell_that_stop_sleeps(void)
{
	sem_post(&stop_sleeps);
}

static void be_held_up(void)
{
	wait_for(&stop_goes_on);
	after_wait = NULL;
}

/*
 * A thread that tells of each of its sleeps in stop.  It is woken from the
 * first, and does not get the mutex before stop_goes_on.  Returns arg, or NULL
 * if stop has failed.
 */
static void *stop_late(void *arg)
{
	before_wait = tell_that_stop_sleeps;
	after_wait = be_held_up;
	return timerthread_stop(tt) == 0 ? arg : NULL;
}
