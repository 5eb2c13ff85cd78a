/* SPDX-License-Identifier: MIT */
/*
 * The far wheel: entries that are not due for a while, unsorted, in wheels of
 * wheels.
 *
 * A heap of ten million entries is larger than a CPU's cache, and each of its
 * removals waits for memory ten times.  Here an entry is only put down behind
 * others that are due about the same time, and taken up again when that time
 * is near, once for each level down to the heap.
 *
 * Time is counted in ticks, of a quarter of a millisecond, from `base`.  The
 * level of an entry is that of the highest digit in which its tick differs from
 * the base, to the base of 64, and that digit of its tick is its slot.  So all
 * of a lower level are due before any of a higher one, and in a level the
 * slots are due in their order; a bitmap finds the first.  When its time is
 * near, a slot is taken out as a whole, the base becomes the beginning of it,
 * and what was in it is filed again, further down; what is in the base's own
 * tick is left to the near heap.  Deadlines are never rounded.
 *
 * That a wheel may be driven by its first slot that is not empty, and not by
 * a clock that ticks, is Kafka's (its purgatory's timer); that the level is the
 * highest digit that differs is from the radix heap (Ahuja, Mehlhorn, Orlin and
 * Tarjan, Journal of the ACM, 1990).
 *
 * Guarantees:
 *  1. What is in the wheel is due after the base's tick, and no earlier than
 *     the `nearest` of its first slot.
 *  2. Each call takes constant time, whatever the number of entries.
 *  3. All times from INT64_MIN to INT64_MAX, TIMERTHREAD_NEVER too, have a
 *     place, but for those up to the base's tick.  (If the wall clock is set
 *     back while the wheel is not empty, those are all of that time.)
 *  4. Only wheel_file allocates: a block, or the slots of a level, two
 *     kilobytes.  It may fail without harm.
 *
 * Not thread-safe; the driver owns it.
 */
#ifndef TT_WHEEL_H
#define TT_WHEEL_H

#include "intake/queue.h"
#include "os/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A tick is 2^18 ns. */
#define WHEEL_TICK_LOG2  18
#define WHEEL_DIGIT_LOG2 6
#define WHEEL_SLOTS      (1u << WHEEL_DIGIT_LOG2)
#define WHEEL_LEVELS                                                           \
	((64 - WHEEL_TICK_LOG2 + WHEEL_DIGIT_LOG2 - 1) / WHEEL_DIGIT_LOG2)

struct wheel_slot {
	struct block *first;  /* the one that is filled; others behind it */
	size_t n;             /* entries */
	struct entry nearest; /* the earliest of all since it was empty */
};

struct wheel_level {
	uint64_t occupied; /* bit i: slot i is not empty */
	struct wheel_slot slot[WHEEL_SLOTS];
};

struct wheel {
	uint64_t base;     /* a tick */
	uint32_t occupied; /* bit i: level i is not empty */
	size_t n;          /* entries */
	struct wheel_level *level[WHEEL_LEVELS]; /* NULL: not needed so far */
	/*
	 * Where wheel_visit is: the link to a block of a slot; NULL: at the
	 * beginning of that slot, or of the first behind it.
	 */
	struct {
		uint32_t level, slot;
		struct block **at;
	} cursor;
};

void wheel_init(struct wheel *w);
void wheel_destroy(struct wheel *w);

/* The tick of a time: INT64_MIN is in tick 0. */
static inline uint64_t wheel_tick(int64_t time)
{
	return ((uint64_t)time ^ UINT64_C(1) << 63) >> WHEEL_TICK_LOG2;
}

/* Is there a place for this time? */
static inline bool wheel_takes(const struct wheel *w, int64_t deadline)
{
	return wheel_tick(deadline) > w->base;
}

/*
 * Puts e, for whose time there is a place, into its slot.  A block that it
 * needs is taken from *spares, if there is one.  False: no memory.
 */
bool wheel_file(struct wheel *w, struct entry e, struct block **spares);

/* The first slot of a level that is not empty. */
static inline struct wheel_slot *wheel_first_of(const struct wheel *w,
						uint32_t level)
{
	struct wheel_level *l = w->level[level];

	return &l->slot[__builtin_ctzll(l->occupied)];
}

/* The slot that is due first; NULL: the wheel is empty. */
static inline struct wheel_slot *wheel_first(const struct wheel *w)
{
	if (!w->occupied)
		return NULL;
	return wheel_first_of(w, (uint32_t)__builtin_ctz(w->occupied));
}

/*
 * Takes out all of the first slot.  open: and makes its beginning the base; the
 * entries then go to lower levels, or have no place any more.
 */
struct chain wheel_take(struct wheel *w, bool open);

/*
 * Time has come this far: moves the base, up to the first slot that is not
 * empty.  A base that lies far behind sends entries to a higher level than need
 * be; an empty wheel's base may go back, too.
 */
void wheel_advance(struct wheel *w, int64_t now);

/*
 * To look at all entries in turn, a block at a time: the next one, or NULL at
 * the end, and then the first one again.  Entries may be removed from the
 * block; then wheel_visited, before any other call.
 */
struct block *wheel_visit(struct wheel *w);

/* So many were removed.  Empty blocks become spares. */
void wheel_visited(struct wheel *w, uint32_t removed, struct block **spares);

/* Aborts if the wheel is not sound; for tests. */
void wheel_check(const struct wheel *w);

#endif
