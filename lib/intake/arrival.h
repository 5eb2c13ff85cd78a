/* SPDX-License-Identifier: MIT */
/*
 * The arrival of an entry in a bucket: what scheduling and rescheduling share.
 *
 * Guarantees:
 *  1. Between arrival_begin and arrival_add nothing can fail any more.
 *  2. Memory is taken with the lock free.
 *
 * Any thread.
 */
#ifndef TT_ARRIVAL_H
#define TT_ARRIVAL_H

#include "intake/bucket.h"
#include "intake/rent.h"

#include <errno.h>

/*
 * Takes memory for what is missing: room for an entry, and a slot if that is
 * asked for.  No lock.  Returns 0, -ENOMEM, or -EAGAIN: there may be no more
 * slots.
 */
int arrival_grow(struct bucket *b, bool slot);

/* Tells the driver of a deadline, as wakeup_announce.  Under the lock. */
bool arrival_announce(struct bucket *b, struct wakeup *w, int64_t deadline);

/* With the lock held.  False: memory is missing. */
static inline bool arrival_ready(struct bucket *b, bool slot)
{
	rent_pay(b);
	if (slot && unlikely(!slots_any(&b->slots)) && !rent_sweep(b))
		return false;
	return likely(queue_has_room(&b->arrivals, 1)) ||
	       queue_extend(&b->arrivals);
}

/*
 * Takes the lock and makes sure of room for an entry, and of a slot if that is
 * asked for.  Returns 0 with the lock held; or, with the lock free,
 * -ESHUTDOWN: the bucket is not open, or what arrival_grow returned.
 */
static inline int arrival_begin(struct bucket *b, bool slot)
{
	int r;

	lock_acquire(&b->lock);
	while (likely(b->open)) {
		if (likely(arrival_ready(b, slot)))
			return 0;
		lock_release(&b->lock);
		r = arrival_grow(b, slot);
		if (r < 0)
			return r;
		lock_acquire(&b->lock);
	}
	lock_release(&b->lock);
	return -ESHUTDOWN;
}

/*
 * Are there so many arrivals that the driver may have to collect them?
 * Asked at the end of a block, or one entry before it: rent may push one too.
 */
static inline bool arrival_is_burst(const struct bucket *b)
{
	return unlikely(!queue_has_room(&b->arrivals, 2)) &&
	       b->arrivals.blocks >= BUCKET_BURST;
}

/*
 * There are many arrivals: is the driver to be asked to collect them, and at
 * what time?  Then wakeup_ask, once the lock is free.  Under the lock.
 */
bool arrival_burst(struct bucket *b, int64_t *ret_time);

/*
 * Adds e, for which there is room, and releases the lock.  Wakes the driver if
 * it must know.
 */
static inline void arrival_add(struct bucket *b, struct wakeup *w,
			       struct entry e)
{
	bool kick = false, ask = false;
	int64_t time;

	queue_push(&b->arrivals, e);
	if (unlikely(e.deadline < b->nearest || !b->listed))
		kick = arrival_announce(b, w, e.deadline);
	if (arrival_is_burst(b))
		ask = arrival_burst(b, &time);
	lock_release(&b->lock);
	if (unlikely(ask))
		wakeup_ask(w, time);
	if (unlikely(kick))
		wakeup_kick(w);
}

#endif
