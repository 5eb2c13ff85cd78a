/* SPDX-License-Identifier: MIT */
/*
 * The data of the process that each call reads.  It is in one cache line, which
 * is never written while there are several threads.
 */
#ifndef TT_PROCESS_H
#define TT_PROCESS_H

#include "os/atomic.h"

struct tool;

struct process {
	/* See fork.h. */
	atom32 generation;
	/* See tool.h; constant once the library is loaded. */
	const struct tool *tool;
} __attribute__((aligned(16)));

extern struct process process;

#endif
