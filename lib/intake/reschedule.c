/* SPDX-License-Identifier: MIT */
/*
 * Rescheduling.
 *
 * To a later time: the timer's entry stays where it is.  The state "moved"
 * tells the thread that finds the entry that there is another deadline.  That
 * thread then puts the entry back.  So a deadline that changes all the time,
 * for example at each packet of a connection, costs a lock and a store.  (The
 * Go runtime and libev do the same.)
 *
 * To an earlier time: the timer gets a new entry in the same bucket, with a
 * ticket of its own, and the old entry no longer counts.  The same if there is
 * a slack, and the new deadline has passed.  A timer that is handed over (see
 * handover.h) has no entry: the new deadline is for the entry that it will get.
 */
#include "config.h"

#include "intake/arrival.h"
#include "intake/bucket.h"
#include "intake/handover.h"
#include "os/tool.h"

/*
 * Marks a pending timer as moved: from then on the driver takes the lock when
 * it finds the entry.  False: the timer was cancelled, or has begun; neither
 * needs the lock.
 */
static bool mark_moved(struct slot *s, uint32_t word)
{
	return slot_state(word) == SLOT_MOVED ||
	       slot_change(s, &word, SLOT_MOVED);
}

/*
 * Reschedules a pending timer.  1: it needs a new entry.  at_once: it must not
 * wait for the slack.
 */
static int move_pending(struct slot *s, uint32_t word, int64_t deadline,
			bool at_once)
{
	if (deadline < s->queued || at_once)
		return 1;
	return deadline == s->deadline || mark_moved(s, word) ? 0 : -ENOENT;
}

/* Reschedules the next run of a timer, if there is one or may be one. */
static int move_running(struct slot *s, uint32_t word, bool inside)
{
	if (slot_state(word) == SLOT_REPEATING)
		return 0;
	return inside && slot_state(word) == SLOT_RUNNING &&
			       slot_change(s, &word, SLOT_REPEATING)
		       ? 0
		       : -ENOENT;
}

/*
 * Loads the state.  Everything that the timer's runs did until now is before
 * this; but not what is done by a run that begins as soon as the lock is
 * released.  Under the lock.  Acquire: pairs with slot_change, slot_free and
 * expiry_end, which end a run.
 */
static uint32_t learn_state(const struct slot *s)
{
	uint32_t word = atom32_load_acquire(&s->state);

	/* 0: there was never a timer in it. */
	if (unlikely(tool_here() != NULL) && word != 0)
		tool_acquire(s);
	return word;
}

/* As bucket_reschedule, under the lock.  1: it needs a new entry. */
static int move_timer(struct slot *s, uint64_t id, int64_t deadline,
		      bool inside, bool at_once)
{
	uint32_t word = learn_state(s);
	int r;

	if (slot_in(word, SLOT_ARMED) != slot_word(id))
		return -ENOENT;
	r = slot_is_pending(word) ? move_pending(s, word, deadline, at_once)
				  : move_running(s, word, inside);
	if (r == 0)
		s->deadline = deadline;
	return r;
}

/*
 * For a pending timer.  Its new entry will have the deadline `due`.  "Moved"
 * comes first, then the ticket.  1: the timer is handed over, or the driver has
 * just handed it over.
 */
static int get_new_entry(struct slot *s, int64_t deadline, int64_t due)
{
	uint32_t word = atom32_load(&s->state);
	uint32_t ticket = atom32_load(&s->ticket);

	if (slot_is_handed_over(s))
		return 1;
	if (!slot_is_pending(word) || !mark_moved(s, word))
		return -ENOENT;
	if (atom32_swap(&s->ticket, ticket, ticket + TICKET_STEP) != ticket)
		return 1;
	s->queued = due;
	s->deadline = deadline;
	return 0;
}

/* The result of a call, which is counted if it succeeds.  Under the lock. */
static int count_result(struct bucket *b, int r)
{
	if (likely(r == 0))
		counter_add(&b->rescheduled, 1);
	return r;
}

/*
 * Reschedules a pending timer that is handed over.  If it is stranded, the
 * driver must learn of the earlier time.  Otherwise it is about to begin, or to
 * be filed.  Releases the lock.
 */
static int move_handed_over(struct bucket *b, struct wakeup *w, struct slot *s,
			    int64_t deadline)
{
	int64_t now = watch_now(w->watch);
	bool kick = handover_move(
		b, w, s, clock_later(deadline, wakeup_earliest(w, now)));

	s->deadline = deadline;
	count_result(b, 0);
	arrival_leave(b, w, kick);
	return 0;
}

static int move_earlier(struct bucket *b, struct wakeup *w, struct slot *s,
			uint64_t id, int64_t deadline, bool inside,
			bool at_once)
{
	const int64_t unknown = 0;
	struct arrival a;
	int r, room = arrival_begin(b, w, false, deadline, &unknown, &a);

	if (room < 0)
		return room;
	r = count_result(b, move_timer(s, id, deadline, inside, at_once));
	if (r != 1) {
		lock_release(&b->lock);
		return r;
	}
	r = count_result(b, get_new_entry(s, deadline, a.due));
	if (likely(r == 0 && room == ARRIVAL_READY))
		arrival_add(b, w, a.lane, slot_entry(s));
	else if (r == 0)
		handover_add(b, w, a.lane, s, room);
	else if (r == 1)
		r = move_handed_over(b, w, s, deadline);
	else
		lock_release(&b->lock);
	return r;
}

int bucket_reschedule(struct bucket *b, struct wakeup *w, struct slot *s,
		      uint64_t id, int64_t deadline, bool inside)
{
	bool at_once =
		unlikely(w->slack > 0) && deadline <= watch_now(w->watch);
	int r;

	lock_acquire_inline(&b->lock);
	r = likely(b->state == BUCKET_OPEN) || arrival_is_open(b, w)
		    ? count_result(b,
				   move_timer(s, id, deadline, inside, at_once))
		    : -ESHUTDOWN;
	if (unlikely(r == 1 && slot_is_handed_over(s)))
		return move_handed_over(b, w, s, deadline);
	lock_release_inline(&b->lock);
	if (unlikely(r == 1))
		r = move_earlier(b, w, s, id, deadline, inside, at_once);
	return r;
}

int bucket_get_deadline(struct bucket *b, struct slot *s, uint64_t id,
			int64_t *ret_deadline)
{
	uint32_t word;
	int r = -ENOENT;

	lock_acquire(&b->lock);
	word = learn_state(s);
	if (slot_in(word, SLOT_ARMED) == slot_word(id) &&
	    (slot_is_pending(word) || slot_state(word) == SLOT_REPEATING)) {
		*ret_deadline = s->deadline;
		r = 0;
	}
	lock_release(&b->lock);
	return r;
}
