/* SPDX-License-Identifier: MIT */
#include "intake/walk.h"

#include "store/vacancy.h"

/* How many slots are looked at while the lock is held once: a word of them. */
#define STEP SLOT_FIRST_NUMBER

/*
 * False: the slot has no timer.  Acquire: pairs with expiry_end, slot_free and
 * vacancy_fill; the timer's end was counted before that.  The lock orders the
 * rest.
 */
static bool look_at(const struct slot *s, bool whole, struct seen_timer *t)
{
	uint32_t word = atom32_load_acquire(&s->state);

	if (slot_state(word) == SLOT_FREE)
		return false;
	t->word = word;
	if (whole) {
		t->id = slot_id(s, word);
		t->timer = (struct timer){s->deadline, s->period, slot_fn(s),
					  slot_arg(s), 0};
	}
	return true;
}

/* Returns how many of the slots from `from` on have a timer. */
static uint32_t look_at_some(struct bucket *b, uint32_t from, bool whole,
			     struct seen_timer seen[STEP])
{
	uint32_t n = 0;

	if (whole)
		lock_acquire(&b->lock);
	if (!vacancy_has(&b->slots, from >> SLOT_WORD_LOG2))
		for (uint32_t i = from; i < from + STEP; i++)
			n += look_at(slots_get(&b->slots, i), whole, &seen[n]);
	if (whole)
		lock_release(&b->lock);
	return n;
}

bool intake_walk(struct intake *in, bool whole,
		 bool (*see)(const struct seen_timer *t, void *ctx), void *ctx)
{
	struct bucket_set used = intake_used(in);
	struct seen_timer seen[STEP];
	struct bucket *b;

	while ((b = intake_take(in, &used))) {
		uint32_t end;

		/* What is used for the first time meanwhile is not seen. */
		lock_acquire(&b->lock);
		end = slots_end(&b->slots);
		lock_release(&b->lock);
		for (uint32_t i = STEP; i < end; i += STEP) {
			uint32_t n = look_at_some(b, i, whole, seen);

			for (uint32_t k = 0; k < n; k++)
				if (!see(&seen[k], ctx))
					return false;
		}
	}
	return true;
}
