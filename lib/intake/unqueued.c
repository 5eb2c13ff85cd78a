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
			      struct lane *l, struct slot *s, int result)
{
	bool kick = result == ARRIVAL_AT_ONCE
			    ? arrival_push_at_once(b, w, l, slot_entry(s))
			    : mark_unqueued(b, w, s);

	arrival_leave(b, w, kick);
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
	struct lane *l;
	bool room, kick;

	lock_acquire(&b->lock);
	l = arrival_aim(b, s->queued).lane + LANE_OLD;
	if (!arrival_has_room(b, l)) {
		lock_release(&b->lock);
		arrival_grow(b, w, l, false);
		lock_acquire(&b->lock);
	}
	arrival_is_open(b, w);
	l = arrival_aim(b, s->queued).lane + LANE_OLD;
	room = arrival_has_room(b, l);
	if (room) {
		slot_clear_handed_over(s);
		/* Later than its deadline: that had passed by then. */
		kick = s->queued > now && s->queued <= s->deadline
			       ? arrival_push(b, w, l, slot_entry(s))
			       : arrival_push_at_once(b, w, l, slot_entry(s));
	} else {
		kick = mark_unqueued(b, w, s);
	}
	arrival_leave(b, w, kick);
	return room;
}

bool unqueued_restore(struct bucket *b, struct wakeup *w, int64_t now)
{
	struct slot *s;
	uint32_t word;
	bool freed;

	if (!lock_try(&b->lock))
		return false;
	s = slot_heap_first(&b->unqueued, &b->slots);
	if (!s) {
		lock_release(&b->lock);
		return false;
	}
	slot_heap_remove(&b->unqueued, &b->slots, s);
	word = atom32_load(&s->state);
	freed = slot_is_dead(word);
	if (freed) {
		slot_free(s, word);
		slots_give(&b->slots, s, s->index >> b->slots.shift);
	}
	lock_release(&b->lock);
	return freed || unqueued_file(b, w, s, now);
}

struct entry unqueued_collect(struct bucket *b, struct slot *s)
{
	slot_heap_remove(&b->unqueued, &b->slots, s);
	slot_clear_handed_over(s);
	return slot_entry(s);
}
