/* SPDX-License-Identifier: MIT */
/*
 * A queue of entries, in blocks of one page, and a row for each block, which
 * says when the first of its entries is due.  So the driver finds the blocks
 * that hold what is due by reading the rows, which lie together.  It leaves the
 * other blocks alone.
 *
 * Guarantees:
 *  1. Adding and taking out cost the same whatever the size, except the rows
 *     (24 bytes for 255 entries): these are copied when there are twice as
 *     many, and moved together when half of them are gaps.
 *  2. All blocks but the first and the last are full, unless they had holes.
 *  3. No function on a queue allocates.  A caller that adds brings a block or
 *     rows first if there is no room.
 *  4. A row is never later than an entry of its block, nor `nearest` than any
 *     entry.
 *
 * Not thread-safe: protected by whatever protects its owner.
 */
#ifndef TT_QUEUE_H
#define TT_QUEUE_H

#include "intake/block.h"
#include "os/base.h"

#include <stdbool.h>
#include <stddef.h>

struct row {
	int64_t nearest;     /* no entry is due earlier; once not the last */
	struct block *block; /* NULL: was taken */
	uint32_t n;          /* where its entries end; once not the last */
};

struct queue {
	struct entry *front;     /* the first entry, or back */
	struct entry *back;      /* behind the last entry */
	struct entry *front_end; /* behind the first block's entries, or room */
	struct entry *back_end;  /* behind the last block's room */
	int64_t nearest;         /* no entry is due earlier */
	int64_t last_nearest;    /* no entry of the last block */
	/* A ring.  The first row and the last have a block. */
	struct row *row;
	uint32_t size; /* a power of two, or 0 */
	uint32_t head; /* the first row; counts on, modulo 2^32 */
	uint32_t tail; /* behind the last */
	uint32_t blocks;
};

/*
 * In one step, under a lock, so many blocks are taken out, and so many rows are
 * looked at, at most: that takes a few microseconds.
 */
#define QUEUE_STEP      64
#define QUEUE_STEP_ROWS 1024

/* How far queue_take has come, and what it has done in this step. */
struct queue_cursor {
	uint32_t at;
	bool begun;
	int64_t nearest; /* of what it has left behind */
	uint32_t looked; /* at so many rows */
	uint32_t taken;
	struct row row[QUEUE_STEP];
};

/* Of one queue or of several. */
static inline void queue_cursor_step(struct queue_cursor *c)
{
	c->looked = 0;
	c->taken = 0;
}

/* At the beginning of a queue.  What it has taken from another one stays. */
static inline void queue_cursor_begin(struct queue_cursor *c)
{
	c->at = 0;
	c->begun = false;
	c->nearest = INT64_MAX;
}

void queue_init(struct queue *q);
void queue_destroy(struct queue *q);

/* Starts the next block, on one of *spares.  False: none, or no row. */
bool queue_extend(struct queue *q, struct block **spares);

/* How many rows it must have for another block; 0: no more than it has. */
uint32_t queue_wants_rows(const struct queue *q);

/* Gives it its first rows, as many as a power of two. */
static inline void queue_give_first_rows(struct queue *q, struct row *row,
					 uint32_t size)
{
	q->row = row;
	q->size = size;
}

/* Gives it so many rows, and returns those to free; if it wants them still. */
struct row *queue_give_rows(struct queue *q, struct row *row, uint32_t size);

/*
 * One step: takes out blocks that may hold an entry that is due by `by`: adds
 * their rows to those of the cursor, up to QUEUE_STEP.  True: the cursor has
 * reached the end, and q->nearest is the least of the rows that are left.
 */
bool queue_take(struct queue *q, struct queue_cursor *c, int64_t by);

/* The memory that it has. */
static inline size_t queue_bytes(const struct queue *q)
{
	return q->blocks * sizeof(struct block) + q->size * sizeof(struct row);
}

/* Aborts if the queue is not sound; for tests. */
void queue_check(const struct queue *q);

/* The slow path of queue_pop. */
void queue_next_block(struct queue *q, struct block **spares);

static inline struct row *queue_row(const struct queue *q, uint32_t i)
{
	return &q->row[i & (q->size - 1)];
}

/* Is there room for n more, without another block? */
static inline bool queue_has_room(const struct queue *q, size_t n)
{
	return (size_t)(q->back_end - q->back) >= n;
}

/* Adds e at the back.  Needs room.  True: no other was due as early. */
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

/* From where to walk on; zero: from anywhere. */
struct queue_position {
	uint32_t row;
	uint32_t in_block;
};

/*
 * To walk through the queue, and again from the front: the entry at a position,
 * and how many are left from there on in its block.  NULL: none is; then the
 * holes in that block are gone, and it is in the next.  The caller adds
 * to in_block.
 */
struct entry *queue_walk(struct queue *q, struct queue_position *p,
			 size_t *left, struct block **spares);

/* The holes in the block at a position are gone, and it is in the next. */
void queue_leave(struct queue *q, struct queue_position *p,
		 struct block **spares);

/* Where the last block's room begins. */
static inline struct entry *queue_back_start(const struct queue *q)
{
	return q->back_end - BLOCK_ENTRIES;
}

/* Has it come to the back? */
bool queue_at_back(const struct queue *q, const struct queue_position *p);

/* The entry at the front, or NULL. */
static inline const struct entry *queue_front(const struct queue *q)
{
	return q->front != q->back ? q->front : NULL;
}

/*
 * The entry that is ahead behind the front, if it and the n - 1 behind it are
 * in the front's block.
 */
static inline const struct entry *queue_ahead(const struct queue *q,
					      size_t ahead, size_t n)
{
	const struct entry *end =
		q->front_end == q->back_end ? q->back : q->front_end;

	return (size_t)(end - q->front) >= ahead + n ? q->front + ahead : NULL;
}

/* Drops the entry at the front; there must be one. */
static inline void queue_pop(struct queue *q, struct block **spares)
{
	q->front++;
	if (q->front == q->back)
		q->front = q->back = queue_back_start(q);
	else if (unlikely(q->front == q->front_end))
		queue_next_block(q, spares);
}

#endif
