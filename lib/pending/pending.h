/* SPDX-License-Identifier: MIT */
/*
 * What the driver has taken out of the buckets and not yet run: a heap of
 * blocks that are yet to be opened, a wheel of timers that are near, and a heap
 * of those that are next.
 *
 * A block is opened when it may hold the earliest timer of all.  Then those of
 * its timers that are near go to the wheel, or to the heap if that is short;
 * those that are not go back to their bucket, where they are cheap, and nearer
 * now than when they came.  So the lanes are coarse levels of the wheel, which
 * the driver seldom looks at.  A timer comes here a few times for each lane
 * that it goes through.
 *
 * Guarantees:
 *  1. pending_next finds the earliest of all, and never a timer that was
 *     cancelled before it looked: dead entries that come to the top are
 *     dropped, and their slots freed.
 *  2. No call takes longer than to file a block of entries; but see 5.
 *  3. A timer that is cancelled here is found when its slice is opened or its
 *     deadline comes.  That is half a second and PENDING_NEAR_NS later at most,
 *     if the driver is awake then.
 *  4. Running out of memory loses nothing and keeps the order.
 *  5. Beyond a reserve no memory is taken before the heap was searched for an
 *     entry that is of no more use: two looks, on the average, for each entry
 *     that is filed then.  Where there is none, because more timers are
 *     pending, it is searched again when it is twice as large.
 *
 * Not thread-safe; the driver owns it.
 */
#ifndef TT_PENDING_H
#define TT_PENDING_H

#include "intake/intake.h"
#include "pending/heap.h"
#include "pending/wheel.h"

/*
 * A timer is kept if it is due within this of the time, or of its block's first
 * if that is later.
 */
#define PENDING_NEAR_NS NEAR_NS

struct pending {
	struct intake *intake;
	struct wakeup *wakeup;
	struct heap heap;     /* what is next */
	struct wheel wheel;   /* what is near, where that is much */
	struct heap blocks;   /* of blocks that are yet to be opened */
	struct block *spares; /* empty blocks, a chain */
	bool full; /* the heap was, and there was no memory; see pending_file */
	size_t reserve;  /* entries of the heap; 0: none */
	size_t purge_at; /* it is purged when it has so many */
	size_t purged;   /* the one that is looked at next */
};

/* False: no memory. */
bool pending_init(struct pending *p, struct intake *in, struct wakeup *w);
void pending_destroy(struct pending *p);

/* Takes memory for n timers.  False: there is none. */
bool pending_reserve(struct pending *p, size_t n);

/* Adds a block, which it owns from now on. */
void pending_add(struct pending *p, struct row r);

/*
 * One step towards the earliest live timer, at the time now.  True: it is at
 * the heap's top, and *ret_next is its deadline; INT64_MAX: there is none.
 * False: there are more steps to take; nothing is due before *ret_next.
 */
bool pending_next(struct pending *p, int64_t now, int64_t *ret_next);

/* Takes out the entry that pending_next has found. */
struct entry pending_take(struct pending *p);

/*
 * Files an entry: it is kept if it is near, and goes back to its bucket if not.
 * Without memory only the earliest is kept for certain, and p->full is set:
 * after that one has run, the buckets must be visited again.
 */
void pending_file(struct pending *p, struct entry e, int64_t now);

/* Leaves an entry to the next visit of its bucket, although it is near. */
void pending_send_back(struct pending *p, struct entry e);

/* Has the first timer in the heap been rescheduled to a later time? */
bool pending_first_moved(const struct pending *p);

/* If it has, puts it back.  True: there may be another first one now. */
bool pending_refresh_first(struct pending *p, int64_t now);

/* Frees some spares, if there are too many.  True: there still are. */
bool pending_trim(struct pending *p);

/* The memory that it has, not counting a few spares. */
size_t pending_bytes(const struct pending *p);

/* The blocks behind entry i of p->blocks; for tests. */
const struct block *pending_chain(const struct pending *p, size_t i);

/* Entries in it; for tests. */
size_t pending_count(const struct pending *p);

/* Aborts if the structure is not sound; for tests. */
void pending_check(const struct pending *p);

#endif
