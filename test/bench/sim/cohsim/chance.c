/* SPDX-License-Identifier: MIT */
/*
 * Random numbers, the same each time.
 */
#include "chance.h"

static uint64_t rng = 88172645463325252ULL;

uint64_t rnd(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng;
}

double vary(double ns)
{
	return ns * (0.75 + (rnd() >> 11) * 0x1p-54);
}

void chance_begin(uint64_t seed)
{
	rng ^= seed * 0x9e3779b97f4a7c15ULL;
	for (int i = 0; i < 8; i++)
		rnd();
}
