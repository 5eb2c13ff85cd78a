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
 * A slot in the heap may be dead.  Its `due` must not change.
 *
 * All of this is done under the bucket's lock.
 */
#pragma once

#include "store/slots.h"

/* What is above the first one: not the number of a slot. */
#define ABOVE_ALL 1u

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

/* The generator of "Numerical Recipes"; its highest bit. */
static unsigned slot_heap_toss(struct slot_heap *h)
{
	h->coin = h->coin * UINT32_C(1664525) + UINT32_C(1013904223);
	return h->coin >> 31;
}

/*
 * Merges two heaps, of which each may be empty, into what *place says.  That is
 * in the slot above, or is the heap's first.
 */
static void slot_heap_merge(struct slot_heap *h, const struct slots *t,
			    uint32_t above, uint32_t *place, uint32_t a,
			    uint32_t b)
{
	while (a > 0 && b > 0) {
		bool after = slots_get(t, a)->due > slots_get(t, b)->due;
		uint32_t first = after ? b : a, other = after ? a : b;
		struct slot *s = slots_get(t, first);

		*place = first;
		s->above = above;
		above = first;
		place = &s->below[slot_heap_toss(h)];
		a = *place;
		b = other;
	}
	*place = a | b;
	if (*place > 0)
		slots_get(t, *place)->above = above;
}

/* The slot is in no heap. */
TT_PART void slot_heap_add(struct slot_heap *h, const struct slots *t,
			   struct slot *s)
{
	s->below[0] = s->below[1] = 0;
	slot_heap_merge(h, t, ABOVE_ALL, &h->first, h->first,
			s->index >> t->shift);
}

/* Where the heap says that the slot is there. */
static uint32_t *slot_heap_place(struct slot_heap *h, const struct slots *t,
				 const struct slot *s)
{
	struct slot *above;

	if (s->above == ABOVE_ALL)
		return &h->first;
	above = slots_get(t, s->above);
	return &above->below[above->below[1] == s->index >> t->shift];
}

/* The slot is in this heap. */
TT_PART void slot_heap_remove(struct slot_heap *h, const struct slots *t,
			      struct slot *s)
{
	slot_heap_merge(h, t, s->above, slot_heap_place(h, t, s), s->below[0],
			s->below[1]);
	s->above = 0;
}
