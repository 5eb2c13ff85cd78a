/* SPDX-License-Identifier: MIT */
/*
 * What a call leaves as it was in its caller's thread: errno, and cancellation.
 *
 * KEEP_ERRNO and KEEP_THREAD hold from where they stand to the end of the
 * function.  Then errno is as it was there.  After KEEP_THREAD the thread
 * cannot be cancelled meanwhile, unless a function of the program permits that.
 *
 * So a public function that may change errno has KEEP_ERRNO, and one that may
 * call the program, or waits, KEEP_THREAD.  Those that are called most have
 * neither, to save the time.  There, what they call in rare cases does it:
 * futex_*, sleeper_set and sleeper_wake, arrival_grow, report.  All else in
 * base and os may change errno.
 */
#pragma once

#include "base/base.h"

#include <errno.h>
#include <stdbool.h>

struct kept {
	int error;
	int cancel_state;
	bool cancel; /* there was a cancel_state to keep */
};

INTERNAL struct kept keep_begin(bool cancel);
INTERNAL void keep_end(const struct kept *k);

/*
 * The condition: a callback may end on another thread.  Then neither thread's
 * cancellation is changed, because the first one could not get back what it
 * had; the second one's errno is set.
 */
#define KEEP_THREAD_UNLESS(moves)                                              \
	__attribute__((cleanup(keep_end), unused)) const struct kept kept =    \
		keep_begin(!(moves))
#define KEEP_THREAD KEEP_THREAD_UNLESS(false)
#define KEEP_ERRNO  KEEP_THREAD_UNLESS(true)
