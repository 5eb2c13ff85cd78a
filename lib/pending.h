/* SPDX-License-Identifier: MIT */
/*
 * What the timer thread has fetched and not yet run: a heap, earliest first,
 * and behind it a backlog of what is not yet sorted into it.
 *
 * Guarantees:
 *  1. pending_next finds the earliest of all, and never a timer that was
 *     cancelled before it looked: dead entries that come to the top are
 *     dropped, and their slots freed.
 *  2. No call takes longer than to sort a block and look at twice as many
 *     entries; but pending_add looks at the head of each block that it is
 *     given (half a microsecond for a thousand timers).
 *  3. The dead in the heap stay few: each entry that is sorted pays by two
 *     looks at others there, going round, and the thread looks at a batch and
 *     more when it tidies.  (To stop at a batch with few dead in it did not
 *     do: where timers are cancelled in order, the live are all at the end of
 *     the array, and the cursor never got past them.)
 *  4. Running out of memory loses nothing and keeps the order: what the heap
 *     has no room for stays in the backlog, and is searched.
 *
 * Not thread-safe; the timer thread owns it.
 */
#ifndef TT_PENDING_H
#define TT_PENDING_H

#include "backlog.h"
#include "heap.h"
#include "intake.h"
#include "queue.h"

struct pending {
	struct intake *intake;
	struct heap heap;
	size_t cursor; /* the next position in the heap to look at, or beyond */
	struct backlog backlog;
	struct block *spares; /* empty blocks, through next */
};

/* False: no memory. */
bool pending_init(struct pending *p, struct intake *in);
void pending_destroy(struct pending *p);

/* Adds what is in a chain of blocks, which it owns from now on. */
void pending_add(struct pending *p, struct block *blocks);

/*
 * One step towards the earliest live deadline.  True: *ret_next is that, or
 * INT64_MAX if there is none.  False: there are more steps to take, and
 * nothing is due before *ret_next.
 */
bool pending_next(struct pending *p, int64_t *ret_next);

/* Takes out the entry that pending_next spoke of. */
struct entry pending_take(struct pending *p);

/* Puts back an entry in the place of the one that was taken out last. */
void pending_put_back(struct pending *p, struct entry e);

/*
 * Keeps the place of the entry that was taken out last, for when it comes
 * back.  False: that would leave none, and there is no memory.
 * pending_forget: n of those do not come back.
 */
bool pending_keep(struct pending *p);
void pending_come_back(struct pending *p, struct entry e);
void pending_forget(struct pending *p, size_t n);

/* Has the first timer in the heap been moved to a later time? */
bool pending_first_moved(const struct pending *p);

/* Sorts one block.  False: there is none, or no room for it. */
bool pending_sort(struct pending *p);

/*
 * Looks for dead entries.  True: it found so many that another call is
 * worth the while.
 */
bool pending_sweep(struct pending *p);

/* Frees spares, a few at a time.  True: there are more than need be kept. */
bool pending_trim(struct pending *p);

/* Aborts if the structure is not sound; for tests. */
void pending_check(const struct pending *p);

#endif
