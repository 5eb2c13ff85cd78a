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

/* Under the lock.  Returns whether the driver must be woken. */
static bool rearm(struct bucket *b, struct wakeup *w, struct slot *s)
{
	s->handed_over = true;
	s->rearmed = true;
	s->next = b->rearmed;
	b->rearmed = s;
	return arrival_announce(b, w, s->queued);
}

static void free_slot(struct bucket *b, struct slot *s)
{
	s->handed_over = false;
	slots_recycle(&b->slots, s);
}

enum expiry handover_begin(struct bucket *b, struct wakeup *w, struct slot *s,
			   int64_t now)
{
	struct entry e;
	enum expiry x;
	bool kick = false;

	lock_acquire(&b->lock);
	/* It is in no queue, where it would have to wait for its turn again. */
	s->queued = s->deadline;
	e = slot_entry(s);
	x = expiry_run(s, &e, now);
	if (x == EXPIRY_LATER)
		kick = rearm(b, w, s);
	else if (x == EXPIRY_OVER)
		free_slot(b, s);
	lock_release(&b->lock);
	if (kick)
		wakeup_kick(w);
	return x;
}

bool handover_rearm(struct bucket *b, struct wakeup *w, struct slot *s)
{
	struct entry e;
	bool repeats, kick = false;

	lock_acquire(&b->lock);
	repeats = expiry_rearm(s, &e);
	if (repeats)
		kick = rearm(b, w, s);
	lock_release(&b->lock);
	if (kick)
		wakeup_kick(w);
	return repeats;
}

void handover_free(struct bucket *b, struct slot *s)
{
	lock_acquire(&b->lock);
	free_slot(b, s);
	lock_release(&b->lock);
}

bool handover_postpone(struct bucket *b, struct wakeup *w, struct slot *s,
		       const struct entry *e)
{
	bool counts, kick = false;

	lock_acquire(&b->lock);
	counts = slot_owns(s, e);
	if (counts)
		kick = rearm(b, w, s);
	lock_release(&b->lock);
	if (kick)
		wakeup_kick(w);
	return counts;
}

struct entry handover_collect(struct bucket *b, struct slot *s)
{
	struct entry e;

	lock_acquire(&b->lock);
	s->handed_over = false;
	s->rearmed = false;
	e = slot_entry(s);
	lock_release(&b->lock);
	return e;
}
