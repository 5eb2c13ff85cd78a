/* SPDX-License-Identifier: MIT */
/*
 * Blocks for tests, and counting those of a chain.
 */
#ifndef TT_BLOCKS_H
#define TT_BLOCKS_H

#include "intake/block_pool.h"
#include "store/queue.h"

#include <stdlib.h>

/* Of a slab of its own. */
static inline struct block *block_alloc(void)
{
	struct slab s;
	uint32_t number = 0;
	struct block *b;

	if (!slab_open(&s))
		abort();
	b = slab_take(&s, &number);
	slab_close(&s);
	return block_begin(b, number);
}

/* Makes sure that there is one. */
static inline struct block **some(struct block **spares)
{
	if (!*spares)
		*spares = block_alloc();
	return spares;
}

/* The next block needs memory. */
static inline void no_slab(struct block_pool *p)
{
	slab_close(&p->slab);
}

static inline size_t count_blocks(const struct block *b)
{
	size_t n = 0;

	for (; b; b = b->next)
		n++;
	return n;
}

#endif
