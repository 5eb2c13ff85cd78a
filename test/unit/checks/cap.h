/* SPDX-License-Identifier: MIT */
/*
 * What is free under a cap.
 */
#pragma once

#include "engine/cap.h"

/* The number a moment ago; 0 if the tally was closed. */
static inline uint32_t tally_count(const struct tally *t)
{
	return atom32_load(&t->word) / TALLY_ONE;
}

/* How many places are free, if no thread takes or gives one. */
static inline size_t cap_free(const struct cap *c)
{
	size_t n = atomword_load(&c->common->places);

	for (uint32_t i = 0; i < c->cpus.n; i++)
		n += tally_count(&c->share[i].places);
	return n;
}
