/* SPDX-License-Identifier: MIT */
#include "intake/handover.h"
#include "intake/arrival.h"

/* Under the lock. */
static void set_handed_over(struct slot *s)
{
	atom32_store(&s->ticket, atom32_load(&s->ticket) | TICKET_HANDED_OVER);
}

static void clear_handed_over(struct slot *s)
{
	atom32_store(&s->ticket, atom32_load(&s->ticket) & ~TICKET_HANDED_OVER);
}

enum expiry handover_give(struct bucket *b, struct slot *s, struct entry *e,
			  int64_t now)
{
	enum expiry x;
	uint32_t word;

	if (likely(slot_hand_over(s, e)))
		return EXPIRY_RUN;
	lock_acquire(&b->lock);
	x = expiry_judge(s, e, now, &word);
	if (x == EXPIRY_RUN)
		set_handed_over(s);
	lock_release(&b->lock);
	return x;
}

/* Under the lock.  Returns whether the driver must be woken. */
static bool strand(struct bucket *b, struct wakeup *w, struct slot *s)
{
	set_handed_over(s);
	slot_heap_add(&b->stranded, &b->slots, s);
	return arrival_visit_by(b, w, s->queued);
}

bool handover_move(struct bucket *b, struct wakeup *w, struct slot *s,
		   int64_t due)
{
	bool stranded = slot_heap_has(s);

	if (stranded)
		slot_heap_remove(&b->stranded, &b->slots, s);
	s->queued = due;
	return stranded && strand(b, w, s);
}

TT_NOINLINE void handover_add(struct bucket *b, struct wakeup *w,
			      struct lane *l, struct slot *s, int result)
{
	bool kick = result == ARRIVAL_AT_ONCE
			    ? arrival_push_at_once(b, w, l, slot_entry(s))
			    : strand(b, w, s);

	arrival_leave(b, w, kick);
}

bool handover_strand(struct bucket *b, struct wakeup *w, const struct entry *e)
{
	struct slot *s = slots_of(&b->slots, e->index);
	bool owns, kick;

	lock_acquire(&b->lock);
	owns = slot_owns(s, e);
	kick = owns && strand(b, w, s);
	arrival_leave(b, w, kick);
	return owns;
}

/*
 * Files a timer that is handed over.  Called with the lock held; releases it.
 * Also releases it for a while to allocate memory, or to help another thread.
 * During that time the timer is still handed over, and may be rescheduled.
 * False: there was no memory, and the timer is stranded.
 */
static bool file_handed_over(struct bucket *b, struct wakeup *w, struct slot *s,
			     int64_t now)
{
	struct arrival a = arrival_aim(b, s->queued);
	bool room, kick;

	if (!arrival_has_room(b, a.lane)) {
		lock_release(&b->lock);
		arrival_grow(b, w, a.lane, false);
		lock_acquire(&b->lock);
	}
	arrival_is_open(b, w);
	a = arrival_aim(b, s->queued);
	room = arrival_has_room(b, a.lane);
	if (room) {
		clear_handed_over(s);
		kick = a.due > now ? arrival_push(b, w, a.lane, slot_entry(s))
				   : arrival_push_at_once(b, w, a.lane,
							  slot_entry(s));
	} else {
		kick = strand(b, w, s);
	}
	arrival_leave(b, w, kick);
	return room;
}

bool handover_restore(struct bucket *b, struct wakeup *w, int64_t now)
{
	struct slot *s;
	uint32_t word;

	if (!lock_try(&b->lock))
		return false;
	s = slot_heap_first(&b->stranded, &b->slots);
	if (!s) {
		lock_release(&b->lock);
		return false;
	}
	slot_heap_remove(&b->stranded, &b->slots, s);
	word = atom32_load(&s->state);
	if (!slot_is_dead(word) || !slot_free(s, word))
		return file_handed_over(b, w, s, now);
	slots_give(&b->slots, s, s->index >> b->slots.shift);
	lock_release(&b->lock);
	return true;
}

static TT_NOINLINE enum expiry begin_slow(struct bucket *b, struct wakeup *w,
					  struct slot *s, uint64_t *overrun)
{
	int64_t now = watch_now(w->watch);
	struct entry e;
	enum expiry x;

	lock_acquire(&b->lock);
	/* It is in no queue, so it need not wait for its turn there again. */
	if (s->queued < s->deadline)
		s->queued = s->deadline;
	e = slot_entry(s);
	x = expiry_run(s, &e, now, overrun);
	if (x == EXPIRY_LATER) {
		file_handed_over(b, w, s, now);
		return x;
	}
	if (x == EXPIRY_OVER)
		slots_give(&b->slots, s, s->index >> b->slots.shift);
	else if (x == EXPIRY_STALE)
		clear_handed_over(s);
	lock_release(&b->lock);
	return x;
}

/*
 * If the timer is still armed, its deadline had passed when it was handed over.
 * That is still so, unless the clock may be set back.
 */
enum expiry handover_begin(struct bucket *b, struct wakeup *w, struct slot *s,
			   uint64_t *overrun)
{
	if (likely(watch_goes_on(w->watch) &&
		   slot_begin(s, atom32_load(&s->ticket))))
		return EXPIRY_RUN;
	return begin_slow(b, w, s, overrun);
}

enum expiry handover_rearm(struct bucket *b, struct wakeup *w, struct slot *s,
			   int64_t *ret_due)
{
	enum expiry x;
	struct entry e;
	int64_t now;

	if (likely(!slot_lives_on(s)))
		return EXPIRY_OVER;
	now = watch_now(w->watch);
	lock_acquire(&b->lock);
	*ret_due = s->queued;
	x = expiry_rearm(s, &e, wakeup_earliest(w, now));
	if (x != EXPIRY_OVER)
		counter_add(&b->fired, 1);
	if (x == EXPIRY_LATER) {
		file_handed_over(b, w, s, now);
		return x;
	}
	if (x == EXPIRY_STALE)
		clear_handed_over(s);
	lock_release(&b->lock);
	return x;
}

bool handover_end(struct bucket *b, struct slot *s, int64_t *ret_due)
{
	bool waits;

	lock_acquire(&b->lock);
	*ret_due = s->queued;
	/* Counted before it is over: see stats.h. */
	counter_add(&b->fired, 1);
	counter_add(&b->ended, 1);
	waits = expiry_end(s);
	slots_give(&b->slots, s, s->index >> b->slots.shift);
	lock_release(&b->lock);
	return waits;
}

struct entry handover_collect(struct bucket *b, struct slot *s)
{
	slot_heap_remove(&b->stranded, &b->slots, s);
	clear_handed_over(s);
	return slot_entry(s);
}
