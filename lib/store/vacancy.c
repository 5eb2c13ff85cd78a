/* SPDX-License-Identifier: MIT */
#include "store/vacancy.h"
#include "os/system.h"

struct slot_floor *slots_floor(const struct slots *t, uint32_t word)
{
	/* As many words behind its bits as there are in its chunk. */
	uint32_t n = (UINT32_C(1) << 31) >> __builtin_clz(word);

	return (struct slot_floor *)(slots_word(t, word) + n);
}

/*
 * Is the word vacant?  In the lowest bit; above it, those of the words behind
 * it.  Acquire: pairs with note.
 */
static uint32_t vacant_from(const struct slots *t, uint32_t word)
{
	return ~atom32_load_acquire(slots_there(t, word)) >>
	       word % VACANT_WORDS;
}

/* The first word is never vacant. */
bool vacancy_has(const struct slots *t, uint32_t word)
{
	return word > 1 && (vacant_from(t, word) & 1);
}

/*
 * Release: pairs with vacancy_has.  Who skips the word sees that its timers
 * have ended.
 */
static void note(struct slots *t, uint32_t word, bool vacant)
{
	atom32 *there = slots_there(t, word);
	uint32_t bit = UINT32_C(1) << word % VACANT_WORDS;
	uint32_t others = atom32_load(there) & ~bit;

	atom32_store_release(there, vacant ? others : others | bit);
}

void vacancy_next_period(struct slots *t)
{
	t->before = t->peak;
	t->peak = t->used;
}

/* If this many slots are used at most. */
static uint32_t surplus_over(const struct slots *t, uint32_t used)
{
	uint64_t stay =
		t->least + ((uint64_t)used * VACANCY_TIMES >> SLOT_WORD_LOG2);
	uint32_t n = slots_words(t);

	return n > stay ? n - (uint32_t)stay : 0;
}

uint32_t vacancy_surplus(const struct slots *t)
{
	return surplus_over(t, t->peak > t->before ? t->peak : t->before);
}

uint32_t vacancy_surplus_later(const struct slots *t)
{
	return t->stays ? 0 : surplus_over(t, t->used);
}

/*
 * Is a slot of this word half used up?  The floor was noted when the word was
 * to be given back; none of its slots has gone below that since then.
 */
static bool is_high(const struct slot_floor *f)
{
	return f->state > UINT32_MAX / 2 || f->ticket > TICKET_WORN / 2;
}

/*
 * Are these words, which are a page, free, and may they go?  Are no slots taken
 * from them?
 */
static bool is_free(const struct slots *t, struct words page)
{
	for (uint32_t i = page.first; i < page.first + page.n; i++) {
		if (i >= t->fresh || i == t->word ||
		    *slots_word(t, i) != UINT64_MAX ||
		    is_high(slots_floor(t, i)))
			return false;
	}
	return true;
}

/* Do these pages lie one behind the other, in the same chunk? */
static bool is_joined(struct words page, struct words above)
{
	return page.n == 0 ||
	       (page.first + page.n == above.first &&
		__builtin_clz(page.first) == __builtin_clz(above.first));
}

static void make_vacant(struct slots *t, struct words page)
{
	for (uint32_t i = page.first; i < page.first + page.n; i++) {
		*slots_word(t, i) = 0;
		note(t, i, true);
	}
	t->vacancies += page.n;
	slots_set_enough(t);
}

bool vacancy_choose(struct slots *t, struct words page)
{
	if (page.first <= 1 || !is_joined(t->held, page) ||
	    vacancy_surplus(t) < page.n || !is_free(t, page))
		return false;
	make_vacant(t, page);
	t->held = (struct words){t->held.n > 0 ? t->held.first : page.first,
				 t->held.n + page.n};
	return true;
}

/* The slots are free: nobody changes them.  False: the word stays. */
static bool note_floor(const struct slots *t, uint32_t word)
{
	const struct slot *s = slots_get(t, word << SLOT_WORD_LOG2);
	struct slot_floor *f = slots_floor(t, word);

	for (const struct slot *end = s + SLOT_FIRST_NUMBER; s < end; s++) {
		uint32_t state = atom32_load(&s->state);
		uint32_t ticket = atom32_load(&s->ticket);

		f->state = state > f->state ? state : f->state;
		f->ticket = ticket > f->ticket ? ticket : f->ticket;
	}
	return !is_high(f);
}

bool vacancy_empty(const struct slots *t, struct words w)
{
	bool may_go = true;

	for (uint32_t i = 0; i < w.n; i++)
		may_go &= note_floor(t, w.first + i);
	if (!may_go)
		return false;
	if (system_empty_pages(slots_get(t, w.first << SLOT_WORD_LOG2),
			       ((size_t)w.n << SLOT_WORD_LOG2) *
				       sizeof(struct slot)))
		return true;
	/* It may have taken a part. */
	for (uint32_t i = 0; i < w.n; i++)
		vacancy_fill(t, w.first + i);
	return false;
}

void vacancy_keep(struct slots *t, struct words w, bool emptied)
{
	t->held.n = 0;
	t->stays = !emptied;
	if (w.first < t->vacant)
		t->vacant = w.first;
	if (emptied)
		return;
	for (uint32_t i = w.first; i < w.first + w.n; i++)
		vacancy_add(t, i);
	/* No more in this period, nor in the next. */
	t->peak = UINT32_MAX;
}

/*
 * Passes the words that cannot be taken: those that the driver has make it look
 * here again when they are kept.  In the first chunks there are fewer than 32.
 */
uint32_t vacancy_next(struct slots *t)
{
	for (; t->vacant < t->end; t->vacant++) {
		uint32_t word = t->vacant, bits = vacant_from(t, word);

		if (bits & 1 && word - t->held.first >= t->held.n)
			return word;
		if (bits == 0 && word >= VACANT_WORDS)
			t->vacant |= VACANT_WORDS - 1;
	}
	return 0;
}

uint32_t vacancy_take(struct slots *t)
{
	uint32_t word = vacancy_next(t);

	if (word > 0)
		note(t, word, false);
	return word;
}

/*
 * A thread with an old id may read a state meanwhile, or compare it: neither
 * zero nor the floor is the state of a timer.  Release: pairs with look_at and
 * slot_cancel, whose callers then see what the timers of before have left.
 */
void vacancy_fill(const struct slots *t, uint32_t word)
{
	struct slot *s = slots_get(t, word << SLOT_WORD_LOG2);
	const struct slot_floor *f = slots_floor(t, word);

	for (uint32_t i = 0; i < SLOT_FIRST_NUMBER; i++) {
		atom32_store(&s[i].ticket, f->ticket);
		atom32_store_release(&s[i].state, f->state);
	}
}

void vacancy_add(struct slots *t, uint32_t word)
{
	note(t, word, false);
	*slots_word(t, word) = UINT64_MAX;
	t->last = word;
	t->vacancies--;
	slots_set_enough(t);
}
