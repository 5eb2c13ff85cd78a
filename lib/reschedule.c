/* SPDX-License-Identifier: MIT */
/*
 * Moving a timer.
 *
 * Its entry stays where it is when the timer moves to a later time: the state
 * "moved" tells who comes upon the entry that there is another deadline, and
 * then it is put back.  This is how a deadline that is moved all the time, at
 * each packet of a connection, costs a lock and a store.  (The Go runtime and
 * libev do likewise.)
 *
 * To an earlier time it gets a new entry, in the same bucket, with a ticket of
 * its own, and the old one counts no more.  One that is away (see away.h) has
 * no entry: it gets the one that it will come back with.
 */
#include "config.h"

#include "admit.h"
#include "bucket.h"

/*
 * Marks a pending timer as moved: from then on the timer thread, coming upon
 * its entry, waits for the lock.  False: without the lock it was cancelled, or
 * has begun.
 */
static bool mark_moved(struct slot *s, uint32_t word)
{
	return slot_state(word) == SLOT_MOVED ||
	       slot_change(s, &word, SLOT_MOVED);
}

/* A pending timer.  1: it needs a new entry. */
static int move_pending(struct slot *s, uint32_t word, int64_t deadline)
{
	if (deadline < s->queued)
		return 1;
	if (deadline == s->deadline)
		return 0;
	if (!mark_moved(s, word))
		return -ENOENT;
	s->deadline = deadline;
	return 0;
}

/* A running timer: its next run, if there is one or it may get one. */
static int move_running(struct slot *s, uint32_t word, int64_t deadline,
			bool inside)
{
	if (slot_state(word) == SLOT_RUNNING &&
	    (!inside || !slot_change(s, &word, SLOT_REPEATING)))
		return -ENOENT;
	s->deadline = deadline;
	return 0;
}

/* As bucket_reschedule, under the lock.  1: it needs a new entry. */
static int move(struct slot *s, uint64_t id, int64_t deadline, bool inside)
{
	uint32_t word = atom32_load_acquire(&s->state);

	if (slot_in(word, SLOT_ARMED) != slot_word(id))
		return -ENOENT;
	switch (slot_state(word)) {
	case SLOT_ARMED:
	case SLOT_MOVED:
		return move_pending(s, word, deadline);
	case SLOT_RUNNING:
	case SLOT_REPEATING:
		return move_running(s, word, deadline, inside);
	default:
		return -ENOENT;
	}
}

/* A pending timer.  "Moved" comes first, then the ticket. */
static int get_new_entry(struct slot *s, int64_t deadline)
{
	uint32_t word = atom32_load(&s->state);

	if ((slot_state(word) != SLOT_ARMED &&
	     slot_state(word) != SLOT_MOVED) ||
	    !mark_moved(s, word))
		return -ENOENT;
	atom32_store(&s->ticket, atom32_load(&s->ticket) + TICKET_STEP);
	s->queued = deadline;
	s->deadline = deadline;
	return 0;
}

/*
 * A pending timer that is away.  If it is on its way back the timer thread must
 * know of the earlier time; else it is to begin already.  Lets the lock go.
 */
static int move_away(struct bucket *b, struct wakeup *w, struct slot *s,
		     int64_t deadline)
{
	bool kick = false;

	s->queued = deadline;
	s->deadline = deadline;
	if (s->returning)
		kick = admit_announce(b, w, deadline);
	lock_release(&b->lock);
	if (kick)
		wakeup_kick(w);
	return 0;
}

static int move_earlier(struct bucket *b, struct wakeup *w, struct slot *s,
			uint64_t id, int64_t deadline, bool inside)
{
	int r = admit_begin(b, false);

	if (r < 0)
		return r;
	r = move(s, id, deadline, inside);
	if (r == 1 && s->away)
		return move_away(b, w, s, deadline);
	if (r == 1) {
		r = get_new_entry(s, deadline);
		if (r == 0) {
			admit_entry(b, w, slot_entry(s));
			return 0;
		}
	}
	lock_release(&b->lock);
	return r;
}

int bucket_reschedule(struct bucket *b, struct wakeup *w, struct slot *s,
		      uint64_t id, int64_t deadline, bool inside)
{
	int r;

	lock_acquire(&b->lock);
	r = likely(b->open) ? move(s, id, deadline, inside) : -ESHUTDOWN;
	if (unlikely(r == 1 && s->away))
		return move_away(b, w, s, deadline);
	lock_release(&b->lock);
	if (unlikely(r == 1))
		r = move_earlier(b, w, s, id, deadline, inside);
	return r;
}

int bucket_get_deadline(struct bucket *b, struct slot *s, uint64_t id,
			int64_t *ret_deadline)
{
	uint32_t word;
	int r = -ENOENT;

	lock_acquire(&b->lock);
	word = atom32_load_acquire(&s->state);
	if (slot_in(word, SLOT_ARMED) == slot_word(id) &&
	    (slot_state(word) == SLOT_ARMED || slot_state(word) == SLOT_MOVED ||
	     slot_state(word) == SLOT_REPEATING)) {
		*ret_deadline = s->deadline;
		r = 0;
	}
	lock_release(&b->lock);
	return r;
}
