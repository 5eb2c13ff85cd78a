/* SPDX-License-Identifier: MIT */
/*
 * The backlog: blocks of entries that were fetched and not yet sorted, the
 * one with the earliest entry first.
 *
 * A burst is sorted a block at a time, between callbacks, and still each
 * timer runs in its turn: a block is sorted before anything runs that is due
 * later than its `nearest`.
 *
 * It is a leftist heap (Crane 1972; Knuth, The Art of Computer Programming,
 * 5.2.3) of the blocks themselves: it needs no memory, cannot fail, and a step
 * goes down two paths of at most log2(n + 1) blocks.
 *
 * Not thread-safe; the timer thread owns it.
 */
#ifndef TT_BACKLOG_H
#define TT_BACKLOG_H

#include "queue.h"

struct backlog {
	struct block *earliest;
};

/* Adds a block, ordered by its nearest. */
void backlog_add(struct backlog *l, struct block *b);

/* Takes the earliest block out; there must be one. */
struct block *backlog_take(struct backlog *l);

void backlog_destroy(struct backlog *l);

/* Aborts if the backlog is not sound; for tests. */
void backlog_check(const struct backlog *l);

#endif
