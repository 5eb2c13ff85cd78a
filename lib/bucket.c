/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "admit.h"
#include "bucket.h"
#include "rent.h"

/*
 * So many of those that are back are taken at a time: under the lock each is a
 * line that another CPU has written.
 */
#define BACK_MAX 8

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

/* Sees to a spare block, if there is one in *spares.  Under the lock. */
static void take_spare(struct bucket *b, struct block **spares)
{
	if (!b->arrivals.spares && *spares)
		block_push(&b->arrivals.spares, block_pop(spares));
}

/* All spare blocks but one.  Under the lock. */
static struct block *take_surplus(struct bucket *b)
{
	struct block *one = block_pop(&b->arrivals.spares);
	struct block *surplus = b->arrivals.spares;

	b->arrivals.spares = NULL;
	if (one)
		block_push(&b->arrivals.spares, one);
	return surplus;
}

/* Puts all of from before what is in *to. */
static void join(struct block **to, struct block *from)
{
	struct block *b;

	while ((b = block_pop(&from)) != NULL)
		block_push(to, b);
}

struct chain bucket_collect(struct bucket *b, struct block **spares,
			    struct slot **ret_back)
{
	struct block *surplus;
	struct chain taken;

	lock_acquire(&b->lock);
	taken = (struct chain){queue_take(&b->arrivals), b->nearest};
	b->listed = false;
	b->nearest = INT64_MAX;
	b->asked = INT64_MAX;
	*ret_back = b->back;
	b->back = NULL;
	if (taken.first)
		take_spare(b, spares);
	surplus = take_surplus(b);
	slots_give(&b->slots, &b->returns);
	lock_release(&b->lock);

	join(spares, surplus);
	return taken;
}

/* Some of those that are back.  *left is not 0 while there are others. */
static struct slot *take_back(struct bucket *b, uint64_t *left)
{
	struct slot *first = b->back, **last = &b->back;

	for (int i = 0; *last && i < BACK_MAX; i++)
		last = &(*last)->next;
	b->back = *last;
	*last = NULL;
	if (b->back && *left == 0)
		*left = 1;
	return first;
}

size_t bucket_tidy(struct bucket *b, struct wakeup *w, struct block **spares,
		   uint64_t *left, struct slot **ret_back)
{
	struct block *surplus;
	size_t looks;
	int64_t time;
	bool ask;

	if (!*spares && (*spares = block_alloc()) != NULL)
		(*spares)->next = NULL;
	*ret_back = NULL;
	if (!lock_try(&b->lock)) {
		*left = 0;
		return 0;
	}
	take_spare(b, spares);
	looks = rent_tidy(b, left);
	*ret_back = take_back(b, left);
	surplus = take_surplus(b);
	/* To turn arrivals over may have begun a block. */
	ask = b->arrivals.blocks >= BUCKET_BURST && admit_burst(b, &time);
	lock_release(&b->lock);

	if (ask)
		wakeup_ask(w, time);
	join(spares, surplus);
	return looks;
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
