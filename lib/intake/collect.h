/* SPDX-License-Identifier: MIT */
/*
 * What the driver does with a bucket: it collects, puts back and flushes.
 *
 * Guarantee: the bucket's lock is held for a few microseconds at a time.
 *
 * The driver.
 */
#pragma once

#include "intake/unqueued.h"
#include "store/vacancy.h"

/* How many timers without an entry a step of a visit takes at most. */
#define UNQUEUED_STEP 32

/* How many spare blocks a step gives back at most. */
#define SURPLUS_MAX 16

/* How many entries are put back while the lock is held once. */
#define PUT_MAX 64

/* A visit by the driver, and what its last step has taken out. */
struct visit {
	int64_t by;    /* takes all that is due by then, and some of the rest */
	int64_t now;   /* becomes the base of distances */
	unsigned lane; /* whose blocks are next; LANES: all are done */
	/* Set by the driver: it keeps no more, so none without entry comes. */
	bool full;
	struct queue_cursor cursor; /* has the rows of the blocks taken out */
	/* Of timers that had none. */
	struct entry entry[UNQUEUED_STEP];
	int entries;
};

TT_PART void visit_begin(struct visit *v, int64_t by, int64_t now)
{
	v->by = by;
	v->now = now;
	v->lane = 0;
	v->full = false;
	queue_cursor_begin(&v->cursor);
}

/* True: all lanes are done. */
static bool take_blocks(struct bucket *b, struct visit *v)
{
	while (v->lane < LANES) {
		struct queue *q = &b->lane[v->lane].queue;

		if ((v->cursor.begun ||
		     bucket_visit_at(b, &b->lane[v->lane]) <= v->by) &&
		    !queue_take(q, &v->cursor,
				clock_add(v->by, distance_ahead(v->lane))))
			return false;
		v->lane++;
		queue_cursor_begin(&v->cursor);
	}
	return true;
}

/* True: no others are due. */
static bool take_unqueued(struct bucket *b, struct visit *v)
{
	struct slot *s;

	while ((s = slot_heap_first(&b->unqueued, &b->slots)) != NULL &&
	       s->due <= v->by) {
		if (v->entries == UNQUEUED_STEP)
			return false;
		v->entry[v->entries++] = unqueued_collect(b, s);
	}
	return true;
}

/* Announces what is left in the bucket. */
static void bucket_announce(struct bucket *b, struct wakeup *w)
{
	const struct slot *first = slot_heap_first(&b->unqueued, &b->slots);
	int64_t nearest = first ? first->due : INT64_MAX;

	for (const struct lane *l = b->lane; l < b->lane + LANES; l++) {
		int64_t t = bucket_visit_at(b, l);

		nearest = t < nearest ? t : nearest;
	}
	b->nearest = nearest;
	bucket_set_doubtful(b, w);
	/* The driver is awake, so it need not be woken. */
	if (nearest < INT64_MAX)
		wakeup_announce(w, b->slots.bucket, nearest);
}

/*
 * One step of a visit, for which the wake-up has asked.  False: that was the
 * last step.
 */
TT_PART bool bucket_collect(struct bucket *b, struct wakeup *w, struct visit *v)
{
	bool done;

	v->cursor.looked = v->cursor.taken = 0;
	v->entries = 0;
	lock_acquire_hot(&b->lock);
	bucket_set_time(b, w, v->now);
	done = take_blocks(b, v) && (v->full || take_unqueued(b, v));
	if (done)
		bucket_announce(b, w);
	slots_add_free(&b->slots, &b->recycled);
	lock_release(&b->lock);
	return !done;
}

/* Under the lock.  Returns how many are left. */
static size_t put_some(struct bucket *b, struct wakeup *w,
		       const struct entry *e, size_t n, struct arrival *a)
{
	for (int i = 0; n > 0 && i < PUT_MAX; i++) {
		bool grows;

		*a = arrival_aim_old(b, e[n - 1].deadline);
		grows = !queue_has_room(&a->lane->queue, 1);
		if (!arrival_has_room(b, a->lane))
			break;
		arrival_push(b, w, a, e[--n]);
		if (unlikely(grows))
			arrival_visit_by(b, w, bucket_visit_at(b, a->lane),
					 false);
	}
	return n;
}

/*
 * Puts back n entries that the driver has taken, the last one first, into the
 * lanes of the old.  Returns how many are left, at the beginning of e, because
 * there is no memory for them.
 */
TT_PART size_t bucket_put(struct bucket *b, struct wakeup *w,
			  const struct entry *e, size_t n)
{
	struct arrival a = {NULL, 0, false};
	bool grown = false;

	while (n > 0) {
		size_t left;

		lock_acquire_hot(&b->lock);
		left = put_some(b, w, e, n, &a);
		lock_release(&b->lock);
		if (left == n && grown)
			break;
		grown = left == n;
		if (grown && arrival_grow(b, w, a.lane, false) < 0)
			break;
		n = left;
	}
	return n;
}

/*
 * Makes the recycled slots free, so that schedule calls can take them.  True:
 * there will be some memory to give back.
 */
TT_PART bool bucket_flush(struct bucket *b)
{
	bool surplus;

	lock_acquire_hot(&b->lock);
	slots_add_free(&b->slots, &b->recycled);
	surplus = vacancy_surplus_later(&b->slots) > 0;
	lock_release(&b->lock);
	return surplus;
}

/*
 * One step of giving back what the bucket does not need: all spare blocks but
 * one, and the rows of a lane.  False: that was all.
 */
TT_PART bool bucket_shrink(struct bucket *b)
{
	struct block *surplus = NULL, **rest;
	struct lane *less = NULL;
	uint32_t rows = 0;

	lock_acquire_hot(&b->lock);
	rest = b->spares ? &b->spares->next : &b->spares;
	for (int i = 0; i < SURPLUS_MAX && *rest; i++)
		block_push(&surplus, block_pop(rest));
	for (struct lane *l = b->lane; l < b->lane + LANES && !less; l++) {
		rows = queue_wants_rows(&l->queue);
		less = rows < l->queue.size ? l : NULL;
	}
	lock_release(&b->lock);
	block_pool_give(b->pool, surplus);
	return (less && arrival_give_rows(b, less, rows)) || surplus;
}

/*
 * Takes out the first block of a lane; NULL: there is none.  *ret_n: how many
 * there were.
 */
TT_PART struct block *bucket_take_oldest(struct bucket *b, unsigned lane,
					 uint32_t *ret_n)
{
	struct queue *q = &b->lane[lane].queue;
	struct block *block;

	lock_acquire_hot(&b->lock);
	*ret_n = q->blocks;
	block = q->blocks > 0 ? queue_take_first(q) : NULL;
	lock_release(&b->lock);
	return block;
}
