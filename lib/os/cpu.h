/* SPDX-License-Identifier: MIT */
/*
 * CPUs: how many there may be, and which one this is.
 *
 * Any thread.
 */
#pragma once

#include "os/system.h"

#include <unistd.h>

/*
 * Each CPU has one of n things; this finds the one of the caller's CPU.  The
 * result is a hint, because the caller may move to another CPU right after it
 * has asked.  If there are fewer things than CPUs, some CPUs share one.  If the
 * current CPU cannot be found out, all CPUs share one.  (Where no CPU is known
 * but threads have numbers, read "thread" for "CPU".)
 */
struct cpu_map {
	/* Constant. */
	uint32_t n;
	bool known; /* the system says it */
};

static inline void cpu_map_init(struct cpu_map *m, uint32_t n)
{
	m->n = n;
	m->known = system_cpu() >= 0;
}

static inline uint32_t cpu_map_pick(const struct cpu_map *m)
{
	uint32_t cpu = likely(m->known) ? (uint32_t)system_cpu() : 0;

	return likely(cpu < m->n) ? cpu : cpu % m->n;
}

/*
 * How many CPUs the machine may have; 1 or more.  Includes CPUs that are not
 * online, and CPUs that this process may not use.
 */
static inline long cpu_count(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	return n < 1 ? 1 : n;
}
