/* SPDX-License-Identifier: MIT */
/*
 * Blocks of entries, and chains of blocks.
 *
 * A block is a page of memory.  The system gives blocks in slabs of sixteen.  A
 * slab hands out each of its blocks once.  The memory of a block goes back to
 * the system when it is freed; its address when all of the slab are.  (From
 * malloc they did not go back: after 5 million timers, all cancelled, the C
 * library kept 77 MiB.)
 *
 * Any thread: block_begin, block_free, block_free_all, slab_open.  Who owns the
 * chain or the slab: the rest.
 */
#ifndef TT_BLOCK_H
#define TT_BLOCK_H

#include "base/atomic.h"
#include "store/entry.h"

#include <stdbool.h>
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
	struct block *first; /* NULL: there is no slab */
	uint32_t taken;      /* blocks that were handed out */
};

/* False: no memory. */
bool slab_open(struct slab *s);

/*
 * Hands out a block, for block_begin.  *number says which one it is.  NULL:
 * none is left.
 */
static inline struct block *slab_take(struct slab *s, uint32_t *number)
{
	if (!s->first || s->taken == SLAB_BLOCKS)
		return NULL;
	*number = s->taken++;
	return s->first + *number;
}

/* No more blocks are taken.  Returns as block_free. */
size_t slab_close(struct slab *s);

/* Touches a block from slab_take, so that the system provides it now. */
struct block *block_begin(struct block *b, uint32_t number);

/*
 * Returns the memory, in blocks, that has gone back to the system: none, if it
 * has to stay; or also some that had to stay before.
 */
size_t block_free(struct block *b);

/* The same for a chain of blocks. */
size_t block_free_all(struct block *chain);

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

#endif
