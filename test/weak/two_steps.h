/* SPDX-License-Identifier: MIT */
/*
 * A fault: a compare-and-swap as a load and a store, between which another
 * thread may come.
 */
#pragma once

#include "harness.h"

static uint32_t two_steps(atom32 *a, uint32_t from, uint32_t to)
{
	uint32_t was = atom32_load_acquire(a);

	if (was == from)
		atom32_store_release(a, to);
	return was;
}
