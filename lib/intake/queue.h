/* SPDX-License-Identifier: MIT */
/*
 * A queue of entries, in blocks of one page.
 *
 * Guarantees:
 *  1. Adding and taking out cost the same whatever the size: no array is
 *     ever copied to grow it.
 *  2. The entries are contiguous: all blocks but the first and the last are
 *     full.
 *  3. Nothing here allocates.  Who adds brings a block first if there is no
 *     room; a block that falls empty stays with the queue as a spare.
 *  4. Each block knows a time before which none of its entries is due, so
 *     that who takes them all need not look at each.
 *
 * Not thread-safe: protected by whatever protects its owner.
 */
#ifndef TT_QUEUE_H
#define TT_QUEUE_H

#include "intake/entry.h"
#include "os/base.h"

#include <stdbool.h>
#include <stddef.h>

#define BLOCK_BYTES   4096
#define BLOCK_ENTRIES ((BLOCK_BYTES - 48) / sizeof(struct entry))

struct block {
	struct block *next; /* in a chain; in a backlog the right child */
	uint32_t n;         /* entries in it, once it has left the queue */
	uint32_t rank;      /* in a backlog, as are left, more and bound */
	int64_t nearest;    /* no entry is due earlier; once not the last */
	struct block *left;
	struct block *more; /* the rest of a chain that it is the first of */
	int64_t bound;      /* no entry of all that chain is due earlier */
	struct entry entry[BLOCK_ENTRIES];
};

/* Blocks, through next, that were taken out of where they were filled. */
struct chain {
	struct block *first; /* NULL: none */
	int64_t nearest;     /* no entry is due earlier */
};

struct queue {
	struct entry *front;     /* the first entry, or back */
	struct entry *back;      /* behind the last entry */
	struct entry *front_end; /* behind the first block's room */
	struct entry *back_end;  /* behind the last block's room */
	struct block *first;
	struct block *last;
	struct block *spares;
	size_t blocks;   /* from first to last */
	int64_t nearest; /* no entry of the last block is due earlier */
};

struct block *block_alloc(void);

/* Frees a chain of blocks. */
void block_free_all(struct block *b);

/* Chains of blocks as stacks. */
static inline void block_push(struct block **chain, struct block *b)
{
	b->next = *chain;
	*chain = b;
}

/* NULL: the chain is empty. */
static inline struct block *block_pop(struct block **chain)
{
	struct block *b = *chain;

	if (b)
		*chain = b->next;
	return b;
}

void queue_init(struct queue *q);
void queue_destroy(struct queue *q);

/* Starts the next block, on a spare.  False: there is none. */
bool queue_extend(struct queue *q);

/*
 * Takes all entries out and returns them as a chain of blocks through next,
 * each with its n and nearest; NULL if there were none.
 */
struct block *queue_take(struct queue *q);

size_t queue_size(const struct queue *q);

/* Aborts if the queue is not sound; for tests. */
void queue_check(const struct queue *q);

/* The slow path of queue_pop. */
void queue_next_block(struct queue *q);

/* Is there room for n more, without another block? */
static inline bool queue_has_room(const struct queue *q, size_t n)
{
	return (size_t)(q->back_end - q->back) >= n;
}

/* Adds e at the back.  Needs room. */
static inline void queue_push(struct queue *q, struct entry e)
{
	*q->back++ = e;
	if (unlikely(e.deadline < q->nearest))
		q->nearest = e.deadline;
}

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
	const struct entry *end = q->first == q->last ? q->back : q->front_end;

	return (size_t)(end - q->front) >= ahead + n ? q->front + ahead : NULL;
}

/* Drops the entry at the front; there must be one. */
static inline void queue_pop(struct queue *q)
{
	q->front++;
	if (q->front == q->back)
		q->front = q->back = q->last->entry;
	else if (unlikely(q->front == q->front_end))
		queue_next_block(q);
}

#endif
