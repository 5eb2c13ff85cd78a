/* SPDX-License-Identifier: MIT */
/*
 * A queue of entries, in blocks of one page.  Each block has a row, which says
 * when the first of the block's entries is due.  The rows lie together.  The
 * driver reads them to find the blocks that hold entries that are due, and does
 * not touch the other blocks.
 *
 * Guarantees:
 *  1. Adding and taking out cost the same whatever the size, except for the
 *     rows (24 bytes for 255 entries): these are copied when their number is
 *     doubled, or falls, and moved together when half of them are gaps.
 *  2. All blocks except the first and the last are full.
 *  3. No function on a queue allocates memory or frees it.  If there is no
 *     room, a caller that adds an entry first brings a block or rows.
 *  4. A row's time is never later than an entry of its block, and `nearest` is
 *     never later than any entry.
 *
 * Not thread-safe: protected by whatever protects its owner.
 */
#pragma once

#include "store/block.h"

struct row {
	int64_t nearest; /* no entry is earlier; not up to date if the last */
	struct block *block; /* NULL: it was taken */
	uint32_t n;          /* entries end here; not up to date if the last */
	uint32_t begin;      /* they begin here; not up to date if the first */
};

/*
 * A queue has so many rows itself.  More are in pages of their own: in malloc's
 * they would keep those below them, which are the program's, when a peak is
 * over.  The fewest fill most of a page.
 */
#define ROWS_OWN    8
#define ROWS_MAPPED 128

/* Rows for a queue. */
struct rows {
	struct row *row; /* NULL: the queue's own */
	uint32_t size;   /* a power of two */
};

struct queue {
	/* In front, so that what calls use lies together. */
	struct row own[ROWS_OWN];
	struct entry *front;     /* the first entry, or back */
	struct entry *back;      /* behind the last entry */
	struct entry *front_end; /* behind the first block's entries, or room */
	struct entry *back_end;  /* behind the last block's room */
	int64_t nearest;         /* no entry is due earlier */
	int64_t last_nearest;    /* no entry of the last block is due earlier */
	/* A ring.  The first row and the last have a block. */
	struct row *row;
	uint32_t size;  /* a power of two */
	uint32_t head;  /* the first row; only grows, modulo 2^32 */
	uint32_t tail;  /* behind the last */
	uint32_t least; /* it never has fewer rows */
	uint32_t blocks;
};

/*
 * One step, under a lock, takes out at most this many blocks, and looks at at
 * most this many rows.  That takes a few microseconds.
 */
#define QUEUE_STEP      64
#define QUEUE_STEP_ROWS 1024

/* How far queue_take has come, and what it has done in this step. */
struct queue_cursor {
	uint32_t at;
	bool begun;
	int64_t nearest; /* of the rows that it has left in the queue */
	/* In this step, which can go through several queues. */
	uint32_t looked; /* rows that it has looked at */
	uint32_t taken;
	struct row row[QUEUE_STEP];
};

/* Begins a queue.  The rows that were taken from another queue stay. */
static inline void queue_cursor_begin(struct queue_cursor *c)
{
	c->at = 0;
	c->begun = false;
	c->nearest = INT64_MAX;
}

INTERNAL void queue_init(struct queue *q);
INTERNAL void queue_destroy(struct queue *q);

/*
 * Starts the next block, with one of *spares.  False: there is no spare block,
 * or no row.
 */
INTERNAL bool queue_extend(struct queue *q, struct block **spares);

/* How many rows a queue needs that gets up to so many blocks. */
INTERNAL uint32_t queue_rows_for(size_t blocks);

/*
 * How many rows the queue should have: more than it has, before it gets another
 * block; or fewer, which need not be.
 */
INTERNAL uint32_t queue_wants_rows(const struct queue *q);

/* So many rows, from queue_wants_rows or queue_rows_for.  False: no memory. */
INTERNAL bool rows_alloc(struct rows *rows, uint32_t size);

/*
 * Gives these rows to the queue, if it still wants so many.  *rows is what must
 * be freed then.
 */
INTERNAL void queue_give_rows(struct queue *q, struct rows *rows);

INTERNAL void rows_free(struct rows rows);

/* The memory of its rows. */
INTERNAL size_t queue_bytes(const struct queue *q);

/*
 * One step: takes out blocks that may hold an entry that is due by `by`, and
 * adds their rows to the cursor, up to QUEUE_STEP.  True: the cursor has
 * reached the end, and q->nearest is the earliest time of the rows that are
 * left.
 */
INTERNAL bool queue_take(struct queue *q, struct queue_cursor *c, int64_t by);

/*
 * Takes out the first block, whose entries begin at its beginning then.  There
 * must be one.
 */
INTERNAL struct block *queue_take_first(struct queue *q);

static inline struct row *queue_row(const struct queue *q, uint32_t i)
{
	return &q->row[i & (q->size - 1)];
}

/* Is there room for n more, without another block? */
static inline bool queue_has_room(const struct queue *q, size_t n)
{
	return (size_t)(q->back_end - q->back) >= n;
}

/* Is there room for one more, or a spare block for it? */
static inline bool queue_make_room(struct queue *q, struct block **spares)
{
	return likely(queue_has_room(q, 1)) ||
	       (queue_wants_rows(q) <= q->size && queue_extend(q, spares));
}

/*
 * Adds e at the back; there must be room.  True: e is earlier than all others.
 */
static inline bool queue_push(struct queue *q, struct entry e)
{
	*q->back++ = e;
	if (likely(e.deadline >= q->last_nearest))
		return false;
	q->last_nearest = e.deadline;
	if (e.deadline >= q->nearest)
		return false;
	q->nearest = e.deadline;
	return true;
}

/* The entry at the front, or NULL. */
static inline const struct entry *queue_front(const struct queue *q)
{
	return q->front != q->back ? q->front : NULL;
}

/* The entries at the front that lie together in memory, and how many. */
static inline struct entry *queue_front_run(const struct queue *q, size_t *n)
{
	const struct entry *end =
		q->front_end == q->back_end ? q->back : q->front_end;

	*n = (size_t)(end - q->front);
	return q->front;
}

/* Drops n entries at the front, which lie together. */
static inline void queue_drop(struct queue *q, size_t n, struct block **spares)
{
	q->front += n;
	if (q->front == q->back)
		q->front = q->back = q->back_end - BLOCK_ENTRIES;
	else if (unlikely(q->front == q->front_end))
		block_push(spares, queue_take_first(q));
}
