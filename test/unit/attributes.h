/* SPDX-License-Identifier: MIT */
/*
 * Attributes of threads that not every C library has.
 */
#pragma once

#include "harness.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>

#ifdef __linux__

/* False: there is no such attribute here. */
static inline bool set_affinity(pthread_attr_t *attr, const cpu_set_t *cpus)
{
#ifdef __GLIBC__
	ck_assert_int_eq(pthread_attr_setaffinity_np(attr, sizeof(*cpus), cpus),
			 0);
	return true;
#else
	(void)attr;
	(void)cpus;
	return false;
#endif
}

#endif

static inline bool set_cpu(pthread_attr_t *attr, int cpu)
{
#ifdef __linux__
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return set_affinity(attr, &one);
#else
	(void)attr;
	(void)cpu;
	return false;
#endif
}

static inline bool set_signal_mask(pthread_attr_t *attr, const sigset_t *mask)
{
#ifdef __GLIBC__
	ck_assert_int_eq(pthread_attr_setsigmask_np(attr, mask), 0);
	return true;
#else
	(void)attr;
	(void)mask;
	return false;
#endif
}
