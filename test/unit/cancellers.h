/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait in timerthread_cancel_wait.  Each has cancelled its timer,
 * and sleeps, or is about to: one that was counted before that could find the
 * callback over.
 *
 * Who includes this is linked with $(whole_waits_ldflags).
 */
#pragma once

#include "fixture.h"
#include "wrapped_wait.h"

static atom32 cancellers;

void __wrap_futex_wait_until(atom32 *word, uint32_t expected, clockid_t clock,
			     int64_t deadline)
{
	const atom32 *ends = atomic_load(&published)->engine.await.ends;
	bool waits = word >= ends && word < ends + AWAIT_WORDS;

	atom32_add(&cancellers, waits ? 1 : 0);
	wait_whole(word, expected, clock, deadline);
	atom32_add(&cancellers, waits ? UINT32_MAX : 0);
}

/* Until there are so many. */
static inline void wait_for_cancellers(unsigned n)
{
	while (atom32_load(&cancellers) < n)
		sched_yield();
}
