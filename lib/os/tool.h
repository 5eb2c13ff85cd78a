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

#include <stddef.h>

struct tool {
	/* What precedes a release happens before what follows the acquire. */
	void (*release)(const volatile void *p);
	void (*acquire)(const volatile void *p);
	/* Memory that is the library's own, until it is freed. */
	void (*hide)(const volatile void *p, size_t size);
	/* Calls of the C library between these two are not checked. */
	void (*ignore)(void);
	void (*heed)(void);
};

/* Constant once the library is loaded.  Hidden: as fork_page. */
extern const struct tool *tool_found __attribute__((visibility("hidden")));

/* The tool that is present, or NULL. */
static inline const struct tool *tool_here(void)
{
	return tool_found;
}

static inline void tool_release(const volatile void *p)
{
	if (unlikely(tool_here() != NULL))
		tool_here()->release(p);
}

static inline void tool_acquire(const volatile void *p)
{
	if (unlikely(tool_here() != NULL))
		tool_here()->acquire(p);
}

static inline void tool_hide(const volatile void *p, size_t size)
{
	if (unlikely(tool_here() != NULL))
		tool_here()->hide(p, size);
}

static inline void tool_ignore(void)
{
	if (unlikely(tool_here() != NULL))
		tool_here()->ignore();
}

static inline void tool_heed(void)
{
	if (unlikely(tool_here() != NULL))
		tool_here()->heed();
}
