/* SPDX-License-Identifier: MIT */
/*
 * Sweeps with as many looks as they like.
 */
#pragma once

#include "intake/sweep.h"

static inline bool sweep_some_of(struct bucket *b)
{
	uint64_t looks = UINT64_MAX;

	return sweep_until_found(b, &looks);
}

static inline void sweep_all_of(struct bucket *b)
{
	while (sweep_some_of(b))
		;
}

/* As the driver does in a round. */
static inline struct sweeping sweep_as_driver(struct bucket *b, bool ends)
{
	struct sweeping s = {.ends = ends};

	while (sweep_step(b, &s))
		;
	return s;
}
