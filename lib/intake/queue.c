/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/queue.h"
#include "os/must.h"

#include <stdlib.h>
#include <string.h>

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
	*q = (struct queue){.nearest = INT64_MAX};
}

void queue_destroy(struct queue *q)
{
	block_free_all(q->first);
	block_free_all(q->spares);
}

static void set_first(struct queue *q, struct block *b)
{
	q->first = b;
	q->front = b->entry;
	q->front_end = b->entry + BLOCK_ENTRIES;
}

bool queue_extend(struct queue *q)
{
	struct block *b = block_pop(&q->spares);

	if (!b)
		return false;
	b->next = NULL;
	b->n = BLOCK_ENTRIES;
	if (q->last) {
		q->last->next = b;
		q->last->nearest = q->nearest;
	} else {
		set_first(q, b);
	}
	q->last = b;
	q->nearest = INT64_MAX;
	q->blocks++;
	q->back = b->entry;
	q->back_end = b->entry + BLOCK_ENTRIES;
	return true;
}

TT_NOINLINE void queue_next_block(struct queue *q)
{
	struct block *b = q->first;

	set_first(q, b->next);
	q->blocks--;
	block_push(&q->spares, b);
}

struct block *queue_take(struct queue *q)
{
	struct block *taken = q->first;
	uint32_t gone;

	if (q->front == q->back)
		return NULL;
	q->last->n = (uint32_t)(q->back - q->last->entry);
	q->last->nearest = q->nearest;
	gone = (uint32_t)(q->front - taken->entry);
	taken->n -= gone;
	if (gone > 0)
		memmove(taken->entry, q->front,
			taken->n * sizeof(struct entry));
	*q = (struct queue){.spares = q->spares, .nearest = INT64_MAX};
	return taken;
}

size_t queue_size(const struct queue *q)
{
	if (!q->first)
		return 0;
	return (q->blocks - 1) * BLOCK_ENTRIES +
	       (size_t)(q->back - q->last->entry) -
	       (size_t)(q->front - q->first->entry);
}

static void check_block(const struct queue *q, const struct block *b)
{
	const struct entry *e = b == q->first ? q->front : b->entry;
	const struct entry *end = b == q->last ? q->back : b->entry + b->n;
	int64_t nearest = b == q->last ? q->nearest : b->nearest;

	must(b->next || b == q->last);
	must(b->n == BLOCK_ENTRIES);
	for (; e < end; e++)
		must(e->deadline >= nearest);
}

void queue_check(const struct queue *q)
{
	size_t blocks = 0;

	if (!q->first) {
		must(!q->last && !q->blocks);
		must(!q->front && !q->front_end);
		must(!q->back && !q->back_end);
		return;
	}
	for (const struct block *b = q->first; b; b = b->next) {
		check_block(q, b);
		blocks++;
	}
	must(blocks == q->blocks);
	must(q->front_end == q->first->entry + BLOCK_ENTRIES);
	must(q->front >= q->first->entry && q->front < q->front_end);
	must(q->back_end == q->last->entry + BLOCK_ENTRIES);
	must(q->back >= q->last->entry && q->back <= q->back_end);
	must(q->first != q->last || q->front <= q->back);
}
