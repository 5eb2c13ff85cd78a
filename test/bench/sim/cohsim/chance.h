/* SPDX-License-Identifier: MIT */
/*
 * Random numbers, the same each time.
 */
#pragma once

#include <stdint.h>

void chance_begin(uint64_t seed);

uint64_t rnd(void);

/* The kernel's paths, by up to a quarter. */
double vary(double ns);

static inline uint64_t hash64(uint64_t k)
{
	k *= 0x9e3779b97f4a7c15ULL;
	return k ^ k >> 29;
}
