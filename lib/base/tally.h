/* SPDX-License-Identifier: MIT */
/*
 * A tally: a part of a number that many threads change.  Each CPU has a tally,
 * in a cache line of its own, so that CPUs do not wait for each other.  To find
 * out the number, a thread closes all tallies and adds them up.
 *
 * Guarantees:
 *  1. A change of an open tally is a compare-and-swap and nothing else.
 *  2. Either a change is made before the tally is closed, and tally_close
 *     includes it in its result; or the change fails and changes nothing.
 *  3. Everything that a thread did before a change is visible to a thread that
 *     closes the tally later.
 *
 * A tally may overflow: the sum is right modulo TALLY_MAX + 1.
 *
 * Any thread, but only the owner may close and open.
 */
#pragma once

#include "base/atomic.h"
#include "base/base.h"

/* The lowest bit says that it is closed, the others are the number. */
#define TALLY_CLOSED 1u
#define TALLY_ONE    2u
#define TALLY_MAX    INT32_MAX

/* All zero: it is open, and its number is 0. */
struct tally {
	atom32 word;
};

/* Acquire: pairs with the store in tally_open. */
static inline bool tally_is_open(const struct tally *t)
{
	return !(atom32_load_acquire(&t->word) & TALLY_CLOSED);
}

/*
 * Adds n if the tally is open and its number is from `least` to `most`.
 * The compare-and-swap pairs with that in tally_close.
 */
static TT_INLINE bool tally_add_within(struct tally *t, int32_t n,
				       uint32_t least, uint32_t most)
{
	uint32_t was = atom32_load(&t->word), seen;

	while (!(was & TALLY_CLOSED) && was / TALLY_ONE >= least &&
	       was / TALLY_ONE <= most) {
		seen = atom32_swap(&t->word, was,
				   was + (uint32_t)n * TALLY_ONE);
		if (likely(seen == was))
			return true;
		was = seen;
	}
	return false;
}

/* Adds n if the tally is open. */
static inline bool tally_add(struct tally *t, int32_t n)
{
	return tally_add_within(t, n, 0, TALLY_MAX);
}

/* Closes an open tally.  Returns its number. */
static inline uint32_t tally_close(struct tally *t)
{
	uint32_t was = atom32_load(&t->word), seen;

	while ((seen = atom32_swap(&t->word, was, TALLY_CLOSED)) != was)
		was = seen;
	return was / TALLY_ONE;
}

/*
 * Opens a closed tally with the number n.  Release: pairs with the load in
 * tally_is_open, and with the compare-and-swap of a thread that changes it.
 */
static inline void tally_open(struct tally *t, uint32_t n)
{
	atom32_store_release(&t->word, n * TALLY_ONE);
}
