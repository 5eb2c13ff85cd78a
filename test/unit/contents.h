/* SPDX-License-Identifier: MIT */
/*
 * What is in a queue, and in a bucket.
 */
#pragma once

#include "intake/bucket.h"
#include "must.h"

/* To look at all: the places that may have an entry. */
static inline size_t queue_span(const struct queue *q)
{
	return (size_t)(q->tail - q->head) * BLOCK_ENTRIES;
}

/* The entry in a place, or NULL. */
static inline struct entry *queue_at(const struct queue *q, size_t place)
{
	uint32_t i = q->head + (uint32_t)(place / BLOCK_ENTRIES);
	struct block *b = q->blocks > 0 ? queue_row(q, i)->block : NULL;
	const struct entry *begin, *end;
	struct entry *e;

	if (!b)
		return NULL;
	begin = i == q->head ? q->front : b->entry;
	end = i == q->tail - 1 ? q->back : b->entry + queue_row(q, i)->n;
	e = &b->entry[place % BLOCK_ENTRIES];
	return e >= begin && e < end ? e : NULL;
}

static inline size_t queue_size(const struct queue *q)
{
	size_t n = 0;

	if (q->blocks == 0)
		return 0;
	for (uint32_t i = q->head; i != q->tail - 1; i++)
		n += queue_row(q, i)->block ? queue_row(q, i)->n : 0;
	return n + (size_t)(q->back - (q->back_end - BLOCK_ENTRIES)) -
	       (size_t)(q->front - queue_row(q, q->head)->block->entry);
}

/* Under the lock, as long as others use the bucket. */
static inline size_t bucket_size(const struct bucket *b)
{
	size_t n = 0;

	for (int i = 0; i < LANES; i++)
		n += queue_size(&b->lane[i].queue);
	return n;
}

/* Aborts if an entry is another bucket's. */
static inline void bucket_check_owner(const struct bucket *b)
{
	const uint32_t mask = (UINT32_C(1) << b->slots.shift) - 1;

	for (int i = 0; i < LANES; i++) {
		const struct queue *q = &b->lane[i].queue;

		for (size_t k = 0; k < queue_span(q); k++) {
			const struct entry *e = queue_at(q, k);

			must(!e || (e->index & mask) == b->slots.bucket);
		}
	}
}
