/* SPDX-License-Identifier: MIT */
/*
 * The cap on an instance's timers.
 *
 * Guarantee: there are never more places taken than max, and a place that was
 * given back can be taken at once.
 *
 * Any thread.  Where there is no cap, nothing shared is written.
 */
#ifndef TT_LIMIT_H
#define TT_LIMIT_H

#include "atomic.h"
#include "base.h"

struct limit {
	size_t max; /* 0: no cap; constant since start */
	atomword taken __attribute__((aligned(TT_FAR_APART)));
};

/*
 * Takes a place; false: there is none.  A place is only a number: what the
 * compare-and-swap orders is of no use here.
 */
static inline bool limit_take(struct limit *l)
{
	uintptr_t n;

	if (likely(l->max == 0))
		return true;
	do {
		n = atomword_load(&l->taken);
		if (n >= l->max)
			return false;
	} while (!atomword_swap(&l->taken, n, n + 1));
	return true;
}

static inline void limit_give(struct limit *l)
{
	if (unlikely(l->max != 0))
		atomword_add(&l->taken, (uintptr_t)-1);
}

#endif
