/* SPDX-License-Identifier: MIT */
/*
 * The backlog: blocks of entries that were fetched and not yet sorted, the
 * one with the earliest entry first.
 *
 * A burst is sorted a block at a time, between callbacks, and still each
 * timer runs in its turn: a block is sorted before anything runs that is due
 * later than the earliest entry in it.
 *
 * It is a pairing heap (Fredman, Sedgewick, Sleator and Tarjan, Algorithmica
 * 1986) of the blocks themselves, so it needs no memory and cannot fail.
 *
 * Not thread-safe; the timer thread owns it.
 */
#ifndef TT_BACKLOG_H
#define TT_BACKLOG_H

#include "queue.h"

struct backlog {
	struct block *earliest;
};

/* Adds a block that holds an entry at least. */
void backlog_add(struct backlog *l, struct block *b);

/* Takes the earliest block out; there must be one. */
struct block *backlog_take(struct backlog *l);

void backlog_destroy(struct backlog *l);

/* Aborts if the backlog is not sound; for tests. */
void backlog_check(const struct backlog *l);

#endif
