/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/pages.h"
#include "os/system.h"
#include "store/block.h"

#define SLAB_BYTES (SLAB_BLOCKS * sizeof(struct block))

_Static_assert(sizeof(struct block) == BLOCK_BYTES, "a block is a page");
_Static_assert(SLAB_BLOCKS < SLAB_NUMBER, "a count is not a number");

bool slab_open(struct slab *s)
{
	*s = (struct slab){pages_alloc(SLAB_BYTES), 0};
	if (s->first)
		atom32_store(&s->first->slab, SLAB_BLOCKS);
	return s->first != NULL;
}

/* n blocks are free now. */
static void give_up(struct block *first, uint32_t n)
{
	if (atom32_add(&first->slab, -n) == n)
		pages_free(first, SLAB_BYTES);
}

void slab_close(struct slab *s)
{
	if (s->first && s->taken < SLAB_BLOCKS)
		give_up(s->first, SLAB_BLOCKS - s->taken);
	s->first = NULL;
}

struct block *block_begin(struct block *b, uint32_t number)
{
	if (number > 0)
		atom32_store(&b->slab, number * SLAB_NUMBER);
	b->next = NULL;
	return b;
}

/*
 * The first one keeps its memory, for the count.  If the pages of the system
 * are larger, the others keep theirs, too.
 */
void block_free(struct block *b)
{
	uint32_t number;

	if (!b)
		return;
	number = atom32_load(&b->slab) / SLAB_NUMBER;
	if (number > 0 && pages_size() <= sizeof(*b))
		(void)system_empty_pages(b, sizeof(*b));
	give_up(b - number, 1);
}

void block_free_all(struct block *chain)
{
	struct block *b;

	while ((b = block_pop(&chain)))
		block_free(b);
}
