/* SPDX-License-Identifier: MIT */
/*
 * The pool that an instance's blocks come from.
 *
 * The pool keeps the blocks of a reserve.  All other blocks come from the
 * system and go back to it.
 *
 * Guarantee: blocks that were kept for a reserve come back to it.
 *
 * Any thread: take, give, bytes.  When the instance starts or ends: the rest.
 */
#ifndef TT_BLOCK_POOL_H
#define TT_BLOCK_POOL_H

#include "os/lock.h"
#include "store/block.h"

#include <stdbool.h>
#include <stddef.h>

/* All zero at first. */
struct block_pool {
	size_t keep;   /* constant: how many blocks the pool keeps */
	atomword held; /* blocks that have memory, whoever has them */
	struct lock lock;
	/* Protected by the lock. */
	struct block *chain;
	size_t n;
	struct slab slab; /* that others come from */
};

/* Also in a child of fork(2): see bucket_destroy. */
void block_pool_destroy(struct block_pool *p);

/* Allocates n blocks, and keeps this many from now on.  False: no memory. */
bool block_pool_fill(struct block_pool *p, size_t n);

/* The memory of all blocks of the instance, in use or not. */
static inline size_t block_pool_bytes(const struct block_pool *p)
{
	return atomword_load(&p->held) * sizeof(struct block);
}

/*
 * Takes a block that is kept; if there is none, and it may grow, another one.
 * NULL: there is none.
 */
struct block *block_pool_take(struct block_pool *p, bool grows);

/* Gives back a chain of blocks: the pool keeps some, and frees the rest. */
void block_pool_give(struct block_pool *p, struct block *chain);

#endif
