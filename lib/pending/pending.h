/* SPDX-License-Identifier: MIT */
/*
 * The timers that the driver has taken out of the buckets and not yet run: a
 * heap of blocks that are not yet opened, a wheel of timers that are near, and
 * a heap of those that are next.
 *
 * A block is opened when it may hold the earliest timer of all.  Then those of
 * its timers that are near go to the wheel, or to the heap if that is small.
 * The others go back to their bucket, where they cost little.  They are nearer
 * now than when they came.  So the lanes are coarse levels of the wheel, at
 * which the driver seldom looks.  A timer comes here a few times for each lane
 * that it goes through.
 *
 * If deadlines are in no order, each block has a timer that is due soon.  So
 * where more than a few blocks are due at about the same time, they are opened
 * before that, while nothing is due (bucket_visit_at).  4 million timers were
 * each due at a random moment of the same two seconds.  In the first 0.2 s, the
 * 99th percentile of lateness was 43 to 69 ms when blocks were opened only when
 * they had to be, and 6 to 18 ms since (in a virtual machine with two CPUs).
 *
 * Guarantees:
 *  1. pending_next finds the earliest timer of all, and never one that was
 *     cancelled or moved before it looked: dead entries that come to the top
 *     are dropped, and their slots are freed; those of timers that were moved
 *     are filed again.
 *  2. No call takes longer than it takes to file a block of entries.
 *  3. A timer that is cancelled here is found when its slice is opened or its
 *     deadline comes.  If the driver is awake then, that is at most half a
 *     second plus NEAR_NS later.
 *  4. If there is no memory, nothing is lost and the order is kept, and a timer
 *     costs more, but hardly more the more there are: timers for whose entries
 *     the heaps have no room are unqueued (intake/unqueued.h).
 *  5. As long as no more timers exist than a reserve is for, no memory is
 *     allocated: what the heaps have no room for is unqueued then, too.  (They
 *     have room for two entries a timer: some are of no use.)
 *
 * Not thread-safe; the driver owns it.
 */
#pragma once

#include "intake/intake.h"
#include "pending/heap.h"
#include "pending/wheel.h"

struct pending {
	struct intake *intake;
	struct wakeup *wakeup;
	struct heap heap;    /* timers that are next */
	struct wheel wheel;  /* timers that are near, if there are many */
	struct heap blocks;  /* of blocks that are not yet opened */
	struct block *spare; /* for the wheel; or NULL */
	/* Since pending_begin_turn: */
	bool starved;   /* there was no memory; it is not asked for again */
	int64_t beyond; /* what is due later must not run; see pending_file */
};

/* False: no memory. */
INTERNAL bool pending_init(struct pending *p, struct intake *in,
			   struct wakeup *w);
INTERNAL void pending_destroy(struct pending *p);

/*
 * Allocates memory for n timers, for which the intake has a reserve.  False: no
 * memory.
 */
INTERNAL bool pending_reserve(struct pending *p, size_t n);

/*
 * Adds a block, which it owns from now on.  Without memory for that, its timers
 * are unqueued.
 */
INTERNAL void pending_add(struct pending *p, struct row r);

/* A turn begins. */
INTERNAL void pending_begin_turn(struct pending *p);

/*
 * One step towards the earliest live timer, at the time now.  True: it is at
 * the heap's top, and *ret_next is its deadline; INT64_MAX: there is none.
 * False: there are more steps to take, and nothing is due before *ret_next.
 */
INTERNAL bool pending_next(struct pending *p, int64_t now, int64_t *ret_next);

/* Takes out the entry that pending_next has found. */
static inline struct entry pending_take(struct pending *p)
{
	return heap_pop(&p->heap);
}

/*
 * Files an entry: it is kept if it is near, and otherwise goes back to its
 * bucket.  If there is no room and no memory, the timer of this one or of a
 * later one is unqueued.  Then what is due later than that must not run before
 * the buckets were visited again: p->beyond.
 */
INTERNAL void pending_file(struct pending *p, struct entry e, int64_t now);

/* Drops the entries of a block that are of no use; puts the others back. */
INTERNAL void pending_sift(struct pending *p, struct block *b);

/*
 * For a driver that has nothing to run at the time now.  If more than a few
 * blocks are due at about the same time, opens the first of them.  True: there
 * may be more to do.
 */
INTERNAL bool pending_open_ahead(struct pending *p, int64_t now);

/* Its memory, without blocks. */
INTERNAL size_t pending_bytes(const struct pending *p);
