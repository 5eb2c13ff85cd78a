/* SPDX-License-Identifier: MIT */
/*
 * The futex system call, in the three forms used here.  errno is preserved.
 */
#ifndef TT_FUTEX_H
#define TT_FUTEX_H

#include "os/atomic.h"
#include "os/base.h"

#include <stdbool.h>
#include <time.h>

/*
 * False: the kernel or a system call filter refuses the call, and the functions
 * below would return immediately.
 */
bool futex_works(void);

/*
 * Sleeps while *word equals expected: until it is woken, or until the absolute
 * time deadline on CLOCK_MONOTONIC or CLOCK_REALTIME.  INT64_MAX: until it is
 * woken.  May return early for no reason.
 */
void futex_wait_until(atom32 *word, uint32_t expected, clockid_t clock,
		      int64_t deadline);

/* The same, for at most ns nanoseconds. */
void futex_wait_for(atom32 *word, uint32_t expected, long ns);

/* Wakes up to n threads that sleep on word, which may be gone by now. */
void futex_wake(atom32 *word, int n);

#endif
