/* SPDX-License-Identifier: MIT */
/*
 * A wheel of four levels, with 64 slices of time each, which are 131 us, 4.2
 * ms, 134 ms and 4.3 s long (hierarchical timing wheels: Varghese and Lauck,
 * 1987).  The first slice of each level begins about now.  Adding an entry
 * writes 16 bytes.  A slice is opened when its time comes.
 *
 * Entries wait here unsorted until shortly before they are due.  Then only
 * those of one slice of 131 us are sorted, by a heap that fits in a CPU's
 * first-level cache.  Their slots are looked at once, just before they are
 * needed.  Usually only the finest level is used.  Two others are for a driver
 * that is behind, or that has very many timers.  Without them it would have to
 * sort everything that was due over a longer time: the more it was behind, the
 * slower it would be.  The last one is for a process that was stopped for more
 * than four seconds.  (After 22 s, each of a million timers took 657 ns with
 * it, and 721 without.)
 *
 * A level has room for two slices of the next one.  So a slice that is long can
 * be opened block by block before its time.  (If half a million entries are
 * opened all at once, all timers wait for 6 ms.)
 *
 * CPU time in ns for each timer, if this many timers per second, each due
 * within the next second, run on one thread (in a virtual machine with two
 * CPUs): without the wheel, when all near timers are in the heap; and with it:
 *
 *	million per second	  1	  2	  3	  5
 *	without			591	371	289	635, runs 1.6 a second
 *	with			577	338	258	227, runs 4.3 a second
 *
 * Guarantees:
 *  1. No entry comes out after its deadline, as long as the slice that
 *     wheel_nearest returns is opened no later than at that time.
 *  2. An entry that is taken out and added again is then in a finer level.  So
 *     it comes out four times at most.
 *  3. An entry is refused if it does not fit, or if there is no memory for its
 *     block.  It does not fit if it is due in the next 131 us, or earlier, or
 *     in more than four minutes.
 *
 * Not thread-safe; the driver owns it.
 */
#pragma once

#include "store/block.h"

#define WHEEL_LEVELS 4
#define SLICES_LOG2  6
#define SLICES       (1 << SLICES_LOG2)

/* A slice is as long as so many of the next finer level. */
#define FINER_LOG2 (SLICES_LOG2 - 1)

/* No entry of a slice is due before the slice's time. */
struct level {
	/*
	 * The slice that was opened last; or that of the current time, if that
	 * is later or there are no entries.  No entry is in an earlier slice.
	 */
	int64_t open;
	uint64_t full; /* a bit for each slice that has a chain */
	struct block *chain[SLICES];
};

/* All zero: it is empty. */
struct wheel {
	struct level level[WHEEL_LEVELS]; /* the finest one first */
};

/* A slice of this level is 2 to the power of this nanoseconds long. */
static inline int slice_log2(int level)
{
	return 17 + level * FINER_LOG2;
}

/* The number of a level's slice that this time is in. */
static inline int64_t slice_of(int level, int64_t t)
{
	return t >> slice_log2(level);
}

/* Its number in the level. */
static inline unsigned slice_index(int64_t slice)
{
	return (uint64_t)slice % SLICES;
}

/* No entry of the level is due earlier than this; INT64_MAX: it has none. */
static inline int64_t wheel_next(const struct wheel *w, int level)
{
	const struct level *l = &w->level[level];
	unsigned i = slice_index(l->open);
	uint64_t full, first;

	if (likely(l->full == 0))
		return INT64_MAX;
	full = l->full >> i | l->full << (-i % SLICES);
	first = (uint64_t)l->open + (unsigned)__builtin_ctzll(full);
	return (int64_t)(first << slice_log2(level));
}

/* No entry is due earlier; INT64_MAX: there is none. */
static inline int64_t wheel_nearest(const struct wheel *w)
{
	int64_t nearest = INT64_MAX;

	for (int i = 0; i < WHEEL_LEVELS; i++) {
		int64_t next = wheel_next(w, i);

		nearest = next < nearest ? next : nearest;
	}
	return nearest;
}

/*
 * The level for this deadline; WHEEL_LEVELS: it does not fit.  The slice that
 * is open has a place too, so there are SLICES - 1 for the slices after it.
 */
static inline int wheel_level(const struct wheel *w, int64_t deadline)
{
	int i;

	for (i = 0; i < WHEEL_LEVELS; i++) {
		uint64_t slice = (uint64_t)slice_of(i, deadline);
		uint64_t ahead = slice - (uint64_t)w->level[i].open;

		if (ahead - 1 < SLICES - 1)
			break;
	}
	return i;
}

TT_PART void wheel_destroy(struct wheel *w)
{
	for (int i = 0; i < WHEEL_LEVELS; i++) {
		for (int k = 0; k < SLICES; k++)
			block_free_all(w->level[i].chain[k]);
	}
	*w = (struct wheel){0};
}

/*
 * From now on, an entry is refused unless it is due after this time.  Slices
 * that have passed, and have no entries, make room for others.
 */
TT_PART void wheel_advance(struct wheel *w, int64_t now)
{
	for (int i = 0; i < WHEEL_LEVELS; i++) {
		struct level *l = &w->level[i];
		int64_t to = slice_of(i, now);

		if (l->full != 0) {
			int64_t first = slice_of(i, wheel_next(w, i));

			to = first < to ? first : to;
			/* The clock may have been set back. */
			to = to > l->open ? to : l->open;
		}
		l->open = to;
	}
}

/* Adds an entry, in a block of *spares.  False: it was refused. */
TT_PART bool wheel_add(struct wheel *w, struct entry e, struct block **spares)
{
	int level = wheel_level(w, e.deadline);
	unsigned i = slice_index(slice_of(level, e.deadline));
	struct level *l = &w->level[level];
	struct block *b;

	if (level == WHEEL_LEVELS)
		return false;
	b = l->chain[i];
	if (unlikely(!b || b->n == BLOCK_ENTRIES)) {
		b = block_pop(spares);
		if (!b)
			return false;
		b->n = 0;
		block_push(&l->chain[i], b);
		l->full |= UINT64_C(1) << i;
	}
	b->entry[b->n++] = e;
	return true;
}

/* The end of a slice that begins at this time. */
static inline int64_t wheel_last(int level, int64_t time)
{
	return time | ((INT64_C(1) << slice_log2(level)) - 1);
}

/* Takes out a block of the level's first slice; there must be one. */
static struct block *take_block_of(struct wheel *w, int level,
				   int64_t *ret_last)
{
	int64_t time = wheel_next(w, level);
	struct level *l = &w->level[level];
	unsigned i = slice_index(slice_of(level, time));
	struct block *b = block_pop(&l->chain[i]);

	if (!l->chain[i])
		l->full &= ~(UINT64_C(1) << i);
	*ret_last = wheel_last(level, time);
	return b;
}

/*
 * Takes out a block of the slice that wheel_nearest returns.  None of its
 * entries is due later than *ret_last.  An entry of it may be added again; then
 * it goes to a finer level, or is refused.
 */
TT_PART struct block *wheel_open(struct wheel *w, int64_t *ret_last)
{
	int64_t time = wheel_nearest(w);
	int level = WHEEL_LEVELS - 1;

	/*
	 * If several levels are first, the coarsest of them: it may have
	 * entries that are due before those of the others.
	 */
	while (wheel_next(w, level) > time)
		level--;
	wheel_advance(w, time);
	return take_block_of(w, level, ret_last);
}

/* This level's slices are long: they are opened ahead. */
#define WHEEL_LONG 2

/* Does that level have entries? */
static inline bool wheel_is_deep(const struct wheel *w)
{
	return w->level[WHEEL_LONG].full != 0;
}

/*
 * As wheel_open, for the next slice that is long, if a finer level has room for
 * all of it; else NULL.  (Without that, what is opened would come back to it.)
 */
TT_PART struct block *wheel_open_ahead(struct wheel *w, int64_t *ret_last)
{
	int64_t time = wheel_next(w, WHEEL_LONG);
	int64_t last = wheel_last(WHEEL_LONG, time);

	if (!wheel_is_deep(w) || wheel_level(w, time) >= WHEEL_LONG ||
	    wheel_level(w, last) >= WHEEL_LONG)
		return NULL;
	return take_block_of(w, WHEEL_LONG, ret_last);
}
