/* SPDX-License-Identifier: MIT */
/*
 * Vacant words: slots have no memory before they are used, and give it back
 * when they are free for a while.
 *
 * A word of 64 slots is a page of memory; or a part, and then the words of a
 * page come and go together.  Where all slots are free, the page goes back to
 * the system.  Its addresses stay: who reads there finds zeros, which is the
 * state of a slot that was never used, and matches no id.  The word's floor
 * keeps the highest generation and the highest ticket of its slots.  When the
 * word is wanted, for the first time or again, all its slots begin there.
 *
 * Guarantees:
 *  1. No id names a second timer, and no entry counts for a second timer, over
 *     this.  One slot does not wear the others of its word: if half of its
 *     generations or tickets are used up, the word stays.
 *  2. Memory is given back only if there is more than VACANCY_TIMES as much as
 *     was used at most in this window and the one before, and some (least).  So
 *     a program whose number of timers goes up and down by less than that gives
 *     back nothing, and the system need not clear pages for it again.
 *  3. With pages of 4 KiB, a step takes a few microseconds, and holds the lock
 *     for less than one.
 *
 * The lock is held only while words are chosen or kept, and while one is taken
 * or added.  Between these, a word belongs to the thread that has chosen or
 * taken it: none of its slots is free, and no timer is in it.
 *
 * The driver: choose, empty, keep.  Any thread: take, fill, add.
 * As the name says, or else under the lock: the rest.  test/model/vacancy.pml
 * is a model of this for Spin.
 */
#pragma once

#include "os/memory.h"
#include "os/system.h"
#include "store/slots.h"

/*
 * As many times the peak as may stay.  (1,000 to 100,000 timers in flight, with
 * any mix of timeouts, never used three times their number.)
 */
#define VACANCY_TIMES 4

/* The floor of a word that is not the first. */
TT_PART struct slot_floor *slots_floor(const struct slots *t, uint32_t word)
{
	/* As many words behind its bits as there are in its chunk. */
	uint32_t n = (UINT32_C(1) << 31) >> __builtin_clz(word);

	return (struct slot_floor *)(slots_word(t, word) + n);
}

/*
 * Is the word vacant?  In the lowest bit; above it, those of the words behind
 * it.  Acquire: pairs with vacancy_note.
 */
static uint32_t vacant_from(const struct slots *t, uint32_t word)
{
	return ~atom32_load_acquire(slots_there(t, word)) >>
	       word % VACANT_WORDS;
}

/*
 * Has this word no memory, or is that about to be given back?  Then a read
 * finds no timer, and may make the system give memory.  Any thread; without the
 * lock, the answer may be a little old, but who skips the word sees what its
 * last timers have left.  The first word is never vacant.
 */
TT_PART bool vacancy_has(const struct slots *t, uint32_t word)
{
	return word > 1 && (vacant_from(t, word) & 1);
}

/*
 * Release: pairs with vacancy_has.  Who skips the word sees that its timers
 * have ended.
 */
static void vacancy_note(struct slots *t, uint32_t word, bool vacant)
{
	atom32 *there = slots_there(t, word);
	uint32_t bit = UINT32_C(1) << word % VACANT_WORDS;
	uint32_t others = atom32_load(there) & ~bit;

	atom32_store_release(there, vacant ? others : others | bit);
}

/* A new window begins.  Under the lock. */
TT_PART void vacancy_next_window(struct slots *t)
{
	t->before = t->peak;
	t->peak = t->used;
}

/* How many words are a page. */
TT_PART uint32_t vacancy_page(void)
{
	return (uint32_t)(pages_size() / sizeof(struct slot)) >> SLOT_WORD_LOG2;
}

/*
 * If this many slots are used at most.  The first page stays, and may be larger
 * than the least.
 */
static uint32_t surplus_over(const struct slots *t, uint32_t used)
{
	uint64_t stay = t->least + vacancy_page() - 1 +
			((uint64_t)used * VACANCY_TIMES >> SLOT_WORD_LOG2);
	uint32_t n = slots_words(t);

	return n > stay ? (n - (uint32_t)stay) & -vacancy_page() : 0;
}

/*
 * How many words, by pages, are more than should stay; and will be, if no more
 * slots are used in the next windows than now, and the system takes them.
 * Under the lock.
 */
TT_PART uint32_t vacancy_surplus(const struct slots *t)
{
	return surplus_over(t, t->peak > t->before ? t->peak : t->before);
}

TT_PART uint32_t vacancy_surplus_later(const struct slots *t)
{
	return t->refused ? 0 : surplus_over(t, t->used);
}

/* How many words are given back at a time, at most. */
#define VACANCY_MOST 16

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
		if (i <= 1 || i == t->word || *slots_word(t, i) != UINT64_MAX ||
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
		vacancy_note(t, i, true);
	}
	t->vacancies += page.n;
	slots_set_enough(t);
}

/*
 * Chooses this page of words to give it back, with those that were chosen since
 * others were kept: its words are no longer free, and cannot be taken until
 * they are kept.  False: there is no surplus, not all of them are free, or they
 * do not lie right behind those.  Under the lock.
 */
TT_PART bool vacancy_choose(struct slots *t, struct words page)
{
	if (!is_joined(t->chosen, page) || vacancy_surplus(t) < page.n ||
	    !is_free(t, page))
		return false;
	make_vacant(t, page);
	t->chosen.first = t->chosen.n > 0 ? t->chosen.first : page.first;
	t->chosen.n += page.n;
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

/*
 * Sets the slots of vacant words to their floors.  Without the lock, because
 * the kernel must find a page.
 *
 * A thread with an old id may read a state meanwhile, or compare it: neither
 * zero nor the floor is the state of a timer.  Release: pairs with look_at and
 * slot_cancel, whose callers then see what the timers of before have left.
 */
TT_PART void vacancy_fill(const struct slots *t, struct words w)
{
	struct slot *s = slots_get(t, w.first << SLOT_WORD_LOG2);
	const struct slot_floor *f = slots_floor(t, w.first);

	for (uint32_t i = 0; i < w.n << SLOT_WORD_LOG2; i++) {
		atom32_store(&s[i].ticket, f[i >> SLOT_WORD_LOG2].ticket);
		atom32_store_release(&s[i].state, f[i >> SLOT_WORD_LOG2].state);
	}
}

/*
 * Notes their floors and gives the memory back.  Returns 0; or how many of them
 * stay for ever, at most, while others may go the next time; or more than all:
 * the system refuses to take them, for example because they are locked, or
 * takes a part, which is filled in again.  Without the lock.
 */
TT_PART uint32_t vacancy_empty(const struct slots *t, struct words w)
{
	struct slot *first = slots_get(t, w.first << SLOT_WORD_LOG2);
	size_t n = (size_t)w.n << SLOT_WORD_LOG2;
	uint32_t stay = 0;

	for (uint32_t i = 0; i < w.n; i++)
		stay += note_floor(t, w.first + i) ? 0 : vacancy_page();
	if (stay > 0 || system_empty_pages(first, n * sizeof(*first)))
		return stay < w.n ? stay : w.n;
	vacancy_fill(t, w);
	return w.n + 1;
}

/* Makes the slots of vacant words free.  Under the lock. */
TT_PART void vacancy_add(struct slots *t, struct words w)
{
	for (uint32_t i = w.first; i < w.first + w.n; i++) {
		vacancy_note(t, i, false);
		*slots_word(t, i) = UINT64_MAX;
	}
	t->last = w.first;
	t->vacancies -= w.n;
	slots_set_enough(t);
}

/*
 * Now they can be taken; or, if not all were emptied, they are free.  If the
 * system has refused them, there is no surplus until two windows have begun.
 * stay is what vacancy_empty has returned.  Under the lock.
 */
TT_PART void vacancy_keep(struct slots *t, struct words w, uint32_t stay)
{
	t->chosen.n = 0;
	t->refused = stay > w.n;
	t->least += t->refused ? 0 : stay;
	if (w.first < t->vacant)
		t->vacant = w.first;
	if (stay > 0)
		vacancy_add(t, w);
	/* No more in this window, nor in the next. */
	if (t->refused)
		t->peak = UINT32_MAX;
}

/*
 * The one that vacancy_take would take, or 0.  Under the lock.
 *
 * Passes the words that cannot be taken: those that the driver has make it look
 * here again when they are kept.  In the first chunks there are fewer than 32.
 */
TT_PART uint32_t vacancy_next(struct slots *t)
{
	for (; t->vacant < t->end; t->vacant++) {
		uint32_t word = t->vacant, bits = vacant_from(t, word);

		if (bits & 1 && word - t->chosen.first >= t->chosen.n)
			return word;
		if (bits == 0 && word >= VACANT_WORDS)
			t->vacant |= VACANT_WORDS - 1;
	}
	return 0;
}

/*
 * To use vacant words: this takes the lowest, and what is of the same page; or
 * none, if none is vacant.  The first page has several chunks, and stays.  Then
 * come vacancy_fill and vacancy_add.  Under the lock.
 */
TT_PART struct words vacancy_take(struct slots *t)
{
	uint32_t first = vacancy_next(t), n = vacancy_page();
	struct words w = {first, first < n ? first > 0 : n};

	for (uint32_t i = w.first; i < w.first + w.n; i++)
		vacancy_note(t, i, false);
	return w;
}
