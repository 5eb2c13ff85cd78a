/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/bucket.h"

void bucket_init(struct bucket *b, uint32_t number, uint32_t shift)
{
	lock_init(&b->lock);
	b->open = false;
	b->listed = false;
	b->nearest = INT64_MAX;
	b->asked = INT64_MAX;
	b->lived = 0;
	b->rests = 0;
	b->usual = 0;
	b->full = BUCKET_BURST;
	queue_init(&b->arrivals);
	b->rearmed = NULL;
	slots_init(&b->slots, number, shift);
	b->recycled = (struct slot_list){NULL, NULL, 0};
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

void bucket_check(struct bucket *b)
{
	lock_acquire(&b->lock);
	queue_check(&b->arrivals);
	slots_check(&b->slots);
	lock_release(&b->lock);
}
