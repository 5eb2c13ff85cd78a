/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/arrival.h"
#include "intake/handover.h"

enum expiry handover_give(struct bucket *b, struct slot *s, struct entry *e,
			  int64_t now)
{
	enum expiry x;

	lock_acquire(&b->lock);
	x = expiry_judge(s, e, now);
	if (x == EXPIRY_RUN)
		s->handed_over = true;
	lock_release(&b->lock);
	return x;
}

bool handover_announce(struct bucket *b, struct wakeup *w, int64_t deadline)
{
	if (deadline < b->stranded_nearest)
		b->stranded_nearest = deadline;
	return deadline < b->nearest && arrival_announce(b, w, deadline);
}

/* Under the lock.  Returns whether the driver must be woken. */
static bool strand(struct bucket *b, struct wakeup *w, struct slot *s)
{
	s->handed_over = true;
	s->stranded = true;
	s->next = b->stranded;
	b->stranded = s;
	return handover_announce(b, w, s->queued);
}

void handover_strand(struct bucket *b, struct wakeup *w, const struct entry *e)
{
	struct slot *s = slots_of(&b->slots, e->index);
	bool kick = false;

	lock_acquire(&b->lock);
	if (slot_owns(s, e))
		kick = strand(b, w, s);
	lock_release(&b->lock);
	if (kick)
		wakeup_kick(w);
}

/*
 * Files a timer that is handed over.  With the lock held; releases it, also for
 * a while to take memory: the timer is handed over meanwhile, and may be
 * rescheduled.
 */
static void file(struct bucket *b, struct wakeup *w, struct slot *s)
{
	struct arrival a;
	bool kick;

	a = arrival_aim(b, s->queued);
	if (!arrival_has_room(b, a.lane)) {
		lock_release(&b->lock);
		arrival_grow(b, a.lane, false);
		lock_acquire(&b->lock);
		a = arrival_aim(b, s->queued);
	}
	if (arrival_has_room(b, a.lane)) {
		s->handed_over = false;
		kick = arrival_push(b, w, a.lane, slot_entry(s));
	} else {
		kick = strand(b, w, s);
	}
	lock_release(&b->lock);
	if (kick)
		wakeup_kick(w);
}

static void free_slot(struct bucket *b, struct slot *s)
{
	s->handed_over = false;
	slots_recycle(&b->slots, s, s->index >> b->slots.shift);
}

enum expiry handover_begin(struct bucket *b, struct wakeup *w, struct slot *s,
			   int64_t now)
{
	struct entry e;
	enum expiry x;

	lock_acquire(&b->lock);
	/* It is in no queue, where it would have to wait for its turn again. */
	s->queued = s->deadline;
	e = slot_entry(s);
	x = expiry_run(s, &e, now);
	if (x == EXPIRY_LATER) {
		file(b, w, s);
		return x;
	}
	if (x == EXPIRY_OVER)
		free_slot(b, s);
	lock_release(&b->lock);
	return x;
}

bool handover_rearm(struct bucket *b, struct wakeup *w, struct slot *s,
		    int64_t now)
{
	struct entry e;

	lock_acquire(&b->lock);
	if (expiry_rearm(s, &e, wakeup_earliest(w, now))) {
		file(b, w, s);
		return true;
	}
	lock_release(&b->lock);
	return false;
}

void handover_free(struct bucket *b, struct slot *s)
{
	lock_acquire(&b->lock);
	free_slot(b, s);
	lock_release(&b->lock);
}

struct entry handover_collect(struct bucket *b, struct slot *s)
{
	struct entry e;

	lock_acquire(&b->lock);
	s->handed_over = false;
	s->stranded = false;
	e = slot_entry(s);
	lock_release(&b->lock);
	return e;
}
