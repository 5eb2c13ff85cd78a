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

static bool is_last(const struct queue *q, uint32_t i)
{
	return i == q->tail - 1;
}

/* Where the entries of a block begin, and where they end. */
static struct entry *begin_of(const struct queue *q, uint32_t i)
{
	const struct row *row = queue_row(q, i);

	return row->block->entry + row->begin;
}

static struct entry *end_of(const struct queue *q, uint32_t i)
{
	const struct row *row = queue_row(q, i);

	return row->block->entry + row->n;
}

static uint32_t count_of(const struct queue *q, uint32_t i)
{
	const struct row *row = queue_row(q, i);

	return row->n - row->begin;
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

/* Also moves head and tail, so that the first row and the last have a block. */
static void set_ends(struct queue *q)
{
	struct row *last;

	while (q->head != q->tail && !queue_row(q, q->head)->block)
		q->head++;
	while (q->head != q->tail && !queue_row(q, q->tail - 1)->block)
		q->tail--;
	if (q->head == q->tail) {
		q->front = q->front_end = q->back = q->back_end = NULL;
		q->last_nearest = INT64_MAX;
		return;
	}
	last = queue_row(q, q->tail - 1);
	q->front = begin_of(q, q->head);
	q->back = end_of(q, q->tail - 1);
	q->back_end = last->block->entry + BLOCK_ENTRIES;
	q->front_end = is_last(q, q->head) ? q->back_end : end_of(q, q->head);
	q->last_nearest = last->nearest;
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

static void close_many_gaps(struct queue *q)
{
	if (q->tail - q->head > 2 * q->blocks)
		close_gaps(q);
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

/* Takes a block out of its row. */
static struct block *take_out(struct queue *q, uint32_t i)
{
	struct row *row = queue_row(q, i);
	struct block *b = row->block;

	*row = (struct row){INT64_MAX, NULL, 0, 0};
	q->blocks--;
	return b;
}

/*
 * Takes the block of row i.  Does not touch it, unless it is the first or the
 * last, because it is usually not in this CPU's cache.  Of these two a part may
 * not be used, so their entries are moved to the beginning.
 */
static struct row take_block(struct queue *q, uint32_t i)
{
	struct row taken = *queue_row(q, i);
	struct block *b = taken.block;

	if (taken.begin > 0)
		memory_move(b->entry, begin_of(q, i),
			    count_of(q, i) * sizeof(b->entry[0]));
	if (i == q->head || is_last(q, i))
		b->n = count_of(q, i);
	take_out(q, i);
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
	close_many_gaps(q);
	q->nearest = c->nearest;
	return true;
}

/* Takes out a block in which no entry is left. */
static void free_block(struct queue *q, uint32_t i, struct block **spares)
{
	block_push(spares, take_out(q, i));
	set_ends(q);
	close_many_gaps(q);
}

TT_NOINLINE void queue_next_block(struct queue *q, struct block **spares)
{
	complete(q);
	free_block(q, q->head, spares);
}

struct block *queue_take_first(struct queue *q)
{
	struct block *b;

	complete(q);
	b = take_block(q, q->head).block;
	set_ends(q);
	close_many_gaps(q);
	return b;
}
