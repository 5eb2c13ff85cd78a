/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/block_pool.h"

void block_pool_destroy(struct block_pool *p)
{
	if (lock_try(&p->lock))
		block_free_all(p->chain);
}

bool block_pool_fill(struct block_pool *p, size_t n)
{
	p->keep = n;
	while (p->n < n) {
		struct block *b = block_alloc();

		if (!b)
			return false;
		block_push(&p->chain, b);
		p->n++;
	}
	return true;
}

size_t block_pool_bytes(struct block_pool *p)
{
	size_t n = 0;

	if (p->keep > 0) {
		lock_acquire(&p->lock);
		n = p->n;
		lock_release(&p->lock);
	}
	return n * sizeof(struct block);
}

struct block *block_pool_take(struct block_pool *p)
{
	struct block *b;

	if (p->keep == 0)
		return NULL;
	lock_acquire(&p->lock);
	b = block_pop(&p->chain);
	p->n -= b != NULL;
	lock_release(&p->lock);
	if (b)
		b->next = NULL;
	return b;
}

void block_pool_give(struct block_pool *p, struct block *chain)
{
	struct block *b;

	if (p->keep > 0 && chain) {
		lock_acquire(&p->lock);
		for (; p->n < p->keep && (b = block_pop(&chain)); p->n++)
			block_push(&p->chain, b);
		lock_release(&p->lock);
	}
	block_free_all(chain);
}
