/* SPDX-License-Identifier: MIT */
/*
 * The arrival of an entry in a bucket: what all share that put one there.
 *
 * Guarantees:
 *  1. Between arrival_begin and arrival_add nothing can fail any more.
 *  2. Memory is taken with the lock free.
 *  3. To its entry, an arrival whose deadline has passed is due now, less the
 *     slack; see wakeup_earliest.  (Where an earlier one is in its lane, since
 *     the driver is late, or nearly as early a one, it keeps its deadline.)
 *
 * Any thread.
 */
#ifndef TT_ARRIVAL_H
#define TT_ARRIVAL_H

#include "intake/bucket.h"
#include "intake/rent.h"

#include <errno.h>

/* Where an arrival goes. */
struct arrival {
	struct lane *lane;
	int64_t due; /* the entry's deadline */
};

/*
 * Takes memory for what is missing: room for an entry in this lane, and a slot
 * if that is asked for.  No lock.  Returns 0, -ENOMEM, or -EAGAIN: there may be
 * no more slots.
 */
int arrival_grow(struct bucket *b, struct lane *l, bool slot);

/*
 * Tells the driver of a deadline, or of an earlier time, as wakeup_announce.
 * Under the lock.
 */
bool arrival_announce(struct bucket *b, struct wakeup *w, int64_t deadline);

/*
 * This deadline is earlier than all in its lane.  If the lane or the deadline
 * may be wrong, looks at the clock, with the lock free meanwhile: what was
 * known before does not hold any more.
 */
struct arrival arrival_place(struct bucket *b, struct wakeup *w,
			     int64_t deadline);

/* The lane by what is known.  Under the lock. */
static inline struct arrival arrival_aim(struct bucket *b, int64_t deadline)
{
	unsigned lane = distance_lane(b->base, deadline);

	return (struct arrival){&b->lane[lane], deadline};
}

/* Is there room in the lane, or a spare block?  Under the lock. */
static inline bool arrival_has_room(struct bucket *b, struct lane *l)
{
	return likely(queue_has_room(&l->queue, 1)) ||
	       (queue_wants_rows(&l->queue) == 0 &&
		queue_extend(&l->queue, &b->spares));
}

/* With the lock held.  False: memory is missing. */
static inline bool arrival_ready(struct bucket *b, struct lane *l, bool slot)
{
	if (slot)
		rent_pay(b, l);
	else
		rent_pay_rarely(b, l);
	if (slot && unlikely(!slots_any(&b->slots)) && !rent_elsewhere(b, l))
		return false;
	return arrival_has_room(b, l);
}

/*
 * There was no memory, as r says.  Takes the lock, and returns 1 if room for an
 * entry is all that is missing; else r, or -ESHUTDOWN, with the lock free.
 */
int arrival_without_room(struct bucket *b, bool slot, int r);

/*
 * Takes the lock and makes sure of room for an entry, and of a slot if that is
 * asked for.  Returns 0 with the lock held; or 1, the same, but there is no
 * room, so that the timer must be stranded; or, with the lock free,
 * -ESHUTDOWN: the bucket is not open, or what arrival_grow returned.
 */
static inline int arrival_begin(struct bucket *b, struct wakeup *w, bool slot,
				int64_t deadline, struct arrival *a)
{
	int r;

	lock_acquire(&b->lock);
	/* Not before that: a CPU does this while it reads the bucket. */
	*a = arrival_aim(b, deadline);
	if (unlikely(deadline < a->lane->queue.nearest))
		*a = arrival_place(b, w, deadline);
	while (likely(b->open)) {
		if (likely(arrival_ready(b, a->lane, slot)))
			return 0;
		lock_release(&b->lock);
		r = arrival_grow(b, a->lane, slot);
		if (r < 0)
			return arrival_without_room(b, slot, r);
		lock_acquire(&b->lock);
	}
	lock_release(&b->lock);
	return -ESHUTDOWN;
}

/*
 * Adds e, for which there is room.  Under the lock.  Returns whether the
 * caller must call wakeup_kick once it is free.
 */
static inline bool arrival_push(struct bucket *b, struct wakeup *w,
				struct lane *l, struct entry e)
{
	return unlikely(queue_push(&l->queue, e)) && e.deadline < b->nearest &&
	       arrival_announce(b, w, e.deadline);
}

/* The same, and releases the lock.  Wakes the driver if it must know. */
static inline void arrival_add(struct bucket *b, struct wakeup *w,
			       struct lane *l, struct entry e)
{
	bool kick = arrival_push(b, w, l, e);

	lock_release(&b->lock);
	if (unlikely(kick))
		wakeup_kick(w);
}

#endif
