/* SPDX-License-Identifier: MIT */
/*
 * Telling a process from its parent.
 *
 * A child of fork(2) has its parent's memory, but only one of its threads.  In
 * the child, everything that was started before the fork belongs to another
 * generation.
 *
 * Guarantees:
 *  1. A process never has the generation of a parent, or of a parent's parent.
 *  2. From Linux 4.14 on, the kernel makes the page of the generation a page of
 *     zeros in each child, also in that of a _Fork(3) or a clone(2).  So there
 *     is no moment in a child at which it has its parent's generation.
 *  3. On other systems, a child of fork(3) has a generation of its own from
 *     when our handler has run there.
 *
 * A child that shares the memory of its parent has the same generation.
 *
 * Any thread.
 */
#pragma once

#include "os/lock.h"
#include "os/system.h"

/* Never a generation, nor 0. */
#define FORK_NO_GENERATION UINT32_MAX

/* Nothing else is in the page, which holds zeros when a process begins. */
struct fork_page {
	atom32 generation;
	/* For api/instances.c: in a child, no thread holds it. */
	struct lock lock __attribute__((aligned(TT_FAR_APART)));
} __attribute__((aligned(SYSTEM_PAGE_SIZE)));

INTERNAL struct fork_page fork_page;

/* Forks are noticed once this has returned 0.  0 or -ENOMEM. */
INTERNAL int fork_watch(void);

/* 0: this process has none yet, so it has started nothing. */
static inline uint32_t fork_generation(void)
{
	return atom32_load(&fork_page.generation);
}

/* The same, but makes one if there is none.  Never 0. */
INTERNAL uint32_t fork_need_generation(void);
