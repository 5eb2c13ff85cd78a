/* SPDX-License-Identifier: MIT */
/*
 * Entries by slices of time, unsorted.  There are SLICES slices of the same
 * length; the first one begins about now.
 *
 * Adding an entry writes 16 bytes.  A slice is opened when its time comes.
 *
 * Guarantees:
 *  1. No entry of a slice is due before the slice's time.
 *  2. An entry is refused if it does not fit, or if there is no memory for it.
 *     It does not fit if its slice is the one that is open, an earlier one, or
 *     beyond the last one.
 *
 * Not thread-safe; the driver owns it.
 */
#ifndef TT_SLICES_H
#define TT_SLICES_H

#include "os/base.h"
#include "store/block.h"

#include <stdbool.h>
#include <stdint.h>

#define SLICES_LOG2 6
#define SLICES      (1 << SLICES_LOG2)

struct slices {
	unsigned shift; /* a slice is 2 to the power of this nanoseconds long */
	/*
	 * The slice that was opened last; or that of the current time, if that
	 * is later or there are no entries.  No entry is in an earlier slice.
	 */
	int64_t open;
	uint64_t full; /* a bit for each that has a chain, by slice_index */
	size_t blocks; /* in all chains */
	struct block *chain[SLICES];
};

void slices_init(struct slices *s, unsigned shift);
void slices_destroy(struct slices *s);

/* The number of the slice that this time is in. */
static inline int64_t slice_of(const struct slices *s, int64_t t)
{
	return t >> s->shift;
}

static inline unsigned slice_index(int64_t slice)
{
	return (uint64_t)slice % SLICES;
}

/*
 * Can an entry with this deadline be added?  The slice that is open has a place
 * too, so there are SLICES - 1 for the slices after it.
 */
static inline bool slices_fit(const struct slices *s, int64_t deadline)
{
	uint64_t ahead = (uint64_t)slice_of(s, deadline) - (uint64_t)s->open;

	return ahead - 1 < SLICES - 1;
}

/* The first slice that has entries; there must be one. */
static inline int64_t slices_first(const struct slices *s)
{
	unsigned i = slice_index(s->open);
	uint64_t full = s->full >> i | s->full << (-i % SLICES);

	return s->open + __builtin_ctzll(full);
}

/* No entry is due earlier than this; INT64_MAX: there is none. */
static inline int64_t slices_next(const struct slices *s)
{
	if (likely(s->full == 0))
		return INT64_MAX;
	return (int64_t)((uint64_t)slices_first(s) << s->shift);
}

/*
 * To be called when the time is now: slices that have passed, and have no
 * entries, make room for others.
 */
void slices_advance(struct slices *s, int64_t now);

/* Adds an entry that fits, in a block of *spares.  False: there is none. */
bool slices_add(struct slices *s, struct entry e, struct block **spares);

/* Takes a block out of the first slice; there must be one. */
struct block *slices_open(struct slices *s);

#endif
