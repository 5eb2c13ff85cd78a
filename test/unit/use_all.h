/* SPDX-License-Identifier: MIT */
/*
 * For tests that schedule into buckets of their choice.
 */
#pragma once

#include "harness.h"
#include "intake/intake.h"

static inline void use_all(struct intake *in)
{
	for (uint32_t i = 0; i < in->n; i++)
		ck_assert(intake_use(in, &in->bucket[i]));
}
