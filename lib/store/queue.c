/* SPDX-License-Identifier: MIT */
#include "store/queue.h"
#include "os/memory.h"

#include <string.h>

void queue_init(struct queue *q)
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

/* Also touches them. */
bool rows_alloc(struct rows *rows, uint32_t size)
{
	*rows = (struct rows){NULL, size};
	if (size == ROWS_OWN)
		return true;
	rows->row = pages_alloc(rows_bytes(size));
	if (rows->row)
		memset(rows->row, 0, rows_bytes(size));
	return rows->row != NULL;
}

void rows_free(struct rows rows)
{
	pages_free(rows.row, rows_bytes(rows.size));
}

static struct rows rows_of(const struct queue *q)
{
	return (struct rows){q->row == q->own ? NULL : q->row, q->size};
}

size_t queue_bytes(const struct queue *q)
{
	return rows_of(q).row ? rows_bytes(q->size) : 0;
}

void queue_destroy(struct queue *q)
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
static void complete(struct queue *q)
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
 * One in eight is left over: otherwise the gaps would be closed again and
 * again.
 */
uint32_t queue_rows_for(size_t blocks)
{
	uint32_t size = ROWS_OWN;

	while (blocks >= size - size / 8)
		size = size < ROWS_MAPPED ? ROWS_MAPPED : 2 * size;
	return size;
}

uint32_t queue_wants_rows(const struct queue *q)
{
	uint32_t size = queue_rows_for(q->blocks);

	if (size < q->least)
		size = q->least;
	return size > q->size || size < q->size / 4 ? size : q->size;
}

void queue_give_rows(struct queue *q, struct rows *rows)
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

bool queue_extend(struct queue *q, struct block **spares)
{
	struct block *b = *spares;

	if (!b || q->blocks == q->size)
		return false;
	complete(q);
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

bool queue_take(struct queue *q, struct queue_cursor *c, int64_t by)
{
	uint32_t end, rows = QUEUE_STEP_ROWS - c->looked;

	if (!c->begun || (int32_t)(q->head - c->at) > 0)
		c->at = q->head;
	c->begun = true;
	complete(q);
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

TT_NOINLINE struct block *queue_take_first(struct queue *q)
{
	struct block *b;

	complete(q);
	b = take_block(q, q->head).block;
	set_ends(q);
	return b;
}
