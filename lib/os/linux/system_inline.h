/* SPDX-License-Identifier: MIT */
/*
 * See system.h.
 */
#pragma once

#include <sched.h>

/* The largest page of such a machine: a multiple of all that it may have. */
#if defined(__x86_64__) || defined(__i386__)
#define SYSTEM_PAGE_SIZE 4096
#else
#define SYSTEM_PAGE_SIZE 65536
#endif

static inline int system_cpu(void)
{
	return sched_getcpu();
}
