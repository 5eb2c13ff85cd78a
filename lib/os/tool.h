/* SPDX-License-Identifier: MIT */
/*
 * Telling tools that look for races what they cannot see: ThreadSanitizer, in a
 * program that was built with it, where this library was not; helgrind and DRD,
 * which run everything, but know no atomic operations.
 *
 * They learn two things.  First, what happens before what: the call that
 * schedules a timer before its callback, a callback before a thread that learns
 * that it is over.  Second, which memory is the library's own, where they
 * should not look for races.  Nothing else.  They do not learn that two threads
 * take the same lock in here, because a program must not depend on that, and a
 * race in it would not be found.  (But a thread that had a timer in the same
 * slot before counts as having come before: what was said of an address cannot
 * be taken back.)
 *
 * Guarantees:
 *  1. Where there is no such tool each of these is a load, of what the call
 *     has read before, and a branch.
 *  2. Where the library itself is built with ThreadSanitizer, that sees all,
 *     and nothing is done here.
 *
 * Any thread.
 */
#ifndef TT_TOOL_H
#define TT_TOOL_H

#include "os/base.h"
#include "os/process.h"

#include <stddef.h>

struct tool {
	/* What is before the first comes before what is after the other. */
	void (*release)(const volatile void *p);
	void (*acquire)(const volatile void *p);
	/* Memory that is the library's own, until it is freed. */
	void (*hide)(const volatile void *p, size_t size);
	/* No calls of the C library's between the two are looked at. */
	void (*ignore)(void);
	void (*heed)(void);
};

/* The tool that is here, or NULL. */
static inline const struct tool *tool_here(void)
{
	return process.tool;
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

/* Those that may be here; NULL: it is not. */
const struct tool *tool_tsan(void);
const struct tool *tool_valgrind(void);

#endif
