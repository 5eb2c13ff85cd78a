/* SPDX-License-Identifier: MIT */
/*
 * Waits that end for no reason, as any may, go on here: for a test that counts
 * the ends of waits, or that looks at a thread while it waits.
 *
 * Who includes this is linked with $(whole_waits_ldflags).
 */
#pragma once

#include "wrapped_wait.h"

void __wrap_futex_wait_until(atom32 *word, uint32_t expected, clockid_t clock,
			     int64_t deadline)
{
	wait_whole(word, expected, clock, deadline);
}
