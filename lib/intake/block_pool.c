/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/block_pool.h"

void block_pool_destroy(struct block_pool *p)
{
	if (!lock_try(&p->lock))
		return;
	block_free_all(p->chain);
	slab_close(&p->slab);
}

bool block_pool_fill(struct block_pool *p, size_t n)
{
	struct block *chain = NULL, *b;
	size_t i = 0;

	for (; i < n && (b = block_pool_take(p, true)); i++)
		block_push(&chain, b);
	p->chain = chain;
	p->keep = p->n = i;
	return i == n;
}

static struct block *begin(struct block_pool *p, struct block *b,
			   uint32_t number)
{
	atomword_add(&p->held, 1);
	return block_begin(b, number);
}

/* If another thread has opened a slab meanwhile, the rest of one is lost. */
static struct block *take_from_new(struct block_pool *p)
{
	struct slab s, old;
	struct block *b;
	uint32_t number = 0;

	if (!slab_open(&s))
		return NULL;
	b = slab_take(&s, &number);
	lock_acquire(&p->lock);
	old = p->slab;
	p->slab = s;
	lock_release(&p->lock);
	atomword_add(&p->held, -slab_close(&old));
	return begin(p, b, number);
}

struct block *block_pool_take(struct block_pool *p, bool grows)
{
	struct block *kept, *fresh = NULL;
	uint32_t number = 0;

	lock_acquire(&p->lock);
	kept = block_pop(&p->chain);
	p->n -= kept != NULL;
	if (!kept && grows)
		fresh = slab_take(&p->slab, &number);
	lock_release(&p->lock);
	if (fresh)
		return begin(p, fresh, number);
	return kept || !grows ? kept : take_from_new(p);
}

void block_pool_give(struct block_pool *p, struct block *chain)
{
	struct block *b;

	if (!chain)
		return;
	if (p->keep > 0) {
		lock_acquire(&p->lock);
		for (; p->n < p->keep && (b = block_pop(&chain)); p->n++)
			block_push(&p->chain, b);
		lock_release(&p->lock);
	}
	atomword_add(&p->held, -block_free_all(chain));
}
