/* SPDX-License-Identifier: MIT */
/*
 * Vacant words: slots have no memory before they are used, and give it back
 * when they are free for a while.
 *
 * A word of 64 slots is a page of memory.  Where all 64 are free, the page goes
 * back to the system.  Its addresses stay: who reads there finds zeros, which
 * is the state of a slot that was never used, and matches no id.  The word's
 * floor keeps the highest generation and the highest ticket of its slots.  When
 * the word is wanted, for the first time or again, all its slots begin there.
 *
 * Guarantees:
 *  1. No id names a second timer, and no entry counts for a second timer, over
 *     this.  One slot does not wear the others of its word: if half of its
 *     generations or tickets are used up, the word stays.
 *  2. Memory is given back only if there is more than VACANCY_TIMES as much as
 *     was used at most in this period and the one before, and some (least).  So
 *     a program whose number of timers goes up and down by less than that gives
 *     back nothing, and the system need not clear pages for it again.
 *  3. A step takes a few microseconds, and holds the lock for less than one.
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

#include "store/slots.h"

/*
 * As many times the peak as may stay.  (A window of 1,000 to 100,000 timers
 * with any mix of timeouts never used three times its number.)
 */
#define VACANCY_TIMES 4

/* A new period begins.  Under the lock. */
INTERNAL void vacancy_next_period(struct slots *t);

/*
 * How many words are more than should stay; and will be, if no more slots are
 * used in the next periods than now, and the system takes them.  Under the
 * lock.
 */
INTERNAL uint32_t vacancy_surplus(const struct slots *t);
INTERNAL uint32_t vacancy_surplus_later(const struct slots *t);

/* How many words are given back at a time, at most. */
#define VACANCY_MOST 16

/*
 * Chooses this page of words to give it back, with those that were chosen since
 * others were kept (t->held): its words are no longer free, and cannot be taken
 * until they are kept.  False: there is no surplus, not all of them are free, or
 * they do not lie right behind those.  Under the lock.
 */
INTERNAL bool vacancy_choose(struct slots *t, struct words page);

/*
 * Has this word no memory, or is that about to be given back?  Then a read
 * finds no timer, and may make the system give memory.  Any thread; without the
 * lock, the answer may be a little old, but who skips the word sees what its
 * last timers have left.
 */
INTERNAL bool vacancy_has(const struct slots *t, uint32_t word);

/*
 * Notes their floors and gives the memory back.  False: one of them stays; or
 * the system does not take it, for example because it is locked, or takes a
 * part, which is filled in again.  Without the lock.
 */
INTERNAL bool vacancy_empty(const struct slots *t, struct words w);

/*
 * Now they can be taken; or, if they were not emptied, they are free, and there
 * is no surplus until two periods have begun.  Under the lock.
 */
INTERNAL void vacancy_keep(struct slots *t, struct words w, bool emptied);

/*
 * To use a vacant word:
 *
 *  - vacancy_take takes the lowest, or returns 0: there is none.  Under the
 *    lock.
 *  - vacancy_fill sets its slots to the floor.  Without the lock, because the
 *    kernel must find a page.
 *  - vacancy_add makes them free.  Under the lock.
 */
INTERNAL uint32_t vacancy_take(struct slots *t);
INTERNAL void vacancy_fill(const struct slots *t, uint32_t word);
INTERNAL void vacancy_add(struct slots *t, uint32_t word);

/* The one that would be taken.  Under the lock. */
INTERNAL uint32_t vacancy_next(struct slots *t);

/* The floor of a word that is not the first. */
INTERNAL struct slot_floor *slots_floor(const struct slots *t, uint32_t word);
