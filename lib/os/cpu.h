/* SPDX-License-Identifier: MIT */
/*
 * CPUs: how many there may be, and which one this is.
 *
 * Any thread.
 */
#ifndef TT_CPU_H
#define TT_CPU_H

#include "os/base.h"

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

/*
 * Which of n things, of which each CPU has one, is the caller's.  It may move
 * to another CPU just after it has asked: a hint.  Where there are fewer things
 * than CPUs some share one; where no CPU is known, all do.
 */
struct cpu_map {
	/* Constant. */
	uint32_t n;
	bool known; /* cpu_current works here */
};

static inline void cpu_map_init(struct cpu_map *m, uint32_t n)
{
	m->n = n;
	m->known = cpu_is_known();
}

static inline uint32_t cpu_map_pick(const struct cpu_map *m)
{
	uint32_t cpu = likely(m->known) ? cpu_current() : 0;

	return likely(cpu < m->n) ? cpu : cpu % m->n;
}

/*
 * How many CPUs the machine may have, online or not, and whether this process
 * may use them or not; 1 or more.
 */
static inline long cpu_count(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	return n < 1 ? 1 : n;
}

#endif
