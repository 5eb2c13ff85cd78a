/* SPDX-License-Identifier: MIT */
/*
 * What the timer thread has fetched and not yet run: a heap, earliest first.
 *
 * Guarantees:
 *  1. pending_next never speaks of a cancelled timer: dead entries that come
 *     to the top are dropped, and their slots freed, before it returns.
 *  2. Each entry added looks at RENT others and drops the dead; the heap does
 *     not grow before a batch more were looked at; pending_sweep looks at a
 *     batch when the thread is awake and has nothing due.
 *  3. Running out of memory loses nothing and keeps the order: what the heap
 *     has no room for waits in its blocks, and is searched.
 *
 * Not thread-safe; the timer thread owns it.
 */
#ifndef TT_PENDING_H
#define TT_PENDING_H

#include "bag.h"
#include "heap.h"
#include "intake.h"

struct pending {
	struct intake *intake;
	struct heap heap;
	size_t cursor;         /* the next position to look at, or beyond */
	struct block *backlog; /* no room in the heap: not sorted */
};

/* False: no memory. */
bool pending_init(struct pending *p, struct intake *in);
void pending_destroy(struct pending *p);

/* Adds what is in a chain of blocks; those that it empties join *spares. */
void pending_add(struct pending *p, struct block *blocks,
		 struct block **spares);

/* The earliest live deadline, or INT64_MAX if there is none. */
int64_t pending_next(struct pending *p, struct block **spares);

/* Takes out the entry that pending_next spoke of, and returns its id. */
uint64_t pending_take(struct pending *p);

/*
 * Looks for dead entries.  True: it found so many that another call is
 * worth the while.
 */
bool pending_sweep(struct pending *p);

/* Aborts if the structure is not sound; for tests. */
void pending_check(const struct pending *p);

#endif
