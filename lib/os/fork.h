/* SPDX-License-Identifier: MIT */
/*
 * Telling a process from its parent.
 *
 * A child of fork(2) has the memory of its parent, and of its threads one.
 * What was started before belongs to another generation there.
 */
#ifndef TT_FORK_H
#define TT_FORK_H

#include "os/atomic.h"
#include "os/base.h"

/* Changes in the child, before fork(2) returns there; never 0. */
extern atom32 fork_number;

/* Must have returned 0 before it counts: 0 or -ENOMEM.  Any thread. */
int fork_watch(void);

static inline uint32_t fork_generation(void)
{
	return atom32_load(&fork_number);
}

#endif
