/* SPDX-License-Identifier: MIT */
/*
 * What the driver does with a bucket: it collects, reclaims and flushes.
 */
#include "config.h"

#include "intake/arrival.h"
#include "intake/bucket.h"
#include "intake/rent.h"

/*
 * So many of the rearmed are taken at a time: under the lock each is a line
 * that another CPU has written.
 */
#define REARMED_MAX 8

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
			    struct slot **ret_rearmed)
{
	struct block *surplus;
	struct chain taken;

	lock_acquire(&b->lock);
	taken = (struct chain){queue_take(&b->arrivals), b->nearest};
	b->listed = false;
	b->nearest = INT64_MAX;
	b->asked = INT64_MAX;
	*ret_rearmed = b->rearmed;
	b->rearmed = NULL;
	if (taken.first)
		take_spare(b, spares);
	surplus = take_surplus(b);
	slots_add_free(&b->slots, &b->recycled);
	lock_release(&b->lock);

	join(spares, surplus);
	return taken;
}

/* Some of the rearmed.  *left is not 0 while there are others. */
static struct slot *take_rearmed(struct bucket *b, uint64_t *left)
{
	struct slot *first = b->rearmed, **last = &b->rearmed;

	for (int i = 0; *last && i < REARMED_MAX; i++)
		last = &(*last)->next;
	b->rearmed = *last;
	*last = NULL;
	if (b->rearmed && *left == 0)
		*left = 1;
	return first;
}

size_t bucket_reclaim(struct bucket *b, struct wakeup *w, struct block **spares,
		      uint64_t *left, struct slot **ret_rearmed)
{
	struct block *surplus;
	size_t looks;
	int64_t time;
	bool ask;

	if (!*spares && (*spares = block_alloc()) != NULL)
		(*spares)->next = NULL;
	*ret_rearmed = NULL;
	if (!lock_try(&b->lock)) {
		*left = 0;
		return 0;
	}
	take_spare(b, spares);
	looks = rent_reclaim(b, left);
	*ret_rearmed = take_rearmed(b, left);
	surplus = take_surplus(b);
	/* To turn arrivals over may have begun a block. */
	ask = b->arrivals.blocks >= BUCKET_BURST && arrival_burst(b, &time);
	lock_release(&b->lock);

	if (ask)
		wakeup_ask(w, time);
	join(spares, surplus);
	return looks;
}

void bucket_flush(struct bucket *b)
{
	lock_acquire(&b->lock);
	slots_add_free(&b->slots, &b->recycled);
	lock_release(&b->lock);
}
