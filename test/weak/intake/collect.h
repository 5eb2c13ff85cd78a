/* SPDX-License-Identifier: MIT */
/*
 * What the driver takes out of a bucket, in the place of the library's header:
 * no harness has so many slots that it recycles a batch.
 */
#pragma once

#include "harness.h"
#include "intake/bucket.h"

static inline bool bucket_flush(struct bucket *b)
{
	(void)b;
	weak_fail("a batch of slots is recycled");
	return false;
}
