/* SPDX-License-Identifier: MIT */
/*
 * A fault: a compare-and-swap as a load and a store, between which another
 * thread may come.
 */
#ifndef TT_WEAK_TWO_STEPS_H
#define TT_WEAK_TWO_STEPS_H

#include "harness.h"

static uint32_t two_steps(atom32 *a, uint32_t from, uint32_t to)
{
	uint32_t was = atom32_load_acquire(a);

	if (was == from)
		atom32_store_release(a, to);
	return was;
}

#endif
