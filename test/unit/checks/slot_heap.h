/* SPDX-License-Identifier: MIT */
/*
 * Is a heap of slots sound?
 */
#pragma once

#include "store/slot_heap.h"

/* Aborts if it is not sound.  Returns how many it has.  Under the lock. */
size_t slot_heap_check(const struct slot_heap *h, const struct slots *t);

/* When the first one is due; INT64_MAX: never. */
static inline int64_t slot_heap_nearest(const struct slot_heap *h,
					const struct slots *t)
{
	const struct slot *s = slot_heap_first(h, t);

	return s ? s->due : INT64_MAX;
}
