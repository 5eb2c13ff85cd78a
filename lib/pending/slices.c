/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "pending/slices.h"

void slices_init(struct slices *s, unsigned shift)
{
	*s = (struct slices){.shift = shift};
}

void slices_destroy(struct slices *s)
{
	for (unsigned i = 0; i < SLICES; i++)
		block_free_all(s->chain[i]);
	slices_init(s, s->shift);
}

void slices_advance(struct slices *s, int64_t now)
{
	int64_t to = slice_of(s, now);

	if (s->full != 0) {
		int64_t first = slices_first(s);

		to = first < to ? first : to;
		/* The clock may have been set back. */
		to = to > s->open ? to : s->open;
	}
	s->open = to;
}

/* Adds a block to a slice whose first block has no room.  False: no spare. */
static TT_NOINLINE bool extend(struct slices *s, unsigned i,
			       struct block **spares)
{
	struct block *b = block_pop(spares);

	if (!b)
		return false;
	b->n = 0;
	block_push(&s->chain[i], b);
	s->blocks++;
	s->full |= UINT64_C(1) << i;
	return true;
}

bool slices_add(struct slices *s, struct entry e, struct block **spares)
{
	unsigned i = slice_index(slice_of(s, e.deadline));
	struct block *b = s->chain[i];

	if (unlikely(!b || b->n == BLOCK_ENTRIES)) {
		if (!extend(s, i, spares))
			return false;
		b = s->chain[i];
	}
	b->entry[b->n++] = e;
	return true;
}

struct block *slices_open(struct slices *s)
{
	unsigned i;
	struct block *b;

	s->open = slices_first(s);
	i = slice_index(s->open);
	b = block_pop(&s->chain[i]);
	s->blocks--;
	if (!s->chain[i])
		s->full &= ~(UINT64_C(1) << i);
	return b;
}
