/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/garbage.h"

#include "store/vacancy.h"

/* How many slots a sample looks at. */
#define SAMPLE 64

uint32_t garbage_count(struct bucket *b, struct wakeup *w)
{
	struct slots *t = &b->slots;
	uint32_t more = t->used - t->told;

	t->told = t->used;
	slots_set_enough(t);
	return atom32_add(&w->used, more) + more;
}

/*
 * Of all threads that find the sum above the limit, one wakes the driver: the
 * one whose compare-and-swap succeeds.  It orders nothing; the bucket's lock
 * does.
 */
bool garbage_tell(struct bucket *b, struct wakeup *w)
{
	uint32_t used, limit;

	if (b->slots.used < b->slots.told + SLOTS_STEP)
		return false;
	used = garbage_count(b, w);
	limit = atom32_load(&w->limit);
	return used > limit &&
	       atom32_swap(&w->limit, limit, WAKEUP_TOLD) == limit;
}

void garbage_set_limit(struct wakeup *w, uint64_t live)
{
	uint64_t used = atom32_load(&w->used);
	uint64_t limit = GARBAGE_TIMES * live;

	/* What the sample did not see is not told again at once. */
	limit = (limit > used ? limit : used) + GARBAGE_MUCH;
	atom32_store(&w->limit,
		     limit < WAKEUP_TOLD ? (uint32_t)limit : WAKEUP_TOLD - 1);
}

/*
 * Slots at random, by multiples of the golden ratio from `at` on.  Without the
 * lock: a slot that was used can be looked at.
 */
static uint32_t sample(const struct slots *t, uint32_t n, uint32_t at,
		       uint32_t *dead)
{
	uint32_t used = 0;

	for (int i = 0; i < SAMPLE; i++) {
		uint32_t number, word;

		at += UINT32_C(0x9e3779b9);
		number = SLOT_FIRST_NUMBER + (uint32_t)((uint64_t)at * n >> 32);
		if (vacancy_has(t, number >> SLOT_WORD_LOG2))
			continue;
		word = atom32_load(&slots_get(t, number)->state);
		used += slot_state(word) != SLOT_FREE;
		*dead += slot_is_dead(word);
	}
	return used;
}

bool garbage_is_most(struct bucket *b, uint64_t *live)
{
	uint32_t n, used, seen, dead = 0;

	if (!lock_try(&b->lock))
		return false;
	n = slots_end(&b->slots) - SLOT_FIRST_NUMBER;
	used = b->slots.used;
	lock_release(&b->lock);
	if (n == 0)
		return false;
	seen = sample(&b->slots, n, used, &dead);
	*live += seen > 0 ? (uint64_t)used * (seen - dead) / seen : used;
	return 2 * dead > seen;
}
