/* SPDX-License-Identifier: MIT */
#include "store/block.h"
#include "os/memory.h"
#include "os/system.h"

#define SLAB_BYTES (SLAB_BLOCKS * sizeof(struct block))

/*
 * What the first of a slab has beside its number, which is 0: how many of the
 * slab are not free, and how many of the free ones keep their memory.
 */
#define SLAB_USED SLAB_BLOCKS
#define SLAB_KEPT (SLAB_USED * 2 * SLAB_BLOCKS)

_Static_assert(sizeof(struct block) == BLOCK_BYTES, "a block is a page");

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

/* The rest of a slab is not handed out.  Returns as block_free. */
static size_t slab_close(struct slab s)
{
	return s.left > 0 ? give_up(s.first, s.left, 0) : 0;
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

void block_pool_destroy(struct block_pool *p)
{
	if (!lock_try(&p->lock))
		return;
	block_free_all(p->chain);
	slab_close(p->slab);
}

/*
 * Opens a slab, and returns its first block.  If another thread has opened one
 * meanwhile, the rest of that is lost.
 */
static struct block *slab_open(struct block_pool *p)
{
	struct block *first = pages_alloc(SLAB_BYTES);
	struct slab old;

	if (!first)
		return NULL;
	atom32_store(&first->slab, SLAB_BLOCKS * SLAB_USED);
	lock_acquire(&p->lock);
	old = p->slab;
	p->slab = (struct slab){first, SLAB_BLOCKS - 1};
	lock_release(&p->lock);
	atomword_add(&p->allocated, -slab_close(old));
	return first;
}

/* Also touches it, so that the system provides it now. */
struct block *block_pool_take(struct block_pool *p)
{
	bool grows = block_pool_grows(p);
	struct block *kept, *fresh = NULL;
	uint32_t number = 0;

	lock_acquire(&p->lock);
	kept = block_pop(&p->chain);
	p->n -= kept != NULL;
	if (!kept && grows && p->slab.left > 0) {
		number = SLAB_BLOCKS - p->slab.left--;
		fresh = p->slab.first + number;
	}
	lock_release(&p->lock);
	if (kept || !grows)
		return kept;
	if (!fresh)
		fresh = slab_open(p);
	if (!fresh)
		return NULL;
	atomword_add(&p->allocated, 1);
	/* Of the first, it is more than a number. */
	if (number > 0)
		atom32_store(&fresh->slab, number);
	return fresh;
}

bool block_pool_fill(struct block_pool *p, size_t n)
{
	struct block *chain = NULL, *b;

	for (; p->reserve < n && (b = block_pool_take(p)); p->reserve++)
		block_push(&chain, b);
	p->chain = chain;
	p->n = p->reserve;
	atom32_store(&p->fixed, 1);
	return p->n == n;
}

void block_pool_give(struct block_pool *p, struct block *chain)
{
	size_t most = p->reserve > 0 ? p->reserve : POOL_KEEP;
	struct block *b;

	if (!chain)
		return;
	lock_acquire(&p->lock);
	for (; p->n < most && (b = block_pop(&chain)); p->n++)
		block_push(&p->chain, b);
	lock_release(&p->lock);
	atomword_add(&p->allocated, -block_free_all(chain));
}
