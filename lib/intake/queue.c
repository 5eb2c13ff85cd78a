/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/queue.h"
#include "os/memory.h"

#define MIN_ROWS 8

/* How many rows are looked at to find another block. */
#define ROOM_ROWS 64

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
		memory_free(queue_row(q, i)->block);
	memory_free(q->row);
}

static bool is_last(const struct queue *q, uint32_t i)
{
	return i == q->tail - 1;
}

/* Where the entries of a block begin, and where they end. */
static struct entry *begin_of(const struct queue *q, uint32_t i)
{
	return i == q->head ? q->front : queue_row(q, i)->block->entry;
}

static struct entry *end_of(const struct queue *q, uint32_t i)
{
	const struct row *row = queue_row(q, i);

	return is_last(q, i) ? q->back : row->block->entry + row->n;
}

static size_t count_of(const struct queue *q, uint32_t i)
{
	return (size_t)(end_of(q, i) - begin_of(q, i));
}

/* When the first of these entries is due. */
static int64_t nearest_of(const struct queue *q, uint32_t i)
{
	return is_last(q, i) ? q->last_nearest : queue_row(q, i)->nearest;
}

static void set_front_end(struct queue *q)
{
	q->front_end = is_last(q, q->head) ? q->back_end : end_of(q, q->head);
}

static void set_front(struct queue *q)
{
	q->front = queue_row(q, q->head)->block->entry;
	set_front_end(q);
}

/* Another row has become the last. */
static void set_back(struct queue *q)
{
	const struct row *last = queue_row(q, q->tail - 1);

	q->back = last->block->entry + last->n;
	q->back_end = last->block->entry + BLOCK_ENTRIES;
	q->last_nearest = last->nearest;
	set_front_end(q);
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
 * More rows are wanted before all are used: otherwise the gaps would be closed
 * again and again.
 */
uint32_t queue_wants_rows(const struct queue *q)
{
	if (q->blocks < q->size - q->size / 8)
		return 0;
	return q->size ? q->size * 2 : MIN_ROWS;
}

struct row *queue_give_rows(struct queue *q, struct row *row, uint32_t size)
{
	struct row *old = q->row;

	if (size <= q->size || queue_wants_rows(q) == 0)
		return row;
	for (uint32_t i = q->head; i != q->tail; i++)
		row[i & (size - 1)] = *queue_row(q, i);
	q->row = row;
	q->size = size;
	return old;
}

/* Fills in the row of the last block, which will not be the last any more. */
static void end_last(struct queue *q)
{
	struct row *last = queue_row(q, q->tail - 1);

	last->nearest = q->last_nearest;
	last->n = last->block->n = BLOCK_ENTRIES;
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
	if (q->blocks > 0)
		end_last(q);
	*queue_row(q, q->tail++) = (struct row){INT64_MAX, b, BLOCK_ENTRIES};
	q->last_nearest = INT64_MAX;
	q->back = b->entry;
	q->back_end = b->entry + BLOCK_ENTRIES;
	if (q->blocks++ == 0)
		set_front(q);
	return true;
}

/* Moves head and tail, so that the first row and the last have a block. */
static void trim(struct queue *q)
{
	while (q->head != q->tail && !queue_row(q, q->head)->block)
		q->head++;
	while (q->head != q->tail && !queue_row(q, q->tail - 1)->block)
		q->tail--;
}

/* Takes a block out of its row.  The caller must mend the ends. */
static struct block *take_out(struct queue *q, uint32_t i)
{
	struct row *row = queue_row(q, i);
	struct block *b = row->block;

	*row = (struct row){INT64_MAX, NULL, 0};
	q->blocks--;
	return b;
}

/*
 * For the first block or the last, of which a part is not used: moves its
 * entries to its beginning.
 */
static void settle(const struct queue *q, uint32_t i)
{
	struct block *b = queue_row(q, i)->block;
	const struct entry *from = begin_of(q, i);

	b->n = count_of(q, i);
	if (from != b->entry)
		memory_move(b->entry, from, b->n * sizeof(*from));
}

/*
 * Takes the block of row i.  Does not read it, unless it is the first or the
 * last, because it is usually not in this CPU's cache.
 */
static struct row take(struct queue *q, uint32_t i, int64_t nearest)
{
	struct row taken = {nearest, NULL, 0};

	if (i == q->head || is_last(q, i))
		settle(q, i);
	taken.block = take_out(q, i);
	return taken;
}

/* Corrects the ends after blocks were taken, perhaps the first or the last. */
static void mend(struct queue *q)
{
	uint32_t head = q->head, tail = q->tail;

	trim(q);
	if (q->head == q->tail) {
		set_empty(q);
		return;
	}
	if (q->tail != tail)
		set_back(q);
	if (q->head != head)
		set_front(q);
}

bool queue_take(struct queue *q, struct queue_cursor *c, int64_t by)
{
	uint32_t end, blocks = q->blocks, rows = QUEUE_STEP_ROWS - c->looked;

	if (!c->begun || (int32_t)(q->head - c->at) > 0)
		c->at = q->head;
	c->begun = true;
	if (q->front == q->back)
		q->last_nearest = INT64_MAX;
	end = q->tail - c->at < rows ? q->tail : c->at + rows;
	for (; c->at != end && c->taken < QUEUE_STEP; c->at++, c->looked++) {
		int64_t nearest = nearest_of(q, c->at);

		if (!queue_row(q, c->at)->block ||
		    (is_last(q, c->at) && q->back == queue_back_start(q)))
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
	close_many_gaps(q);
	q->nearest = c->nearest;
	return true;
}

/* The last block is empty now. */
static void set_last_empty(struct queue *q)
{
	q->back = queue_back_start(q);
	q->last_nearest = INT64_MAX;
	if (is_last(q, q->head))
		q->front = q->back;
}

static void set_end(struct queue *q, uint32_t i, struct entry *end)
{
	struct row *row = queue_row(q, i);

	if (is_last(q, i)) {
		q->back = end;
		if (end == begin_of(q, i))
			set_last_empty(q);
		return;
	}
	row->n = (uint32_t)(end - row->block->entry);
	row->block->n = row->n;
	if (i == q->head)
		q->front_end = end;
}

/* Takes out a block in which no entry is left. */
static void free_block(struct queue *q, uint32_t i, struct block **spares)
{
	block_push(spares, take_out(q, i));
	mend(q);
	close_many_gaps(q);
}

TT_NOINLINE void queue_next_block(struct queue *q, struct block **spares)
{
	free_block(q, q->head, spares);
}

/*
 * The row of the block before this one; i: it is too far away, or there is
 * none.
 */
static uint32_t row_before(const struct queue *q, uint32_t i)
{
	for (uint32_t k = i; k != q->head && i - k < ROOM_ROWS; k--) {
		if (queue_row(q, k - 1)->block)
			return k - 1;
	}
	return i;
}

/*
 * Puts all entries of a block before those of a later block.  Not the other way
 * round, because a cursor of queue_take may be between the two.
 */
static void join(struct queue *q, uint32_t from, uint32_t i,
		 struct block **spares)
{
	struct entry *begin = queue_row(q, i)->block->entry,
		     *end = end_of(q, i);
	size_t n = count_of(q, from);
	int64_t nearest = queue_row(q, from)->nearest;

	memory_move(begin + n, begin, (size_t)(end - begin) * sizeof(*begin));
	memory_move(begin, begin_of(q, from), n * sizeof(*begin));
	set_end(q, i, end + n);
	if (nearest < queue_row(q, i)->nearest)
		queue_row(q, i)->nearest = nearest;
	free_block(q, from, spares);
}

/*
 * Closes the holes in a block.  If few entries are left in it and in the block
 * before it, the two become one.
 */
static void close_holes(struct queue *q, uint32_t i, struct block **spares)
{
	struct entry *begin = begin_of(q, i), *end = end_of(q, i), *to = begin;
	uint32_t before;

	for (const struct entry *e = begin; e < end; e++) {
		*to = *e;
		to += !entry_is_hole(e);
	}
	if (to < end)
		set_end(q, i, to);
	if (is_last(q, i))
		return;
	if (to == begin) {
		free_block(q, i, spares);
		return;
	}
	before = row_before(q, i);
	if (before != i &&
	    count_of(q, before) + count_of(q, i) <= BLOCK_ENTRIES)
		join(q, before, i, spares);
}

/* The entry at a position, and how many are left from there on; or NULL. */
static struct entry *entry_at(const struct queue *q,
			      const struct queue_position *p, size_t *n)
{
	struct entry *e = queue_row(q, p->row)->block->entry + p->in_block;
	const struct entry *end = end_of(q, p->row);

	e = e < begin_of(q, p->row) ? begin_of(q, p->row) : e;
	*n = e < end ? (size_t)(end - e) : 0;
	return e < end ? e : NULL;
}

bool queue_at_back(const struct queue *q, const struct queue_position *p)
{
	return p->row == q->tail ||
	       (p->row == q->tail - 1 &&
		queue_back_start(q) + p->in_block == q->back);
}

void queue_leave(struct queue *q, struct queue_position *p,
		 struct block **spares)
{
	if (p->row - q->head < q->tail - q->head && queue_row(q, p->row)->block)
		close_holes(q, p->row, spares);
	*p = (struct queue_position){p->row + 1, 0};
}

struct entry *queue_walk(struct queue *q, struct queue_position *p,
			 size_t *left, struct block **spares)
{
	struct entry *e = NULL;

	*left = 0;
	if (p->row - q->head >= q->tail - q->head)
		*p = (struct queue_position){q->head, 0};
	if (q->blocks > 0 && queue_row(q, p->row)->block)
		e = entry_at(q, p, left);
	if (e)
		p->in_block =
			(uint32_t)(e - queue_row(q, p->row)->block->entry);
	else
		queue_leave(q, p, spares);
	return e;
}
