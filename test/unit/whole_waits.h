/* SPDX-License-Identifier: MIT */
/*
 * Waits that end for no reason, as any may, go on here: for a test that counts
 * the ends of waits, or that looks at a thread while it waits.
 *
 * Who includes this is linked with $(whole_waits_ldflags).
 */
#pragma once

#include "os/clock.h"
#include "os/futex.h"

void __real_futex_wait_until(atom32 *word, uint32_t expected, clockid_t clock,
			     int64_t deadline);
void __wrap_futex_wait_until(atom32 *word, uint32_t expected, clockid_t clock,
			     int64_t deadline);

void __wrap_futex_wait_until(atom32 *word, uint32_t expected, clockid_t clock,
			     int64_t deadline)
{
	do
		__real_futex_wait_until(word, expected, clock, deadline);
	while (atom32_load_acquire(word) == expected &&
	       clock_now(clock) < deadline);
}
