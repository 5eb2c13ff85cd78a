/* SPDX-License-Identifier: MIT */
/*
 * The arrival of an entry in a bucket: what is common to all that add one.
 *
 * The clock is not read for each.  The bucket has a base, the last time that it
 * knows.  Only a deadline before `doubtful`, or earlier than all others in its
 * lane, may have passed by now: then the clock is read (arrival_aim_now).
 *
 * Guarantees:
 *  1. Between arrival_begin and arrival_add nothing can fail.
 *  2. Memory is allocated while the lock is free.
 *  3. If the deadline of an arrival has passed, its entry is due now (see
 *     wakeup_earliest), and the driver does not sleep on for the slack.
 *     Exception: if the driver is late by more than 8 ms, an entry may keep its
 *     deadline.
 *
 * Any thread.
 */
#pragma once

#include "intake/recycle.h"

#include <errno.h>

/* Where an arrival goes. */
struct arrival {
	struct lane *lane;
	int64_t due;  /* the entry's deadline */
	bool at_once; /* it has passed, and must not wait for the slack */
};

/*
 * Results of arrival_begin.  NO_ROOM: there is no room for an entry, so the
 * timer must be unqueued.
 */
enum {
	ARRIVAL_READY = 0,
	ARRIVAL_NO_ROOM = 1,
};

/*
 * Allocates memory for what is missing: a slot if that is asked for, or else
 * room for an entry in this lane.  Without the lock.  Returns 0, -ENOMEM, or
 * -EAGAIN: there may be no more slots.
 */
INTERNAL int arrival_grow(struct bucket *b, struct wakeup *w, struct lane *l,
			  bool slot);

/* The same for slots, whether the bucket has some or not. */
INTERNAL int arrival_grow_slots(struct bucket *b);

/*
 * Gives the lane this many rows, if it still wants them.  False: no memory.
 * Without the lock.
 */
INTERNAL bool arrival_give_rows(struct bucket *b, struct lane *l,
				uint32_t size);

/*
 * Announces a deadline, or an earlier time, to the driver.  Returns as
 * wakeup_announce.  Under the lock.
 */
INTERNAL bool arrival_announce(struct bucket *b, struct wakeup *w,
			       int64_t time);

/*
 * The same, unless the driver comes by then in any case.  at_once: it has
 * passed, and must not wait for the slack.
 */
static inline bool arrival_visit_by(struct bucket *b, struct wakeup *w,
				    int64_t time, bool at_once)
{
	time = unlikely(at_once) ? clock_add(time, -w->slack) : time;
	return time < b->nearest && arrival_announce(b, w, time);
}

/*
 * For a deadline that is earlier than all in its lane, or doubtful; *a is as
 * from arrival_aim.  If the lane or the deadline may be wrong, and the caller
 * does not know the time (now is 0), this reads the clock, and releases the
 * lock meanwhile.  Then everything that the caller knew about the bucket may
 * have changed.  (If this returned *a, the CPU would wait for it to be copied:
 * a pair with ever earlier deadlines took 65 ns instead of 55.)
 */
INTERNAL void arrival_aim_now(struct bucket *b, struct wakeup *w,
			      int64_t deadline, int64_t now, struct arrival *a);

/*
 * For a bucket that is not simply open: helps a thread that owes the driver a
 * wake-up.  False: it is shut.  Under the lock, which this may release for a
 * while.
 */
INTERNAL bool arrival_is_open(struct bucket *b, struct wakeup *w);

/* The lane for this deadline, by the base that is known.  Under the lock. */
static inline struct arrival arrival_aim(struct bucket *b, int64_t deadline)
{
	unsigned lane = distance_lane(b->base, deadline);

	return (struct arrival){&b->lane[lane], deadline, false};
}

/* The same among the old. */
static inline struct arrival arrival_aim_old(struct bucket *b, int64_t deadline)
{
	struct arrival a = arrival_aim(b, deadline);

	a.lane += LANE_OLD;
	return a;
}

/* Is there room in the lane, or a spare block for it?  Under the lock. */
static inline bool arrival_has_room(struct bucket *b, struct lane *l)
{
	return queue_make_room(&l->queue, &b->spares);
}

/*
 * For a bucket that has no slot to give: looks for one.  False: there is none.
 * Under the lock.
 */
INTERNAL bool arrival_find_slot(struct bucket *b, struct lane *l);

/* Recycles.  False: memory is missing.  Under the lock. */
static inline bool arrival_ready(struct bucket *b, struct lane *l, bool slot)
{
	recycle_oldest(b, l);
	if (slot && unlikely(!slots_any(&b->slots)) && !arrival_find_slot(b, l))
		return false;
	return arrival_has_room(b, l);
}

/*
 * There was no memory, as r says.  Takes the lock.  Returns NO_ROOM, with the
 * lock held, if only room for an entry is missing; else, with the lock free, r
 * or -ESHUTDOWN.
 */
INTERNAL int arrival_without_room(struct bucket *b, struct wakeup *w, bool slot,
				  int r);

/*
 * Takes the lock, and makes sure that there is room for an entry, and a slot if
 * that is asked for.  *now is as in struct timer.  Returns
 *  - READY or NO_ROOM, with the lock held;
 *  - -ESHUTDOWN, with the lock free: the bucket is not open;
 *  - what arrival_grow returned, with the lock free.
 */
static inline int arrival_begin(struct bucket *b, struct wakeup *w, bool slot,
				int64_t deadline, const int64_t *now,
				struct arrival *a)
{
	int r;

	lock_acquire_inline(&b->lock);
	/* Not earlier: the CPU does this while it reads the bucket. */
	*a = arrival_aim(b, deadline);
	if (unlikely(deadline < a->lane->queue.nearest ||
		     deadline < b->doubtful)) {
		arrival_aim_now(b, w, deadline, *now, a);
		a->at_once = w->slack > 0 && a->due <= b->now;
	}
	while (likely(b->state == BUCKET_OPEN) || arrival_is_open(b, w)) {
		if (likely(arrival_ready(b, a->lane, slot)))
			return ARRIVAL_READY;
		lock_release_inline(&b->lock);
		r = arrival_grow(b, w, a->lane, slot);
		if (r < 0)
			return arrival_without_room(b, w, slot, r);
		lock_acquire_inline(&b->lock);
	}
	lock_release_inline(&b->lock);
	return -ESHUTDOWN;
}

/*
 * Adds e, for which there must be room.  Under the lock.  Returns whether the
 * caller must call wakeup_kick when the lock is free.
 */
static inline bool arrival_push(struct bucket *b, struct wakeup *w,
				const struct arrival *a, struct entry e)
{
	return unlikely(queue_push(&a->lane->queue, e) || a->at_once) &&
	       arrival_visit_by(b, w, e.deadline, a->at_once);
}

/* Releases the lock; then wakes the driver if that is necessary. */
static inline void arrival_leave(struct bucket *b, struct wakeup *w, bool kick)
{
	lock_release_inline(&b->lock);
	if (unlikely(kick))
		wakeup_kick(w);
}

/* As arrival_push; then arrival_leave. */
static inline void arrival_add(struct bucket *b, struct wakeup *w,
			       const struct arrival *a, struct entry e)
{
	arrival_leave(b, w, arrival_push(b, w, a, e));
}
