/* SPDX-License-Identifier: MIT */
#include "intake/unqueued.h"
#include "intake/arrival.h"

/* Under the lock.  Returns whether the driver must be woken. */
static bool mark_unqueued(struct bucket *b, struct wakeup *w, struct slot *s)
{
	slot_set_handed_over(s);
	slot_heap_add(&b->unqueued, &b->slots, s);
	return arrival_visit_by(b, w, s->queued);
}

bool unqueued_move(struct bucket *b, struct wakeup *w, struct slot *s,
		   int64_t due)
{
	bool unqueued = slot_heap_has(s);

	if (unqueued)
		slot_heap_remove(&b->unqueued, &b->slots, s);
	s->queued = due;
	return unqueued && mark_unqueued(b, w, s);
}

TT_NOINLINE void unqueued_add(struct bucket *b, struct wakeup *w,
			      struct slot *s)
{
	arrival_leave(b, w, mark_unqueued(b, w, s));
}

bool unqueued_leave(struct bucket *b, struct wakeup *w, const struct entry *e)
{
	struct slot *s = slots_of(&b->slots, e->index);
	bool owns, kick;

	lock_acquire(&b->lock);
	owns = slot_owns(s, e);
	kick = owns && mark_unqueued(b, w, s);
	arrival_leave(b, w, kick);
	return owns;
}

/*
 * Releases the lock for a while to allocate memory, or to help another thread.
 * During that time the timer is still handed over, and may be rescheduled.
 */
bool unqueued_file(struct bucket *b, struct wakeup *w, struct slot *s,
		   int64_t now)
{
	struct arrival a;
	bool room, kick;

	lock_acquire(&b->lock);
	a = arrival_aim_old(b, s->queued);
	if (!arrival_has_room(b, a.lane)) {
		lock_release(&b->lock);
		arrival_grow(b, w, a.lane, false);
		lock_acquire(&b->lock);
	}
	arrival_is_open(b, w);
	a = arrival_aim_old(b, s->queued);
	/* Later than its deadline: that had passed by then. */
	a.at_once = s->queued <= now || s->queued > s->deadline;
	room = arrival_has_room(b, a.lane);
	if (room) {
		slot_clear_handed_over(s);
		kick = arrival_push(b, w, &a, slot_entry(s));
	} else {
		kick = mark_unqueued(b, w, s);
	}
	arrival_leave(b, w, kick);
	return room;
}

struct entry unqueued_collect(struct bucket *b, struct slot *s)
{
	slot_heap_remove(&b->unqueued, &b->slots, s);
	slot_clear_handed_over(s);
	return slot_entry(s);
}
