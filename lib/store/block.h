/* SPDX-License-Identifier: MIT */
/*
 * Blocks of entries, and chains of blocks.
 *
 * Any thread: alloc.  The rest: who owns the block or the chain.
 */
#ifndef TT_BLOCK_H
#define TT_BLOCK_H

#include "store/entry.h"

#include <stddef.h>

#define BLOCK_BYTES   4096
#define BLOCK_ENTRIES ((BLOCK_BYTES - 16) / sizeof(struct entry))

struct block {
	struct block *next; /* in a chain */
	size_t n;           /* entries in it, once it has left its queue */
	struct entry entry[BLOCK_ENTRIES];
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

#endif
