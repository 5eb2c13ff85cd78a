/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/queue.h"
#include "os/must.h"

#include <stdlib.h>
#include <string.h>

#define MIN_ROWS 8

/* Under a lock: of so many rows and blocks a step takes a few microseconds. */
#define STEP_ROWS 1024

_Static_assert(sizeof(struct block) <= BLOCK_BYTES, "a block is a page");

struct block *block_alloc(void)
{
	return malloc(sizeof(struct block));
}

void block_free_all(struct block *b)
{
	while (b) {
		struct block *next = b->next;

		free(b);
		b = next;
	}
}

void queue_init(struct queue *q)
{
	*q = (struct queue){
		.nearest = INT64_MAX,
		.last_nearest = INT64_MAX,
	};
}

void queue_destroy(struct queue *q)
{
	for (uint32_t i = q->head; i != q->tail; i++)
		free(queue_row(q, i)->block);
	free(q->row);
}

static void set_front(struct queue *q)
{
	struct block *b = queue_row(q, q->head)->block;

	q->front = b->entry;
	q->front_end = b->entry + BLOCK_ENTRIES;
}

/* The last block is full. */
static void set_back(struct queue *q)
{
	const struct row *last = queue_row(q, q->tail - 1);

	q->back = last->block->entry + BLOCK_ENTRIES;
	q->back_end = q->back;
	q->last_nearest = last->nearest;
}

static void set_empty(struct queue *q)
{
	q->front = q->front_end = q->back = q->back_end = NULL;
	q->last_nearest = INT64_MAX;
}

static bool is_full(const struct queue *q)
{
	return q->tail - q->head == q->size;
}

/*
 * Closes the gaps that were left by what was taken.  Rows move towards the
 * tail, so that no cursor passes one that it has not seen.
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

uint32_t queue_wants_rows(const struct queue *q)
{
	if (q->blocks + 1 < q->size)
		return 0;
	return q->size ? q->size * 2 : MIN_ROWS;
}

struct row *queue_give_rows(struct queue *q, struct row *row, uint32_t size)
{
	struct row *old = q->row;

	if (size != queue_wants_rows(q))
		return row;
	for (uint32_t i = q->head; i != q->tail; i++)
		row[i & (size - 1)] = *queue_row(q, i);
	q->row = row;
	q->size = size;
	return old;
}

bool queue_extend(struct queue *q, struct block **spares)
{
	struct block *b = *spares;

	if (!b || q->blocks == q->size)
		return false;
	if (is_full(q))
		close_gaps(q);
	*spares = b->next;
	b->next = NULL;
	b->n = BLOCK_ENTRIES;
	if (q->blocks > 0)
		queue_row(q, q->tail - 1)->nearest = q->last_nearest;
	*queue_row(q, q->tail++) = (struct row){INT64_MAX, b};
	if (q->blocks++ == 0)
		set_front(q);
	q->last_nearest = INT64_MAX;
	q->back = b->entry;
	q->back_end = b->entry + BLOCK_ENTRIES;
	return true;
}

/* The first row and the last are to have a block. */
static void trim(struct queue *q)
{
	while (q->head != q->tail && !queue_row(q, q->head)->block)
		q->head++;
	while (q->head != q->tail && !queue_row(q, q->tail - 1)->block)
		q->tail--;
}

TT_NOINLINE void queue_next_block(struct queue *q, struct block **spares)
{
	struct row *first = queue_row(q, q->head);

	block_push(spares, first->block);
	first->block = NULL;
	q->blocks--;
	trim(q);
	set_front(q);
}

/* The first block or the last, of which a part is not used. */
static void settle(const struct queue *q, uint32_t i, struct block *b)
{
	const struct entry *from = i == q->head ? q->front : b->entry;
	const struct entry *to =
		i == q->tail - 1 ? q->back : b->entry + BLOCK_ENTRIES;

	b->n = (size_t)(to - from);
	if (from != b->entry)
		memmove(b->entry, from, b->n * sizeof(*from));
}

/*
 * Takes out the block of row i.  It is not read, and mostly not in this CPU's
 * cache.
 */
static struct row take(struct queue *q, uint32_t i, int64_t nearest)
{
	struct row *row = queue_row(q, i), taken = {nearest, row->block};

	if (i == q->head || i == q->tail - 1)
		settle(q, i, row->block);
	*row = (struct row){INT64_MAX, NULL};
	q->blocks--;
	return taken;
}

/* Rows were taken, perhaps the first or the last. */
static void mend(struct queue *q)
{
	uint32_t head = q->head, tail = q->tail;

	trim(q);
	if (q->head == q->tail) {
		set_empty(q);
		return;
	}
	if (q->head != head)
		set_front(q);
	if (q->tail != tail)
		set_back(q);
}

/* Of the last block. */
static const struct entry *back_start(const struct queue *q)
{
	return q->back_end - BLOCK_ENTRIES;
}

bool queue_take(struct queue *q, struct queue_cursor *c, int64_t by)
{
	uint32_t end, blocks = q->blocks;

	if (!c->begun || (int32_t)(q->head - c->at) > 0)
		c->at = q->head;
	c->begun = true;
	if (q->front == q->back)
		q->last_nearest = INT64_MAX;
	end = q->tail - c->at < STEP_ROWS ? q->tail : c->at + STEP_ROWS;
	for (; c->at != end && c->taken < QUEUE_STEP; c->at++) {
		const struct row *row = queue_row(q, c->at);
		bool last = c->at == q->tail - 1;
		int64_t nearest = last ? q->last_nearest : row->nearest;

		if (!row->block || (last && q->back == back_start(q)))
			continue;
		if (nearest > by)
			c->nearest =
				nearest < c->nearest ? nearest : c->nearest;
		else
			c->row[c->taken++] = take(q, c->at, nearest);
	}
	if (blocks != q->blocks)
		mend(q);
	if ((int32_t)(q->tail - c->at) > 0)
		return false;
	if (q->tail - q->head > 2 * q->blocks)
		close_gaps(q);
	q->nearest = c->nearest;
	return true;
}

size_t queue_size(const struct queue *q)
{
	const struct entry *first, *last;

	if (q->blocks == 0)
		return 0;
	first = queue_row(q, q->head)->block->entry;
	last = queue_row(q, q->tail - 1)->block->entry;
	return (q->blocks - 1) * BLOCK_ENTRIES + (size_t)(q->back - last) -
	       (size_t)(q->front - first);
}

const struct entry *queue_at(const struct queue *q, size_t place)
{
	uint32_t i = q->head + (uint32_t)(place / BLOCK_ENTRIES);
	const struct block *b = q->blocks > 0 ? queue_row(q, i)->block : NULL;
	const struct entry *e;

	if (!b)
		return NULL;
	e = &b->entry[place % BLOCK_ENTRIES];
	if ((i == q->head && e < q->front) ||
	    (i == q->tail - 1 && e >= q->back))
		return NULL;
	return e;
}

static void check_row(const struct queue *q, uint32_t i)
{
	const struct row *row = queue_row(q, i);
	bool last = i == q->tail - 1;
	const struct entry *e = i == q->head ? q->front : row->block->entry;
	const struct entry *end =
		last ? q->back : row->block->entry + BLOCK_ENTRIES;
	int64_t nearest = last ? q->last_nearest : row->nearest;

	for (; e < end; e++) {
		must(e->deadline >= nearest);
		must(e->deadline >= q->nearest);
	}
}

static void check_ends(const struct queue *q)
{
	const struct block *first = queue_row(q, q->head)->block;
	const struct block *last = queue_row(q, q->tail - 1)->block;

	must(first && last);
	must(q->front_end == first->entry + BLOCK_ENTRIES);
	must(q->front >= first->entry && q->front <= q->front_end);
	must(q->front < q->front_end || q->front == q->back);
	must(q->back_end == last->entry + BLOCK_ENTRIES);
	must(q->back >= last->entry && q->back <= q->back_end);
	must(first != last || q->front <= q->back);
}

void queue_check(const struct queue *q)
{
	uint32_t blocks = 0;

	must(q->tail - q->head <= q->size);
	if (q->blocks == 0) {
		must(q->head == q->tail && !q->front && !q->back);
		return;
	}
	for (uint32_t i = q->head; i != q->tail; i++) {
		if (!queue_row(q, i)->block)
			continue;
		check_row(q, i);
		blocks++;
	}
	must(blocks == q->blocks);
	check_ends(q);
}
