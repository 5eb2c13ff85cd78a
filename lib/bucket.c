/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bucket.h"

void bucket_init(struct bucket *b, uint32_t number, uint32_t shift)
{
	lock_init(&b->lock);
	b->open = false;
	b->listed = false;
	b->nearest = INT64_MAX;
	b->lived = 0;
	b->rests = 0;
	b->usual = 0;
	b->full = BUCKET_BURST;
	queue_init(&b->arrivals);
	b->back = NULL;
	slots_init(&b->slots, number, shift);
	b->returns = (struct slot_list){NULL, NULL, 0};
}

void bucket_destroy(struct bucket *b)
{
	queue_destroy(&b->arrivals);
	slots_destroy(&b->slots);
}

void bucket_destroy_inherited(struct bucket *b)
{
	if (lock_try(&b->lock))
		queue_destroy(&b->arrivals);
	/* These are only ever added to. */
	slots_destroy(&b->slots);
}

void bucket_open(struct bucket *b)
{
	lock_acquire(&b->lock);
	b->open = true;
	lock_release(&b->lock);
}

void bucket_shut(struct bucket *b)
{
	lock_acquire(&b->lock);
	b->open = false;
	lock_release(&b->lock);
}

struct chain bucket_collect(struct bucket *b, struct block **spares,
			    struct slot **ret_back)
{
	struct block *surplus, *one = NULL;
	struct chain taken;

	lock_acquire(&b->lock);
	taken = (struct chain){queue_take(&b->arrivals), b->nearest};
	b->listed = false;
	b->nearest = INT64_MAX;
	*ret_back = b->back;
	b->back = NULL;
	surplus = b->arrivals.spares;
	b->arrivals.spares = NULL;
	if (taken.first)
		one = surplus ? block_pop(&surplus) : block_pop(spares);
	if (one)
		block_push(&b->arrivals.spares, one);
	slots_give(&b->slots, &b->returns);
	lock_release(&b->lock);

	while ((one = block_pop(&surplus)) != NULL)
		block_push(spares, one);
	return taken;
}

void bucket_give_back(struct bucket *b)
{
	lock_acquire(&b->lock);
	slots_give(&b->slots, &b->returns);
	lock_release(&b->lock);
}

void bucket_check(struct bucket *b)
{
	lock_acquire(&b->lock);
	queue_check(&b->arrivals);
	slots_check(&b->slots);
	lock_release(&b->lock);
}
