/* SPDX-License-Identifier: MIT */
/*
 * Timers that are handed over (expiry.h), which means that no queue has their
 * entry; and those of them that have none because there was no memory for it.
 * Such a timer is unqueued: it waits in a heap of its bucket, which needs no
 * memory, until it is due.
 *
 * Every run passes through the first state, and a timer that runs again leaves
 * it by unqueued_file.  The heap is only for the rare case.
 *
 * The thread that schedules or reschedules: mark, move, under the lock.  The
 * thread that a timer was handed over to: file.  The driver: leave, collect.
 * test/model/slot.pml is a model of this for Spin.
 */
#pragma once

#include "intake/arrival.h"

/*
 * Instead of arrival_push, if arrival_begin has returned NO_ROOM.  at_once is
 * as in struct arrival.  Under the lock.
 */
TT_PART TT_NOINLINE bool unqueued_mark(struct bucket *b, struct wakeup *w,
				       struct slot *s, bool at_once)
{
	slot_set_handed_over(s);
	slot_heap_add(&b->unqueued, &b->slots, s);
	return arrival_visit_by(b, w, s->due, at_once);
}

/*
 * Reschedules a timer that is handed over: its entry will be due at the time
 * `due`; at_once is as in struct arrival.  Under the lock.  Returns whether the
 * caller must call wakeup_kick when the lock is free.
 */
TT_PART bool unqueued_move(struct bucket *b, struct wakeup *w, struct slot *s,
			   int64_t due, bool at_once)
{
	bool unqueued = slot_heap_has(s);

	if (unqueued)
		slot_heap_remove(&b->unqueued, &b->slots, s);
	s->due = due;
	return unqueued && unqueued_mark(b, w, s, at_once);
}

/* The timer of e, which is in no queue, stays so.  False: e is stale. */
TT_PART bool unqueued_leave(struct bucket *b, struct wakeup *w,
			    const struct entry *e)
{
	struct slot *s = slots_of(&b->slots, e->index);
	bool owns, kick;

	lock_acquire(&b->lock);
	owns = slot_owns(s, e);
	/* What is due now may have come to be run at once. */
	kick = owns && unqueued_mark(b, w, s, s->due <= b->now);
	arrival_leave(b, w, kick);
	return owns;
}

/*
 * Gives a timer that is handed over an entry again, as an arrival.  If there is
 * no memory for that, the timer is unqueued; then this returns false.
 *
 * Releases the lock for a while to allocate memory, or to help another thread.
 * During that time the timer is still handed over, and may be rescheduled.
 */
TT_PART bool unqueued_file(struct bucket *b, struct wakeup *w, struct slot *s,
			   int64_t now)
{
	struct arrival a;
	bool room, kick;

	lock_acquire(&b->lock);
	a = arrival_aim_old(b, s->due);
	if (!arrival_has_room(b, a.lane)) {
		lock_release(&b->lock);
		arrival_grow(b, w, a.lane, false);
		lock_acquire(&b->lock);
	}
	if (unlikely(b->state != BUCKET_OPEN))
		arrival_is_open(b, w);
	a = arrival_aim_old(b, s->due);
	/* Later than its deadline: that had passed by then. */
	a.at_once = s->due <= now || s->due > s->deadline;
	room = arrival_has_room(b, a.lane);
	if (room) {
		slot_clear_handed_over(s);
		kick = arrival_push(b, w, &a, slot_entry(s));
	} else {
		kick = unqueued_mark(b, w, s, a.at_once);
	}
	arrival_leave(b, w, kick);
	return room;
}

/* An unqueued timer gets the entry that is returned.  Under the lock. */
TT_PART struct entry unqueued_collect(struct bucket *b, struct slot *s)
{
	slot_heap_remove(&b->unqueued, &b->slots, s);
	slot_clear_handed_over(s);
	return slot_entry(s);
}
