/* SPDX-License-Identifier: MIT */
/*
 * Telling a process from its parent.
 *
 * A child of fork(2) has its parent's memory, but only one of its threads.  In
 * the child, everything that was started before the fork belongs to another
 * generation.
 */
#ifndef TT_FORK_H
#define TT_FORK_H

#include "os/base.h"
#include "os/process.h"

/* Forks are counted once this has returned 0.  0 or -ENOMEM.  Any thread. */
int fork_watch(void);

/* Changes in the child before fork(2) returns there.  Never 0. */
static inline uint32_t fork_generation(void)
{
	return atom32_load(&process.generation);
}

#endif
