/* SPDX-License-Identifier: MIT */
#include "store/slot_heap.h"

/* What is above the first one: not the number of a slot. */
#define ABOVE_ALL 1u

/* The generator of "Numerical Recipes"; its highest bit. */
static unsigned toss(struct slot_heap *h)
{
	h->coin = h->coin * UINT32_C(1664525) + UINT32_C(1013904223);
	return h->coin >> 31;
}

/*
 * Merges two heaps, of which each may be empty, into what *place says.  That is
 * in the slot above, or is the heap's first.
 */
static void merge(struct slot_heap *h, const struct slots *t, uint32_t above,
		  uint32_t *place, uint32_t a, uint32_t b)
{
	while (a > 0 && b > 0) {
		bool after = slots_get(t, a)->queued > slots_get(t, b)->queued;
		uint32_t first = after ? b : a, other = after ? a : b;
		struct slot *s = slots_get(t, first);

		*place = first;
		s->above = above;
		above = first;
		place = &s->below[toss(h)];
		a = *place;
		b = other;
	}
	*place = a | b;
	if (*place > 0)
		slots_get(t, *place)->above = above;
}

void slot_heap_add(struct slot_heap *h, const struct slots *t, struct slot *s)
{
	s->below[0] = s->below[1] = 0;
	merge(h, t, ABOVE_ALL, &h->first, h->first, s->index >> t->shift);
}

/* Where the heap says that the slot is there. */
static uint32_t *place_of(struct slot_heap *h, const struct slots *t,
			  const struct slot *s)
{
	struct slot *above;

	if (s->above == ABOVE_ALL)
		return &h->first;
	above = slots_get(t, s->above);
	return &above->below[above->below[1] == s->index >> t->shift];
}

void slot_heap_remove(struct slot_heap *h, const struct slots *t,
		      struct slot *s)
{
	merge(h, t, s->above, place_of(h, t, s), s->below[0], s->below[1]);
	s->above = 0;
}
