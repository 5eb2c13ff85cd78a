/* SPDX-License-Identifier: MIT */
/*
 * CPUs: how many there may be, and which one this is.
 *
 * Any thread.
 */
#ifndef TT_CPU_H
#define TT_CPU_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

/* Does cpu_current work here? */
static inline bool cpu_is_known(void)
{
	return sched_getcpu() >= 0;
}

/* The CPU that the caller ran on a moment ago, from 0. */
static inline uint32_t cpu_current(void)
{
	return (uint32_t)sched_getcpu();
}

/* How many CPUs the machine may have; 1 or more. */
static inline long cpu_count(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	return n < 1 ? 1 : n;
}

#endif
