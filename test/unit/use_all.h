/* SPDX-License-Identifier: MIT */
/*
 * For tests that schedule into buckets of their choice.
 */
#ifndef TT_USE_ALL_H
#define TT_USE_ALL_H

#include "harness.h"
#include "intake/intake.h"

static inline void use_all(struct intake *in)
{
	for (uint32_t i = 0; i < in->n; i++)
		ck_assert(intake_use(in, &in->bucket[i]));
}

#endif
