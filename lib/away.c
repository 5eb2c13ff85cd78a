/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "admit.h"
#include "away.h"

enum expiry away_send(struct bucket *b, struct slot *s, struct entry *e,
		      int64_t now)
{
	enum expiry x;

	lock_acquire(&b->lock);
	x = expiry_judge(s, e, now);
	if (x == EXPIRY_RUN)
		s->away = true;
	lock_release(&b->lock);
	return x;
}

/* Under the lock.  Returns whether the driver must be woken. */
static bool list(struct bucket *b, struct wakeup *w, struct slot *s)
{
	s->away = true;
	s->returning = true;
	s->next = b->back;
	b->back = s;
	return admit_announce(b, w, s->queued);
}

static void free_slot(struct bucket *b, struct slot *s)
{
	s->away = false;
	slots_recycle(&b->slots, s);
}

enum expiry away_begin(struct bucket *b, struct wakeup *w, struct slot *s,
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
		kick = list(b, w, s);
	else if (x == EXPIRY_OVER)
		free_slot(b, s);
	lock_release(&b->lock);
	if (kick)
		wakeup_kick(w);
	return x;
}

bool away_return(struct bucket *b, struct wakeup *w, struct slot *s)
{
	struct entry e;
	bool repeats, kick = false;

	lock_acquire(&b->lock);
	repeats = expiry_rearm(s, &e);
	if (repeats)
		kick = list(b, w, s);
	lock_release(&b->lock);
	if (kick)
		wakeup_kick(w);
	return repeats;
}

void away_free(struct bucket *b, struct slot *s)
{
	lock_acquire(&b->lock);
	free_slot(b, s);
	lock_release(&b->lock);
}

bool away_keep(struct bucket *b, struct wakeup *w, struct slot *s,
	       const struct entry *e)
{
	bool counts, kick = false;

	lock_acquire(&b->lock);
	counts = slot_owns(s, e);
	if (counts)
		kick = list(b, w, s);
	lock_release(&b->lock);
	if (kick)
		wakeup_kick(w);
	return counts;
}

struct entry away_take(struct bucket *b, struct slot *s)
{
	struct entry e;

	lock_acquire(&b->lock);
	s->away = false;
	s->returning = false;
	e = slot_entry(s);
	lock_release(&b->lock);
	return e;
}
