/* SPDX-License-Identifier: MIT */
/*
 * Blocks for tests, and counting those of a chain.
 */
#pragma once

#include "store/block.h"
#include "store/queue.h"

#include <stdlib.h>

/* Of a slab of its own. */
static inline struct block *block_alloc(void)
{
	struct block_pool p = {0};
	struct block *b = block_pool_take(&p);

	if (!b)
		abort();
	block_pool_destroy(&p);
	return b;
}

/* Makes sure that there is one. */
static inline struct block **some(struct block **spares)
{
	if (!*spares)
		*spares = block_alloc();
	return spares;
}

/* The next block needs memory. */
static inline void no_block(struct block_pool *p)
{
	while (p->chain || p->slab.left > 0)
		atomword_add(&p->allocated, -block_free(block_pool_take(p)));
}

static inline size_t count_blocks(const struct block *b)
{
	size_t n = 0;

	for (; b; b = b->next)
		n++;
	return n;
}
