/* SPDX-License-Identifier: MIT */
/*
 * The backlog: blocks of entries that are not yet filed, the one with the
 * earliest entry first.
 *
 * A burst is filed a block at a time, between callbacks, and still each timer
 * runs in its order: a block is filed before anything runs that is due later
 * than its `nearest`.
 *
 * It is a leftist heap (Crane 1972; Knuth, The Art of Computer Programming,
 * 5.2.3) of the blocks themselves: it needs no memory, cannot fail, and a step
 * goes down paths of at most log2(n + 1) blocks.  Blocks come in chains, and a
 * chain stays one node of the heap until it is the first there: so to add one
 * costs the same whatever its length, and a step takes few blocks off it.
 *
 * Not thread-safe; the driver owns it.
 */
#ifndef TT_BACKLOG_H
#define TT_BACKLOG_H

#include "intake/queue.h"

struct backlog {
	struct block *earliest;
};

/* Adds a chain of blocks, each with its n and nearest. */
void backlog_add(struct backlog *l, struct chain c);

static inline bool backlog_empty(const struct backlog *l)
{
	return likely(!l->earliest);
}

/* No entry is due earlier; INT64_MAX if there is none. */
static inline int64_t backlog_nearest(const struct backlog *l)
{
	return l->earliest ? l->earliest->bound : INT64_MAX;
}

/*
 * One step: takes out the block that is the earliest.  NULL: which one that is
 * is not yet known, or there is none.
 */
struct block *backlog_take(struct backlog *l);

void backlog_destroy(struct backlog *l);

/* Aborts if the backlog is not sound; for tests. */
void backlog_check(const struct backlog *l);

#endif
