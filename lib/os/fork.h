/* SPDX-License-Identifier: MIT */
/*
 * Telling a process from its parent.
 *
 * A child of fork(2) has the memory of its parent, and of its threads one.
 * What was started before belongs to another generation there.
 */
#ifndef TT_FORK_H
#define TT_FORK_H

#include "os/base.h"
#include "os/process.h"

/* Must have returned 0 before it counts: 0 or -ENOMEM.  Any thread. */
int fork_watch(void);

/* Changes in the child, before fork(2) returns there; never 0. */
static inline uint32_t fork_generation(void)
{
	return atom32_load(&process.generation);
}

#endif
