/* SPDX-License-Identifier: MIT */
/*
 * Repeatable random numbers.
 */
#pragma once

#include <stdint.h>

/* splitmix64, from Steele, Lea and Flood, OOPSLA 2014. */
static inline uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* 0 to n - 1. */
static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
	return next_random(state) % n;
}
