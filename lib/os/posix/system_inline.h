/* SPDX-License-Identifier: MIT */
/*
 * See system.h.  POSIX does not tell a thread its CPU.  So each thread gets a
 * number when it first asks, one after the other: as long as there are no more
 * threads than CPUs, no two have the same place.
 */
#pragma once

#include "base/base.h"

/* No page is wiped in children; this keeps the lock there apart. */
#define SYSTEM_PAGE_SIZE TT_FAR_APART

/* The caller's number, from 1; 0: it has none yet. */
INTERNAL TT_THREAD_LOCAL int system_thread;

INTERNAL int system_number_thread(void);

static inline int system_cpu(void)
{
	int number = system_thread;

	return likely(number != 0) ? number : system_number_thread();
}
