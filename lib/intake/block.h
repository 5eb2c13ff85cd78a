/* SPDX-License-Identifier: MIT */
/*
 * Blocks of entries, chains of blocks, and the pool that an instance's blocks
 * come from.
 *
 * The pool keeps the blocks of a reserve.  All other blocks come from the
 * allocator and go back to it.
 *
 * Guarantees:
 *  1. Blocks that were kept for a reserve come back to it.
 *  2. Without a reserve, the pool's lock is never taken.
 *
 * Any thread: take, give, bytes.  When the instance starts or ends: the rest.
 */
#ifndef TT_BLOCK_H
#define TT_BLOCK_H

#include "intake/entry.h"
#include "os/lock.h"

#include <stdbool.h>
#include <stddef.h>

#define BLOCK_BYTES   4096
#define BLOCK_ENTRIES ((BLOCK_BYTES - 16) / sizeof(struct entry))

struct block {
	struct block *next; /* in a chain */
	size_t n;           /* entries in it, once it has left its queue */
	struct entry entry[BLOCK_ENTRIES];
};

/* All zero at first. */
struct block_pool {
	size_t keep; /* constant: how many blocks the pool keeps */
	struct lock lock;
	/* Protected by the lock. */
	struct block *chain;
	size_t n;
};

/* A block from the allocator, touched; NULL: no memory. */
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

/* Also in a child of fork(2): see bucket_destroy. */
void block_pool_destroy(struct block_pool *p);

/* Allocates n blocks, and keeps this many from now on.  False: no memory. */
bool block_pool_fill(struct block_pool *p, size_t n);

/* The memory of the blocks that the pool has now. */
size_t block_pool_bytes(struct block_pool *p);

/* Takes a block that is kept; NULL: there is none. */
struct block *block_pool_take(struct block_pool *p);

/* Gives back a chain of blocks: the pool keeps some, and frees the rest. */
void block_pool_give(struct block_pool *p, struct block *chain);

#endif
