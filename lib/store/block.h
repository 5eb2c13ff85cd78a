/* SPDX-License-Identifier: MIT */
/*
 * Blocks of entries, chains of blocks, and the pool that the blocks of an
 * instance come from.
 *
 * A block is a page of memory.  The system gives blocks in slabs of sixteen.  A
 * slab hands out each of its blocks once.  The memory of a block goes back to
 * the system when it is freed; its address when all of the slab are.  (From
 * malloc they did not go back: after 5 million timers, all cancelled, the C
 * library kept 77 MiB.)
 *
 * Guarantees:
 *  1. The pool keeps the blocks of a reserve, or else a few: blocks that come
 *     back and are wanted again need no system call.
 *  2. All other blocks that come back go to the system.
 *
 * Any thread: block_free, block_free_all, take, give, bytes.  When the instance
 * starts or ends: fill, destroy.  Who owns the chain: the rest.
 */
#pragma once

#include "os/lock.h"
#include "store/entry.h"

#include <stddef.h>

#define BLOCK_BYTES   4096
#define BLOCK_ENTRIES ((BLOCK_BYTES - 16) / sizeof(struct entry))

struct block {
	struct block *next; /* in a chain */
	uint32_t n;         /* entries in it, once it has left its queue */
	/* Which one of the slab it is; of the first also more, see block.c. */
	atom32 slab;
	struct entry entry[BLOCK_ENTRIES];
} __attribute__((aligned(16)));

#define SLAB_BLOCKS 16

struct slab {
	struct block *first;
	uint32_t left; /* blocks that were not handed out: the last ones */
};

/* Without a reserve, the pool keeps so many. */
#define POOL_KEEP 16

/* All zero at first. */
struct block_pool {
	size_t reserve; /* constant: how many blocks the pool keeps; or 0 */
	atom32 fixed; /* 1: there is no more than the reserve; see reserve.h */
	atomword allocated; /* blocks that have memory, whoever has them */
	struct lock lock;
	/* Protected by the lock. */
	struct block *chain;
	size_t n;
	struct slab slab; /* that others come from */
};

/* Also in a child of fork(2): see bucket_destroy. */
INTERNAL void block_pool_destroy(struct block_pool *p);

/* Allocates n blocks, and keeps this many from now on.  False: no memory. */
INTERNAL bool block_pool_fill(struct block_pool *p, size_t n);

/* The memory of all blocks of the instance, in use or not. */
static inline size_t block_pool_bytes(const struct block_pool *p)
{
	return atomword_load(&p->allocated) * sizeof(struct block);
}

/*
 * May the instance take more memory?  Relaxed: it is only a hint, until all
 * buckets were looked at.
 */
static inline bool block_pool_grows(const struct block_pool *p)
{
	return likely(atom32_load(&p->fixed) == 0);
}

/*
 * Takes a block that is kept; if there is none, and the instance grows, another
 * one.  NULL: there is none.
 */
INTERNAL struct block *block_pool_take(struct block_pool *p);

/* Gives back a chain of blocks: the pool keeps some, and frees the rest. */
INTERNAL void block_pool_give(struct block_pool *p, struct block *chain);

/*
 * For a block that never goes back to its pool.  Returns the memory, in blocks,
 * that has gone back to the system: none, if it has to stay; or also some that
 * had to stay before.
 */
INTERNAL size_t block_free(struct block *b);

/* The same for a chain of blocks. */
INTERNAL size_t block_free_all(struct block *chain);

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

	if (b) {
		*chain = b->next;
		b->next = NULL;
	}
	return b;
}
