/* SPDX-License-Identifier: MIT */
/*
 * A wheel of three levels, with 64 slices of time each, which are 131 us, 8.4
 * ms and 537 ms long (hierarchical timing wheels: Varghese and Lauck, 1987).
 *
 * Entries wait here unsorted until shortly before they are due.  Then only
 * those of one slice of 131 us are sorted, by a heap that fits in a CPU's
 * first-level cache.  Their slots are looked at once, just before they are
 * needed.  Usually only the finest level is used.  The others are for a driver
 * that is behind.  Without them it would have to sort everything that was due
 * over a longer time: the more it was behind, the slower it would be.
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
 *  1. No entry comes out after its deadline, as long as the slice that is
 *     opened is always the one that wheel_nearest returns.
 *  2. An entry that is taken out and added again is then in a finer level.  So
 *     it comes out three times at most.
 *  3. An entry is refused if it does not fit, or if there is no memory for its
 *     block.  It does not fit if it is due in the next 131 us, or earlier, or
 *     in more than half a minute.
 *
 * Not thread-safe; the driver owns it.
 */
#ifndef TT_WHEEL_H
#define TT_WHEEL_H

#include "pending/slices.h"

#define WHEEL_LEVELS 3

struct wheel {
	struct slices level[WHEEL_LEVELS]; /* the finest one first */
};

void wheel_init(struct wheel *w);
void wheel_destroy(struct wheel *w);

/* From now on, an entry is refused unless it is due after this time. */
void wheel_advance(struct wheel *w, int64_t now);

/* No entry is due earlier; INT64_MAX: there is none. */
static inline int64_t wheel_nearest(const struct wheel *w)
{
	int64_t nearest = INT64_MAX;

	for (int i = 0; i < WHEEL_LEVELS; i++) {
		int64_t next = slices_next(&w->level[i]);

		nearest = next < nearest ? next : nearest;
	}
	return nearest;
}

/* The level for this deadline; WHEEL_LEVELS: it does not fit. */
static inline int wheel_level(const struct wheel *w, int64_t deadline)
{
	int i = 0;

	while (i < WHEEL_LEVELS && !slices_fit(&w->level[i], deadline))
		i++;
	return i;
}

/* Adds an entry, in a block of *spares.  False: it was refused. */
static inline bool wheel_add(struct wheel *w, struct entry e,
			     struct block **spares)
{
	int i = wheel_level(w, e.deadline);

	return i < WHEEL_LEVELS && slices_add(&w->level[i], e, spares);
}

/*
 * Takes out a block of the slice that wheel_nearest returns.  None of its
 * entries is due later than *ret_last.  An entry of it may be added again; then
 * it goes to a finer level, or is refused.
 */
struct block *wheel_open(struct wheel *w, int64_t *ret_last);

/* Blocks in it. */
size_t wheel_blocks(const struct wheel *w);

#endif
