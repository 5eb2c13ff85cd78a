/* SPDX-License-Identifier: MIT */
#include "intake/sweep.h"

/* How many words a call sweeps. */
#define CALL_WORDS 8

/*
 * If so many sweeps found some and recycling none, they hide behind the living.
 */
#define ALONE_MUCH 3

/* A step ends after so many looks.  To cross a page counts as one. */
#define STEP_LOOKS 256

/*
 * Takes the slot from under its entry, which is stale after that.  False: the
 * timer is handed over.  By compare-and-swap, because the driver, which does
 * not hold the lock, may be handing it over at the same time: pairs with the
 * one in slot_hand_over.
 */
static bool take_entry(struct bucket *b, struct slot *s)
{
	uint32_t ticket = atom32_load(&s->ticket);
	uint32_t other =
		ticket_next(ticket & ~(TICKET_HANDED_OVER | TICKET_AWAITED));

	if (slot_heap_has(s))
		slot_heap_remove(&b->unqueued, &b->slots, s);
	else if (ticket & TICKET_HANDED_OVER)
		return false;
	return atom32_swap(&s->ticket, ticket, other) == ticket;
}

/*
 * Frees the slot of a dead timer; one that was disarmed is unarmed then, unless
 * it was cancelled meanwhile.  True: the slot is free.
 */
static bool settle_dead(struct bucket *b, struct slot *s, uint32_t word)
{
	bool disarmed = slot_state(word) == SLOT_DISARMED;

	if ((!disarmed && !slot_is_dead(word)) || !take_entry(b, s) ||
	    (disarmed && slot_change(s, &word, SLOT_UNARMED)))
		return false;
	slot_free(s, word);
	return true;
}

/*
 * Which of the used slots of a word have a timer that is dead or disarmed?
 * Without branches, because a CPU could not guess them.
 */
static uint64_t look_at_word(const struct slot *first, uint64_t used,
			     struct sweeping *s)
{
	const unsigned over = 1u << SLOT_DEAD | 1u << SLOT_DISARMED;
	const unsigned queued = ~(over | 1u << SLOT_FREE | 1u << SLOT_UNARMED);
	uint64_t found = 0;

	for (; used; used &= used - 1) {
		unsigned i = (unsigned)__builtin_ctzll(used);
		unsigned state = slot_state(atom32_load(&first[i].state));

		found |= (uint64_t)(over >> state & 1) << i;
		s->queued += queued >> state & 1;
		s->seen += state != SLOT_FREE;
	}
	return found;
}

/* Under the lock. */
static void sweep_word(struct bucket *b, uint32_t word, struct sweeping *s)
{
	struct slots *t = &b->slots;
	uint32_t number = word << SLOT_WORD_LOG2;
	uint64_t used = vacancy_has(t, word) ? 0 : ~*slots_word(t, word);
	struct slot *first = slots_get(t, number);

	for (used = look_at_word(first, used, s); used; used &= used - 1) {
		unsigned i = (unsigned)__builtin_ctzll(used);

		if (settle_dead(b, &first[i], atom32_load(&first[i].state))) {
			slots_give(t, &first[i], number + i);
			s->freed++;
		}
	}
}

/*
 * Words at random, by multiples of the golden ratio: so what it finds is a
 * sample of all.  "Little" is less than a fifth of those that it has seen.
 */
TT_NOINLINE bool sweep_for_call(struct bucket *b)
{
	struct sweeping s = {0};
	uint32_t used = b->slots.used;
	uint32_t words = b->slots.fresh - 1;

	if (block_pool_grows(b->pool) && used < b->sweep_at)
		return false;
	for (uint32_t i = 0; i < CALL_WORDS && i < words; i++) {
		b->swept += UINT32_C(0x9e3779b9);
		sweep_word(b, 1 + (uint32_t)((uint64_t)b->swept * words >> 32),
			   &s);
	}
	b->sweep_at = 5 * s.freed < s.seen ? used + used / 8 : 0;
	b->sweeps_alone += s.freed > 0;
	return b->sweeps_alone >= ALONE_MUCH;
}

/* One pass, which begins somewhere. */
bool sweep_until_found(struct bucket *b, uint64_t *looks)
{
	struct sweeping s = {0};
	uint32_t n = 1;

	for (uint32_t i = 0; i < n && s.freed == 0 && *looks > 0; i++) {
		lock_acquire(&b->lock);
		n = b->slots.fresh;
		b->found = b->found + 1 < n ? b->found + 1 : 1;
		if (b->found < n)
			sweep_word(b, b->found, &s);
		lock_release(&b->lock);
		*looks -=
			*looks < SLOT_FIRST_NUMBER ? *looks : SLOT_FIRST_NUMBER;
	}
	return s.freed > 0;
}

/*
 * Goes through the next words, by pages of them; and chooses some to give back
 * on its way.  After a peak, nearly all may be vacant: many are passed at once.
 * Under the lock.
 */
static void sweep_some(struct bucket *b, struct sweeping *s)
{
	struct slots *t = &b->slots;
	uint64_t seen = s->seen;

	for (int i = 0; s->at < t->end && s->seen - seen + i < STEP_LOOKS &&
			t->chosen.n < VACANCY_MOST;
	     i++) {
		struct words page = {s->at & -vacancy_page(), vacancy_page()};

		if (t->chosen.n == 0 && slots_all_vacant(t, s->at)) {
			s->at += VACANT_WORDS;
			continue;
		}
		for (; s->at < page.first + page.n; s->at++)
			if (s->at > 0 && s->at < t->end)
				sweep_word(b, s->at, s);
		if (!vacancy_choose(t, page) && t->chosen.n > 0)
			break;
	}
}

static void give_back(struct bucket *b, struct sweeping *s, struct words w)
{
	uint32_t stay = vacancy_empty(&b->slots, w);

	lock_acquire(&b->lock);
	vacancy_keep(&b->slots, w, stay);
	lock_release(&b->lock);
	s->gave = stay == 0;
}

bool sweep_step(struct bucket *b, struct sweeping *s)
{
	struct words chosen;
	bool more;

	lock_acquire_hot(&b->lock);
	if (s->at == 0 && s->ends)
		vacancy_next_window(&b->slots);
	s->gave = false;
	sweep_some(b, s);
	chosen = b->slots.chosen;
	more = s->at < b->slots.end;
	lock_release(&b->lock);
	if (chosen.n > 0)
		give_back(b, s, chosen);
	return more;
}
