/* SPDX-License-Identifier: MIT */
/*
 * Counting the blocks of a chain.
 */
#ifndef TT_BLOCKS_H
#define TT_BLOCKS_H

#include "store/queue.h"

static inline size_t count_blocks(const struct block *b)
{
	size_t n = 0;

	for (; b; b = b->next)
		n++;
	return n;
}

#endif
