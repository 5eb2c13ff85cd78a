/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "checks/queue.h"
#include "must.h"

static bool is_last(const struct queue *q, uint32_t i)
{
	return i == q->tail - 1;
}

/* Where the entries of a block begin, and where they end. */
static const struct entry *begin_of(const struct queue *q, uint32_t i)
{
	return i == q->head ? q->front : queue_row(q, i)->block->entry;
}

static const struct entry *end_of(const struct queue *q, uint32_t i)
{
	const struct row *row = queue_row(q, i);

	return is_last(q, i) ? q->back : row->block->entry + row->n;
}

static void check_row(const struct queue *q, uint32_t i)
{
	const struct entry *e = begin_of(q, i), *end = end_of(q, i);
	int64_t nearest =
		is_last(q, i) ? q->last_nearest : queue_row(q, i)->nearest;

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
	must(q->front_end == (is_last(q, q->head) ? first->entry + BLOCK_ENTRIES
						  : end_of(q, q->head)));
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
		const struct row *row = queue_row(q, i);

		if (!row->block)
			continue;
		check_row(q, i);
		must(is_last(q, i) || (row->n > 0 && row->n <= BLOCK_ENTRIES));
		must(is_last(q, i) || row->block->n == row->n);
		must(i == q->head || row->begin == 0);
		blocks++;
	}
	must(blocks == q->blocks);
	check_ends(q);
}
