/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "pending/wheel.h"

/* The length of the finest level's slices is 2 to the power of this. */
#define SHIFT 17

void wheel_init(struct wheel *w)
{
	for (unsigned i = 0; i < WHEEL_LEVELS; i++)
		slices_init(&w->level[i], SHIFT + i * SLICES_LOG2);
}

void wheel_destroy(struct wheel *w)
{
	for (int i = 0; i < WHEEL_LEVELS; i++)
		slices_destroy(&w->level[i]);
}

void wheel_advance(struct wheel *w, int64_t now)
{
	for (int i = 0; i < WHEEL_LEVELS; i++)
		slices_advance(&w->level[i], now);
}

/*
 * If several levels are first, the coarsest of them: it may have entries that
 * are due before those of the others.
 */
static int first_level(const struct wheel *w)
{
	int first = 0;

	for (int i = 1; i < WHEEL_LEVELS; i++) {
		if (slices_next(&w->level[i]) <= slices_next(&w->level[first]))
			first = i;
	}
	return first;
}

struct block *wheel_open(struct wheel *w, int64_t *ret_last)
{
	struct slices *first = &w->level[first_level(w)];
	int64_t time = slices_next(first);

	wheel_advance(w, time);
	*ret_last = time | ((INT64_C(1) << first->shift) - 1);
	return slices_open(first);
}

size_t wheel_blocks(const struct wheel *w)
{
	size_t n = 0;

	for (int i = 0; i < WHEEL_LEVELS; i++)
		n += w->level[i].blocks;
	return n;
}
