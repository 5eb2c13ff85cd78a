/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/memory.h"
#include "os/system.h"
#include "store/block.h"

#define SLAB_BYTES (SLAB_BLOCKS * sizeof(struct block))

/*
 * What the first of a slab has beside its number, which is 0: how many of the
 * slab are not free, and how many of the free ones keep their memory.
 */
#define SLAB_USED SLAB_BLOCKS
#define SLAB_KEPT (SLAB_USED * 2 * SLAB_BLOCKS)

_Static_assert(sizeof(struct block) == BLOCK_BYTES, "a block is a page");

bool slab_open(struct slab *s)
{
	*s = (struct slab){pages_alloc(SLAB_BYTES), 0};
	if (s->first)
		atom32_store(&s->first->slab, SLAB_BLOCKS * SLAB_USED);
	return s->first != NULL;
}

/*
 * n more blocks are free, and so many of them keep their memory.  Returns how
 * many had kept it and do no longer.
 */
static size_t give_up(struct block *first, uint32_t n, uint32_t kept)
{
	uint32_t was =
		atom32_add(&first->slab, kept * SLAB_KEPT - n * SLAB_USED);

	if (was % SLAB_KEPT != n * SLAB_USED)
		return 0;
	pages_free(first, SLAB_BYTES);
	return was / SLAB_KEPT + kept;
}

size_t slab_close(struct slab *s)
{
	struct block *first = s->first;

	s->first = NULL;
	if (!first || s->taken == SLAB_BLOCKS)
		return 0;
	return give_up(first, SLAB_BLOCKS - s->taken, 0);
}

struct block *block_begin(struct block *b, uint32_t number)
{
	if (number > 0)
		atom32_store(&b->slab, number);
	b->next = NULL;
	return b;
}

/*
 * The first one keeps its memory, for the counts.  If the pages of the system
 * are larger, the others keep theirs, too.
 */
size_t block_free(struct block *b)
{
	uint32_t number = atom32_load(&b->slab) % SLAB_BLOCKS;
	bool kept = number == 0 || pages_size() > sizeof(*b) ||
		    !system_empty_pages(b, sizeof(*b));

	return !kept + give_up(b - number, 1, kept);
}

size_t block_free_all(struct block *chain)
{
	struct block *b;
	size_t n = 0;

	while ((b = block_pop(&chain)))
		n += block_free(b);
	return n;
}
