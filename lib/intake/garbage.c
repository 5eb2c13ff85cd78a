/* SPDX-License-Identifier: MIT */
#include "intake/garbage.h"

uint32_t garbage_count(struct bucket *b, struct wakeup *w)
{
	struct slots *t = &b->slots;
	uint32_t more = t->used - b->told;

	b->told = t->used;
	return atom32_add(&w->used, more) + more;
}

uint32_t garbage_blocks(const struct bucket *b)
{
	uint32_t n = 0;

	for (const struct lane *l = b->lane; l < b->lane + LANES; l++)
		n += l->queue.blocks;
	return n;
}

/*
 * Of all threads that find too many, one wakes the driver: the one whose
 * compare-and-swap succeeds.  It orders nothing; the bucket's lock does.
 */
bool garbage_tell(struct bucket *b, struct wakeup *w)
{
	const struct slots *t = &b->slots;
	uint32_t limit = atom32_load(&w->limit);
	bool much = garbage_blocks(b) >
		    GARBAGE_TIMES * (t->used / BLOCK_ENTRIES + LANE_OLD) +
			    GARBAGE_MUCH / BLOCK_ENTRIES;

	if (t->used >= b->told + GARBAGE_STEP)
		much |= garbage_count(b, w) > limit + (uint64_t)GARBAGE_MUCH;
	return much && limit != GARBAGE_TOLD &&
	       atom32_swap(&w->limit, limit, GARBAGE_TOLD) == limit;
}

bool garbage_hear(struct wakeup *w)
{
	return atom32_load(&w->limit) == GARBAGE_TOLD &&
	       atom32_swap(&w->limit, GARBAGE_TOLD, GARBAGE_TOLD - 1) ==
		       GARBAGE_TOLD;
}

/* Unless it was told meanwhile. */
void garbage_set_limit(struct wakeup *w, uint64_t live)
{
	uint64_t used = atom32_load(&w->used);
	uint64_t limit = GARBAGE_TIMES * live;
	uint32_t was = atom32_load(&w->limit);

	/* What was not seen is not told again at once. */
	limit = limit > used ? limit : used;
	if (limit > GARBAGE_TOLD - 1)
		limit = GARBAGE_TOLD - 1;
	if (was != GARBAGE_TOLD)
		(void)atom32_swap(&w->limit, was, (uint32_t)limit);
}
