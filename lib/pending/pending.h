/* SPDX-License-Identifier: MIT */
/*
 * What the driver has collected and not yet run: a near heap, earliest first; a
 * far wheel, unsorted; and the backlog of what is yet to be filed in one of
 * them.
 *
 * While there are few, all are in the heap: nothing is faster then, or takes
 * less memory.  With PENDING_NEAR entries in it, what is due later than the
 * wheel's base goes to the wheel, and comes to the heap when its time is near.
 * To add an entry and run it in order took (nanoseconds, entries alone, a
 * million due each second, on an Intel Xeon of 2 MiB a core):
 *
 *	entries			10^4	10^5	10^6	10^7
 *	heap alone		 72	105	275	648
 *	heap and wheel		 98	124	132	172
 *
 * (In both cases 10^4 are in the heap but for a fifth; the rest of the
 * difference are looks at timers, which the heap alone does not do.)  A smaller
 * heap would be a little faster at 10^5; but a wheel that is used at all has up
 * to a hundred blocks of memory that are not full.
 *
 * Guarantees:
 *  1. pending_next finds the earliest of all, and never a timer that was
 *     cancelled before it looked: dead entries that come to the top are
 *     dropped, and their slots freed.  But for a slot of the wheel with more
 *     than some thousand entries it may say a time at which only cancelled
 *     ones are due.
 *  2. No call takes longer than to file a block of entries, and to look at
 *     two or three times as many others.
 *  3. The dead stay few: see sweep.h.
 *  4. Running out of memory loses nothing and keeps the order: what neither
 *     heap nor wheel has room for stays in the backlog, and is searched.
 *
 * Not thread-safe; the driver owns it.
 */
#ifndef TT_PENDING_H
#define TT_PENDING_H

#include "intake/queue.h"
#include "pending/backlog.h"
#include "pending/filed.h"
#include "pending/sweep.h"

/* Entries: 128 KiB, which a CPU's own cache holds. */
#define PENDING_NEAR 8192

struct pending {
	struct filed filed;
	struct backlog backlog; /* what is yet to be filed */
	struct sweep sweep;
	size_t near; /* PENDING_NEAR, or fewer in tests; constant */
};

/* False: no memory. */
bool pending_init(struct pending *p, struct intake *in);
void pending_destroy(struct pending *p);

/* Adds what is in a chain of blocks, which it owns from now on. */
void pending_add(struct pending *p, struct chain c);

enum pending_next {
	PENDING_MORE,  /* there are more steps to take */
	PENDING_FIRST, /* it is at the heap's top; or there is none */
	PENDING_FAR,   /* the wheel's first slot is to be opened before */
};

/*
 * One step towards the earliest live deadline.  FIRST: *ret_next is that, or
 * INT64_MAX if there is none.  FAR: *ret_next is when to call pending_open.  In
 * both cases nothing is due before *ret_next.
 */
enum pending_next pending_next(struct pending *p, int64_t *ret_next);

/* Brings what is in the wheel's first slot towards the heap. */
void pending_open(struct pending *p);

/* Takes out the entry that pending_next spoke of: FIRST, and there is one. */
struct entry pending_take(struct pending *p);

/*
 * One is about to run at the time now: where others are due too, prefetches
 * their slots, and what the next one's callback is given and will most likely
 * look at first.  A million timers that ran in batches took 12 % less.
 */
void pending_prefetch_next(const struct pending *p, int64_t now);

/* Puts back an entry in the place of the one that was taken out last. */
void pending_put_back(struct pending *p, struct entry e);

/*
 * Reserves the place in the heap of the entry that was taken out last, for when
 * its timer is rearmed.  False: that would leave no place, and there is no
 * memory.  pending_add_rearmed: it is, with this entry.  pending_unreserve: n
 * of those are over.
 */
bool pending_reserve(struct pending *p);
void pending_add_rearmed(struct pending *p, struct entry e);
void pending_unreserve(struct pending *p, size_t n);

/* Has the first timer in the heap been rescheduled to a later time? */
bool pending_first_moved(const struct pending *p);

/* Files one block.  False: there is none, or no room for it. */
bool pending_file_block(struct pending *p);

/*
 * Something is always due, and n timers have run since this was called last:
 * does what else would be left to a pause that never comes.
 */
void pending_ran(struct pending *p, size_t n);

/* Time has come this far: what is near, and what far, is so from there. */
void pending_advance(struct pending *p, int64_t now);

/*
 * Nothing is due now: a step of what would have to be done soon.  False: there
 * is nothing to do.
 */
bool pending_prepare(struct pending *p, int64_t now);

/*
 * Looks for dead entries, for who pays for *left looks: what is left of them
 * then, but no more than there are entries.  If it found many they cost
 * nothing, and *left is not 0 while there are others.
 */
void pending_sweep(struct pending *p, uint64_t *left);

/* Frees spares, a few at a time.  True: there are more than are needed. */
bool pending_trim(struct pending *p);

/* Aborts if the structure is not sound; for tests. */
void pending_check(const struct pending *p);

#endif
