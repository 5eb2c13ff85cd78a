/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/memory.h"
#include "store/block.h"

_Static_assert(sizeof(struct block) <= BLOCK_BYTES, "a block is a page");

/* Touches the first page and the last, so that the kernel provides them now. */
struct block *block_alloc(void)
{
	struct block *b = memory_alloc(sizeof(struct block));

	if (b) {
		b->next = NULL;
		b->entry[BLOCK_ENTRIES - 1].index = 0;
	}
	return b;
}

void block_free_all(struct block *b)
{
	while (b) {
		struct block *next = b->next;

		memory_free(b);
		b = next;
	}
}
