/* SPDX-License-Identifier: MIT */
/*
 * The cap on an instance's timers.
 *
 * Guarantee: there are never more places taken than max, and a place that was
 * given back can be taken at once.
 *
 * Any thread.  Where there is no cap, nothing shared is written.
 */
#ifndef TT_CAP_H
#define TT_CAP_H

#include "os/atomic.h"
#include "os/base.h"

struct cap {
	size_t max; /* 0: no cap; constant since start */
	atomword taken __attribute__((aligned(TT_FAR_APART)));
};

/*
 * Takes a place; false: there is none.  A place is only a number: what the
 * compare-and-swap orders is of no use here.
 */
static inline bool cap_take(struct cap *c)
{
	uintptr_t n;

	if (likely(c->max == 0))
		return true;
	do {
		n = atomword_load(&c->taken);
		if (n >= c->max)
			return false;
	} while (!atomword_swap(&c->taken, n, n + 1));
	return true;
}

static inline void cap_give(struct cap *c)
{
	if (unlikely(c->max != 0))
		atomword_add(&c->taken, (uintptr_t)-1);
}

#endif
