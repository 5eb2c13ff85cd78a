/* SPDX-License-Identifier: MIT */
/*
 * A walk through all timers of an instance, for a call that must find some of
 * them.
 *
 * It looks at 64 slots at a time; then the caller sees those that have a timer.
 * If the timers are to be seen whole, it looks under the bucket's lock, for
 * some microseconds at most, and each is seen as it was at some moment.  It may
 * be over when it is seen; its id says which it was.  Who only counts them
 * looks without the lock: it takes that only to read how many slots a bucket
 * has.
 *
 * Guarantees:
 *  1. Each timer that lives during the whole walk is seen once; and so is each
 *     dead one, if it is not recycled meanwhile.
 *  2. Memory that was given back is not read, so it stays with the system.
 *     (Exception: without the lock, a page may be given back just then.)
 *
 * Any thread.
 */
#pragma once

#include "intake/intake.h"
#include "store/vacancy.h"

/* A timer that was pending, unarmed or running; or is dead. */
struct seen_timer {
	uint32_t word; /* the state of its slot */
	/* If it is seen whole. */
	uint64_t id;
	struct timer timer;
};

/* How many slots are looked at while the lock is held once: a word of them. */
#define WALK_STEP SLOT_FIRST_NUMBER

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
			     struct seen_timer seen[WALK_STEP])
{
	uint32_t n = 0;

	if (whole)
		lock_acquire(&b->lock);
	if (!vacancy_has(&b->slots, from >> SLOT_WORD_LOG2))
		for (uint32_t i = from; i < from + WALK_STEP; i++)
			n += look_at(slots_get(&b->slots, i), whole, &seen[n]);
	if (whole)
		lock_release(&b->lock);
	return n;
}

/*
 * Calls see for each timer.  whole: not only its state.  False: see has
 * returned false, and the walk has ended there.
 */
TT_PART bool intake_walk(struct intake *in, bool whole,
			 bool (*see)(const struct seen_timer *t, void *ctx),
			 void *ctx)
{
	struct bucket_set used = intake_used(in);
	struct seen_timer seen[WALK_STEP];
	struct bucket *b;

	while ((b = intake_take(in, &used))) {
		uint32_t end;

		/* What is used for the first time meanwhile is not seen. */
		lock_acquire(&b->lock);
		end = slots_end(&b->slots);
		lock_release(&b->lock);
		for (uint32_t i = WALK_STEP; i < end; i += WALK_STEP) {
			uint32_t n = look_at_some(b, i, whole, seen);

			for (uint32_t k = 0; k < n; k++)
				if (!see(&seen[k], ctx))
					return false;
		}
	}
	return true;
}
