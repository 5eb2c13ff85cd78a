/* SPDX-License-Identifier: MIT */
/*
 * What the library takes for a thread's CPU is what the test says.
 *
 * Who includes this takes over sched_getcpu, and is linked with
 * $(cpus_ldflags), where the library numbers its threads in the place of that.
 */
#pragma once

#include "os/system.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>

/* As the system says; the system does not say. */
enum { SYSTEM = -2, UNKNOWN = -1 };

#ifndef CPU_AT_FIRST
#define CPU_AT_FIRST 0
#endif

static _Thread_local int cpu_now = CPU_AT_FIRST;

#ifdef TT_OS_LINUX

int sched_getcpu(void)
{
	int (*next)(void);

	if (cpu_now >= 0)
		return cpu_now;
	if (cpu_now == UNKNOWN) {
		errno = ENOSYS;
		return -1;
	}
	next = (int (*)(void))dlsym(RTLD_NEXT, "sched_getcpu");
	return next();
}

#else

int __real_system_number_thread(void);
int __wrap_system_number_thread(void);

/* It has no number, so it is asked for one each time. */
int __wrap_system_number_thread(void)
{
	static _Thread_local int number;

	if (cpu_now != SYSTEM)
		return cpu_now;
	if (number == 0)
		number = __real_system_number_thread();
	system_thread = 0;
	return number;
}

#endif
