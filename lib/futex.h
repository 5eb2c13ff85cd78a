/* SPDX-License-Identifier: MIT */
/*
 * The futex system call, in the three forms used here.  errno is preserved.
 */
#ifndef TT_FUTEX_H
#define TT_FUTEX_H

#include "atomic.h"
#include "base.h"

/*
 * 0, or why the kernel, or a filter in front of it, refuses the call: then
 * those below would return at once.
 */
int futex_probe(void);

/*
 * Sleeps while *word is expected, until woken or until the absolute time
 * deadline on CLOCK_MONOTONIC; INT64_MAX: until woken.  May return early for
 * no reason.
 */
void futex_wait_until(atom32 *word, uint32_t expected, int64_t deadline);

/* The same for at most ns nanoseconds. */
void futex_wait_for(atom32 *word, uint32_t expected, long ns);

/* Wakes one thread that sleeps on word. */
void futex_wake_one(atom32 *word);

#endif
