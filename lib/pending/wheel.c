/* SPDX-License-Identifier: MIT */
#include "pending/wheel.h"

void wheel_destroy(struct wheel *w)
{
	for (int i = 0; i < WHEEL_LEVELS; i++) {
		for (int k = 0; k < SLICES; k++)
			block_free_all(w->level[i].chain[k]);
	}
	*w = (struct wheel){0};
}

void wheel_advance(struct wheel *w, int64_t now)
{
	for (int i = 0; i < WHEEL_LEVELS; i++) {
		struct level *l = &w->level[i];
		int64_t to = slice_of(i, now);

		if (l->full != 0) {
			int64_t first = slice_of(i, wheel_next(w, i));

			to = first < to ? first : to;
			/* The clock may have been set back. */
			to = to > l->open ? to : l->open;
		}
		l->open = to;
	}
}

bool wheel_add(struct wheel *w, struct entry e, struct block **spares)
{
	int level = wheel_level(w, e.deadline);
	unsigned i = slice_index(slice_of(level, e.deadline));
	struct level *l = &w->level[level];
	struct block *b;

	if (level == WHEEL_LEVELS)
		return false;
	b = l->chain[i];
	if (unlikely(!b || b->n == BLOCK_ENTRIES)) {
		b = block_pop(spares);
		if (!b)
			return false;
		b->n = 0;
		block_push(&l->chain[i], b);
		l->full |= UINT64_C(1) << i;
	}
	b->entry[b->n++] = e;
	return true;
}

struct block *wheel_open(struct wheel *w, int64_t *ret_last)
{
	int64_t time = wheel_nearest(w);
	int level = WHEEL_LEVELS - 1;
	struct level *l;
	struct block *b;
	unsigned i;

	/*
	 * If several levels are first, the coarsest of them: it may have
	 * entries that are due before those of the others.
	 */
	while (wheel_next(w, level) > time)
		level--;
	l = &w->level[level];
	i = slice_index(slice_of(level, time));
	b = block_pop(&l->chain[i]);
	wheel_advance(w, time);
	if (!l->chain[i])
		l->full &= ~(UINT64_C(1) << i);
	*ret_last = time | ((INT64_C(1) << slice_log2(level)) - 1);
	return b;
}
