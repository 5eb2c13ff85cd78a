/* SPDX-License-Identifier: MIT */
#include "intake/bucket.h"

void bucket_init(struct bucket *b, uint32_t number, uint32_t shift,
		 struct block_pool *pool)
{
	b->nearest = INT64_MAX;
	b->pool = pool;
	for (int i = 0; i < LANES; i++)
		queue_init(&b->lane[i].queue);
	slots_init(&b->slots, number, shift);
}

void bucket_destroy(struct bucket *b)
{
	/* It was never set up.  To take its lock would touch its memory. */
	if (!b->pool)
		return;
	if (lock_try(&b->lock)) {
		for (int i = 0; i < LANES; i++)
			queue_destroy(&b->lane[i].queue);
		block_free_all(b->spares);
	}
	/* Slots are only ever added, so they can be freed in any case. */
	slots_destroy(&b->slots);
}

size_t bucket_bytes(const struct bucket *b)
{
	size_t bytes = sizeof(*b) + slots_bytes(&b->slots);

	for (const struct lane *l = b->lane; l < b->lane + LANES; l++)
		bytes += queue_bytes(&l->queue);
	return bytes;
}

/*
 * A deadline that is near by the base may have passed.  With a slack, so may
 * any that is due less than the slack after the nearest one, for which the
 * driver sleeps on.
 */
void bucket_set_doubtful(struct bucket *b, const struct wakeup *w)
{
	int64_t near = clock_add(b->now, NEAR_NS);
	int64_t slack =
		w->slack > 0 ? clock_add(b->nearest, w->slack) : INT64_MIN;

	b->doubtful = clock_later(near, slack);
}

void bucket_set_time(struct bucket *b, const struct wakeup *w, int64_t now)
{
	b->now = now;
	b->base = distance_base(now);
	bucket_set_doubtful(b, w);
}

/*
 * Half of the time by which blocks may be collected early: so one visit takes
 * those of the other half.  In lane 0 that would be too little to be of use.
 */
int64_t bucket_visit_at(const struct bucket *b, const struct lane *l)
{
	unsigned lane = (unsigned)(l - b->lane);
	const struct queue *q = &l->queue;

	if (q->blocks <= BLOCKS_FEW || lane % LANE_OLD == 0 ||
	    q->nearest == INT64_MAX)
		return q->nearest;
	return clock_add(q->nearest, -distance_ahead(lane) / 2);
}

void bucket_set_open(struct bucket *b, bool open)
{
	lock_acquire(&b->lock);
	b->state = open ? BUCKET_OPEN : BUCKET_SHUT;
	lock_release(&b->lock);
}

void bucket_give(struct bucket *b, struct slot *s)
{
	lock_acquire(&b->lock);
	slots_give(&b->slots, s, s->index >> b->slots.shift);
	lock_release(&b->lock);
}
