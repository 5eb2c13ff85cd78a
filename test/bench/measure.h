/* SPDX-License-Identifier: MIT */
/*
 * What measurements are made of: clocks, memory, CPUs, percentiles.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BENCH_US INT64_C(1000)
#define BENCH_MS INT64_C(1000000)
#define BENCH_S  INT64_C(1000000000)

int64_t now_ns(void);
int64_t process_cpu_ns(void);
long resident_bytes(void);

/* Sleeps until then, by CLOCK_MONOTONIC. */
void sleep_until_ns(int64_t at);

/* CPUs that the process may use. */
int cpus(void);

/* Keeps the calling thread on one of them, the i-th, modulo their number. */
void pin(int i);

void relax(void);

/* Sorts, and returns the value that the share p of n are not above. */
int64_t percentile(int64_t *values, size_t n, double p);

/* How often a thread of the process went to sleep; -1: it is not there. */
long sleeps_of(long tid);

/* How often threads of the process other than the caller's did. */
long others_sleeps(void);

/* 64 random bits from a state that is not 0 (xorshift64, Marsaglia 2003). */
static inline uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}
