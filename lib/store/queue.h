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

#include "os/memory.h"
#include "store/block.h"

#include <string.h>

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

/*
 * The first and the last row are not up to date until complete_ends has made
 * them so, and front and back not until set_ends has.
 */
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

TT_PART void queue_init(struct queue *q)
{
	*q = (struct queue){
		.nearest = INT64_MAX,
		.last_nearest = INT64_MAX,
		.row = q->own,
		.size = ROWS_OWN,
		.least = ROWS_OWN,
	};
}

/* In whole pages. */
static size_t rows_bytes(uint32_t size)
{
	return (size * sizeof(struct row) + BLOCK_BYTES - 1) / BLOCK_BYTES *
	       BLOCK_BYTES;
}

/*
 * So many rows, from queue_wants_rows or queue_rows_for; touches them.  False:
 * no memory.
 */
TT_PART bool rows_alloc(struct rows *rows, uint32_t size)
{
	*rows = (struct rows){NULL, size};
	if (size == ROWS_OWN)
		return true;
	rows->row = pages_alloc(rows_bytes(size));
	if (rows->row)
		memset(rows->row, 0, rows_bytes(size));
	return rows->row != NULL;
}

TT_PART void rows_free(struct rows rows)
{
	pages_free(rows.row, rows_bytes(rows.size));
}

static struct rows rows_of(const struct queue *q)
{
	return (struct rows){q->row == q->own ? NULL : q->row, q->size};
}

/* The memory of its rows. */
TT_PART size_t queue_bytes(const struct queue *q)
{
	return rows_of(q).row ? rows_bytes(q->size) : 0;
}

static inline struct row *queue_row(const struct queue *q, uint32_t i)
{
	return &q->row[i & (q->size - 1)];
}

TT_PART void queue_destroy(struct queue *q)
{
	for (uint32_t i = q->head; i != q->tail; i++) {
		if (queue_row(q, i)->block)
			block_free(queue_row(q, i)->block);
	}
	rows_free(rows_of(q));
}

/*
 * What adds an entry or pops one changes the queue's ends, and no row.  All
 * else begins with this, which completes the first row and the last.  What then
 * changes one of these rows ends with set_ends.
 */
static void complete_ends(struct queue *q)
{
	struct row *first, *last;

	if (q->blocks == 0)
		return;
	first = queue_row(q, q->head);
	last = queue_row(q, q->tail - 1);
	first->begin = (uint32_t)(q->front - first->block->entry);
	last->n = (uint32_t)(q->back - last->block->entry);
	last->nearest = last->begin < last->n ? q->last_nearest : INT64_MAX;
}

/*
 * Closes the gaps that taken blocks have left.  Rows move towards the tail, so
 * that no cursor passes a row that it has not seen.
 */
static void close_gaps(struct queue *q)
{
	uint32_t to = q->tail;

	for (uint32_t i = q->tail; i != q->head; i--) {
		if (queue_row(q, i - 1)->block)
			*queue_row(q, --to) = *queue_row(q, i - 1);
	}
	q->head = to;
}

/*
 * Also moves head and tail, so that the first row and the last have a block;
 * and closes the gaps, if there are many.
 */
static void set_ends(struct queue *q)
{
	struct row *first, *last;

	while (q->head != q->tail && !queue_row(q, q->head)->block)
		q->head++;
	while (q->head != q->tail && !queue_row(q, q->tail - 1)->block)
		q->tail--;
	if (q->head == q->tail) {
		q->front = q->front_end = q->back = q->back_end = NULL;
		q->last_nearest = INT64_MAX;
		return;
	}
	if (q->tail - q->head > 2 * q->blocks)
		close_gaps(q);
	first = queue_row(q, q->head);
	last = queue_row(q, q->tail - 1);
	q->front = first->block->entry + first->begin;
	q->back = last->block->entry + last->n;
	q->back_end = last->block->entry + BLOCK_ENTRIES;
	q->front_end =
		first == last ? q->back_end : first->block->entry + first->n;
	q->last_nearest = last->nearest;
}

/*
 * How many rows a queue needs that gets up to so many blocks.  One in eight is
 * left over: otherwise the gaps would be closed again and again.
 */
TT_PART uint32_t queue_rows_for(size_t blocks)
{
	uint32_t size = ROWS_OWN;

	while (blocks >= size - size / 8)
		size = size < ROWS_MAPPED ? ROWS_MAPPED : 2 * size;
	return size;
}

/*
 * How many rows the queue should have: more than it has, before it gets another
 * block; or fewer, which need not be.
 */
TT_PART uint32_t queue_wants_rows(const struct queue *q)
{
	uint32_t size = queue_rows_for(q->blocks);

	if (size < q->least)
		size = q->least;
	return size > q->size || size < q->size / 4 ? size : q->size;
}

/*
 * Gives these rows to the queue, if it still wants so many.  *rows is what must
 * be freed then.
 */
TT_PART void queue_give_rows(struct queue *q, struct rows *rows)
{
	struct row *row = rows->row ? rows->row : q->own;
	struct rows old = rows_of(q);

	if (rows->size == q->size || rows->size != queue_wants_rows(q))
		return;
	close_gaps(q);
	for (uint32_t i = q->head; i != q->tail; i++)
		row[i & (rows->size - 1)] = *queue_row(q, i);
	q->row = row;
	q->size = rows->size;
	*rows = old;
}

/*
 * Starts the next block, with one of *spares.  False: there is no spare block,
 * or no row.
 */
TT_PART bool queue_extend(struct queue *q, struct block **spares)
{
	struct block *b = *spares;

	if (!b || q->blocks == q->size)
		return false;
	complete_ends(q);
	if (q->blocks > 0)
		queue_row(q, q->tail - 1)->block->n = BLOCK_ENTRIES;
	if (q->tail - q->head == q->size)
		close_gaps(q);
	block_pop(spares);
	*queue_row(q, q->tail++) = (struct row){INT64_MAX, b, 0, 0};
	q->blocks++;
	set_ends(q);
	return true;
}

/*
 * Takes the block of row i.  Does not touch it, unless it is the first or the
 * last, because it is usually not in this CPU's cache.  Of these two a part may
 * not be used, so their entries are moved to the beginning.
 */
static struct row take_block(struct queue *q, uint32_t i)
{
	struct row *row = queue_row(q, i), taken = *row;
	struct block *b = taken.block;
	uint32_t n = taken.n - taken.begin;

	if (taken.begin > 0)
		memory_move(b->entry, b->entry + taken.begin,
			    n * sizeof(b->entry[0]));
	if (i == q->head || i == q->tail - 1)
		b->n = n;
	*row = (struct row){INT64_MAX, NULL, 0, 0};
	q->blocks--;
	return taken;
}

/*
 * One step: takes out blocks that may hold an entry that is due by `by`, and
 * adds their rows to the cursor, up to QUEUE_STEP.  True: the cursor has
 * reached the end, and q->nearest is the earliest time of the rows that are
 * left.
 */
TT_PART bool queue_take(struct queue *q, struct queue_cursor *c, int64_t by)
{
	uint32_t end, rows = QUEUE_STEP_ROWS - c->looked;

	if (!c->begun || (int32_t)(q->head - c->at) > 0)
		c->at = q->head;
	c->begun = true;
	complete_ends(q);
	end = q->tail - c->at < rows ? q->tail : c->at + rows;
	for (; c->at != end && c->taken < QUEUE_STEP; c->at++, c->looked++) {
		const struct row *row = queue_row(q, c->at);

		if (!row->block || row->begin == row->n)
			continue;
		if (row->nearest <= by)
			c->row[c->taken++] = take_block(q, c->at);
		else if (row->nearest < c->nearest)
			c->nearest = row->nearest;
	}
	set_ends(q);
	if ((int32_t)(q->tail - c->at) > 0)
		return false;
	q->nearest = c->nearest;
	return true;
}

/*
 * Takes out the first block, whose entries begin at its beginning then.  There
 * must be one.
 */
TT_PART TT_NOINLINE struct block *queue_take_first(struct queue *q)
{
	struct block *b;

	complete_ends(q);
	b = take_block(q, q->head).block;
	set_ends(q);
	return b;
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
