/* SPDX-License-Identifier: MIT */
/*
 * For a test that takes the place of futex_wait_until: the linker, with
 * $(whole_waits_ldflags), calls __wrap_futex_wait_until instead.
 */
#pragma once

#include "os/clock.h"
#include "os/futex.h"

void __real_futex_wait_until(atom32 *word, uint32_t expected, clockid_t clock,
			     int64_t deadline);
void __wrap_futex_wait_until(atom32 *word, uint32_t expected, clockid_t clock,
			     int64_t deadline);

/* A wait that ends for no reason, as any may, goes on. */
static inline void wait_whole(atom32 *word, uint32_t expected, clockid_t clock,
			      int64_t deadline)
{
	do
		__real_futex_wait_until(word, expected, clock, deadline);
	while (atom32_load_acquire(word) == expected &&
	       clock_now(clock) < deadline);
}
