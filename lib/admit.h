/* SPDX-License-Identifier: MIT */
/*
 * How an entry gets into a bucket: what scheduling and rescheduling share.
 *
 * Guarantees:
 *  1. Between admit_begin and admit_entry nothing can fail any more.
 *  2. Memory is taken with the lock free.
 *
 * Any thread.
 */
#ifndef TT_ADMIT_H
#define TT_ADMIT_H

#include "bucket.h"
#include "rent.h"

#include <errno.h>

/*
 * Takes memory for what is missing: room for an entry, and a slot if that is
 * asked for.  No lock.  Returns 0, -ENOMEM, or -EAGAIN: there may be no more
 * slots.
 */
int admit_grow(struct bucket *b, bool slot);

/* Tells the timer thread of a deadline, as wakeup_announce.  Under the lock. */
bool admit_announce(struct bucket *b, struct wakeup *w, int64_t deadline);

/* With the lock held.  False: memory is missing. */
static inline bool admit_ready(struct bucket *b, bool slot)
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
 * -ESHUTDOWN: the bucket is not open, or what admit_grow returned.
 */
static inline int admit_begin(struct bucket *b, bool slot)
{
	int r;

	lock_acquire(&b->lock);
	while (likely(b->open)) {
		if (likely(admit_ready(b, slot)))
			return 0;
		lock_release(&b->lock);
		r = admit_grow(b, slot);
		if (r < 0)
			return r;
		lock_acquire(&b->lock);
	}
	lock_release(&b->lock);
	return -ESHUTDOWN;
}

/*
 * Are there so many arrivals that the timer thread may have to fetch them?
 * Asked at the end of a block, or one entry before it: rent may push one too.
 */
static inline bool admit_is_burst(const struct bucket *b)
{
	return unlikely(!queue_has_room(&b->arrivals, 2)) &&
	       b->arrivals.blocks >= BUCKET_BURST;
}

/*
 * There are many arrivals: is the timer thread to be asked to fetch them, and
 * at what time?  Then wakeup_ask, once the lock is free.  Under the lock.
 */
bool admit_burst(struct bucket *b, int64_t *ret_time);

/*
 * Adds e, for which there is room, and lets the lock go.  Wakes the timer
 * thread if it must know.
 */
static inline void admit_entry(struct bucket *b, struct wakeup *w,
			       struct entry e)
{
	bool kick = false, ask = false;
	int64_t time;

	queue_push(&b->arrivals, e);
	if (unlikely(e.deadline < b->nearest || !b->listed))
		kick = admit_announce(b, w, e.deadline);
	if (admit_is_burst(b))
		ask = admit_burst(b, &time);
	lock_release(&b->lock);
	if (unlikely(ask))
		wakeup_ask(w, time);
	if (unlikely(kick))
		wakeup_kick(w);
}

#endif
