/* SPDX-License-Identifier: MIT */
/*
 * A futex: a word on which threads wait.  It needs nothing but the word, and
 * nothing stays when nobody waits.
 *
 * Guarantees:
 *  1. A wake that follows a change of the word ends a wait for the old value,
 *     even if the wake comes before the wait.
 *  2. errno is preserved.  No call is a point of cancellation.
 *
 * Any thread, in a child of fork(2) too.
 */
#pragma once

#include "base/atomic.h"
#include "base/base.h"

#include <time.h>

/*
 * False: the system refuses, and the functions below would return immediately.
 */
INTERNAL bool futex_works(void);

/*
 * Sleeps while *word equals expected: until it is woken, or until the absolute
 * time deadline on the clock.  INT64_MAX: until it is woken.  May return early
 * for no reason.  The futex system call knows CLOCK_MONOTONIC and
 * CLOCK_REALTIME alone.
 */
INTERNAL void futex_wait_until(atom32 *word, uint32_t expected, clockid_t clock,
			       int64_t deadline);

/* The same, for at most ns nanoseconds. */
INTERNAL void futex_wait_for(atom32 *word, uint32_t expected, long ns);

/* Wakes up to n threads that sleep on word, which may be gone by now. */
INTERNAL void futex_wake(atom32 *word, int n);
