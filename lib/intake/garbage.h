/* SPDX-License-Identifier: MIT */
/*
 * Garbage: when must the driver look for the dead?
 *
 * Calls find most of them (recycle.h, sweep.h).  But a thread may move to
 * another CPU, and a program may fall idle.  So each bucket tells how many
 * slots are in use, when it grows.  When the sum of all buckets is above a
 * limit, a call wakes the driver.  It sweeps all buckets (reclaim.h), and sets
 * the limit anew by what lives.
 *
 * Guarantee: unless it looks already, the driver is told when more slots are in
 * use than GARBAGE_TIMES the number of timers that lived when it looked last,
 * and GARBAGE_MUCH, and GARBAGE_STEP for each bucket; or when a bucket has so
 * many more entries than slots in use.
 *
 * Any thread: tell.  The driver: the rest.
 */
#pragma once

#include "intake/bucket.h"

#define GARBAGE_TIMES 3
#define GARBAGE_MUCH  8192
#define GARBAGE_STEP  256

/* As limit: the driver was told, and has not looked yet. */
#define GARBAGE_TOLD UINT32_MAX

/* The blocks of all lanes. */
TT_PART uint32_t garbage_blocks(const struct bucket *b)
{
	uint32_t n = 0;

	for (const struct lane *l = b->lane; l < b->lane + LANES; l++)
		n += l->queue.blocks;
	return n;
}

/*
 * Tells how many slots are in use, also if they are fewer than when it was told
 * last.  Returns the sum.
 */
TT_PART uint32_t garbage_count(struct bucket *b, struct wakeup *w)
{
	struct slots *t = &b->slots;
	uint32_t more = t->used - b->used_told;

	b->used_told = t->used;
	return atom32_add(&w->used, more) + more;
}

/*
 * Tells how many slots are in use, if that has grown by a step.  True: the
 * caller must wake the driver.  Under the lock.
 *
 * Of all threads that find too many, one wakes the driver: the one whose
 * compare-and-swap succeeds.  It orders nothing; the bucket's lock does.
 */
TT_PART bool garbage_tell(struct bucket *b, struct wakeup *w)
{
	const struct slots *t = &b->slots;
	uint32_t limit = atom32_load(&w->limit);
	bool much = garbage_blocks(b) >
		    GARBAGE_TIMES * (t->used / BLOCK_ENTRIES + LANE_OLD) +
			    GARBAGE_MUCH / BLOCK_ENTRIES;

	if (t->used >= b->used_told + GARBAGE_STEP)
		much |= garbage_count(b, w) > limit + (uint64_t)GARBAGE_MUCH;
	return much && limit < GARBAGE_TOLD - 1 &&
	       atom32_swap(&w->limit, limit, GARBAGE_TOLD) == limit;
}

/*
 * Was the driver told?  Then it is not told again before it sets the limit: it
 * would tell itself, of the entries that it puts back.
 */
TT_PART bool garbage_hear(struct wakeup *w)
{
	return atom32_load(&w->limit) == GARBAGE_TOLD &&
	       atom32_swap(&w->limit, GARBAGE_TOLD, GARBAGE_TOLD - 1) ==
		       GARBAGE_TOLD;
}

/* The driver has looked: so many live.  Unless it was told meanwhile. */
TT_PART void garbage_set_limit(struct wakeup *w, uint64_t live)
{
	uint64_t used = atom32_load(&w->used);
	uint64_t limit = GARBAGE_TIMES * live;
	uint32_t was = atom32_load(&w->limit);

	/* What was not seen is not told again at once. */
	limit = limit > used ? limit : used;
	if (limit > GARBAGE_TOLD - 2)
		limit = GARBAGE_TOLD - 2;
	if (was != GARBAGE_TOLD)
		(void)atom32_swap(&w->limit, was, (uint32_t)limit);
}
