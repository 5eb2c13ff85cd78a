/* SPDX-License-Identifier: MIT */
/*
 * A heap of slots, which needs no memory: the slots themselves are its nodes.
 *
 * Timers for which there is no memory for an entry wait here, in the order in
 * which their entries would be due.
 *
 * It is a randomized meldable heap (Gambin and Malinowski, 1998): two heaps are
 * merged along paths down that are chosen at random.  Such a path through a
 * tree of n nodes, whatever its shape, has log2(n + 1) steps at most on
 * average.  So there is nothing to keep in balance.
 *
 * Guarantees:
 *  1. The slot at `first` is due no later than any other.
 *  2. add and remove take about 2 * log2(n) steps on average.
 *
 * A slot in the heap may be dead.  Its `queued` must not change.
 *
 * All of this is done under the bucket's lock.
 */
#pragma once

#include "store/slots.h"

/* All zero at first. */
struct slot_heap {
	uint32_t first; /* a slot's number; 0: the heap is empty */
	uint32_t coin;
};

static inline bool slot_heap_has(const struct slot *s)
{
	return s->above != 0;
}

/* The slot that is due first; NULL: the heap is empty. */
static inline struct slot *slot_heap_first(const struct slot_heap *h,
					   const struct slots *t)
{
	return h->first > 0 ? slots_get(t, h->first) : NULL;
}

/* The slot is in no heap. */
INTERNAL void slot_heap_add(struct slot_heap *h, const struct slots *t,
			    struct slot *s);

/* The slot is in this heap. */
INTERNAL void slot_heap_remove(struct slot_heap *h, const struct slots *t,
			       struct slot *s);
