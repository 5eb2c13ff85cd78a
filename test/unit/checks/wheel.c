/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "checks/wheel.h"
#include "must.h"

size_t wheel_count(const struct wheel *w)
{
	size_t n = 0;

	for (int i = 0; i < WHEEL_LEVELS; i++) {
		for (int k = 0; k < SLICES; k++) {
			const struct block *b = w->level[i].chain[k];

			for (; b; b = b->next)
				n += b->n;
		}
	}
	return n;
}

static void check_block(const struct block *b, int level, int64_t slice)
{
	must(b->n > 0 && b->n <= BLOCK_ENTRIES);
	for (size_t i = 0; i < b->n; i++)
		must(slice_of(level, b->entry[i].deadline) == slice);
}

static void check_level(const struct level *l, int level)
{
	for (int64_t slice = l->open; slice < l->open + SLICES; slice++) {
		const struct block *b = l->chain[slice_index(slice)];

		must(!b == !(l->full >> slice_index(slice) & 1));
		for (; b; b = b->next)
			check_block(b, level, slice);
	}
}

void wheel_check(const struct wheel *w)
{
	for (int i = 0; i < WHEEL_LEVELS; i++)
		check_level(&w->level[i], i);
}
