/* SPDX-License-Identifier: MIT */
/*
 * Tells race detectors what they cannot see by themselves.  These tools are
 *  - ThreadSanitizer, in a program that was built with it, if this library was
 *    not;
 *  - helgrind and DRD, which run everything, but do not understand atomic
 *    operations.
 *
 * They are told only two things:
 *  - what happens before what: the call that schedules a timer happens before
 *    the timer's callback, and a callback happens before another thread learns
 *    that it has ended;
 *  - which memory is the library's own: there they should not look for races.
 *
 * They are not told that two threads take the same lock in here.  A program
 * must not depend on that, and a race in the program would not be found.  (But
 * a thread that had an earlier timer in the same slot counts as having come
 * before, because what was said of an address cannot be taken back.)
 *
 * Guarantees:
 *  1. If there is no such tool, each of these is a load, of data that is not
 *     written once the library is loaded, and a branch.
 *  2. If the library itself is built with ThreadSanitizer, that sees
 *     everything, and nothing is done here.
 *
 * Any thread.
 */
#pragma once

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>

enum tool_event {
	/* What precedes a release happens before what follows the acquire. */
	TOOL_RELEASE,
	TOOL_ACQUIRE,
	TOOL_HIDE, /* memory that is the library's own, until it is freed */
	/* Calls of the C library between these two are not checked. */
	TOOL_IGNORE,
	TOOL_HEED,
};

/* p and size: those that the functions below have, or none. */
typedef void tool_fn(enum tool_event event, const volatile void *p,
		     size_t size);

/*
 * Tells the tool that is present; NULL: there is none.  Constant once the
 * library is loaded.
 */
INTERNAL tool_fn *tool_found;

static inline bool tool_here(void)
{
	return unlikely(tool_found != NULL);
}

static inline void tool_tell(enum tool_event event, const volatile void *p,
			     size_t size)
{
	if (tool_here())
		tool_found(event, p, size);
}

static inline void tool_release(const volatile void *p)
{
	tool_tell(TOOL_RELEASE, p, 0);
}

static inline void tool_acquire(const volatile void *p)
{
	tool_tell(TOOL_ACQUIRE, p, 0);
}

static inline void tool_hide(const volatile void *p, size_t size)
{
	tool_tell(TOOL_HIDE, p, size);
}
