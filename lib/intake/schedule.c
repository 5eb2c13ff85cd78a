/* SPDX-License-Identifier: MIT */
/*
 * Rescheduling to a later time: the timer's entry stays where it is.  The state
 * "moved" tells the thread that finds the entry that there is another deadline.
 * That thread then puts the entry back.  So a deadline that changes all the
 * time, for example at each packet of a connection, costs a lock and a store.
 * (The Go runtime and libev do the same.)
 *
 * To an earlier time: the timer gets a new entry in the same bucket, with a
 * ticket of its own, and the old entry no longer counts.  The same if it was
 * unarmed; or if there is a slack, and the new deadline has passed.  A timer
 * that is handed over (see expiry.h) has no entry: the new deadline is for
 * the entry that it will get.
 *
 * Disarming is a lock and a change of the state.  The entry stays, and is
 * dropped when it is found.  If the timer is armed again before that, for the
 * same time or later, the entry serves again.
 */
#include "intake/schedule.h"
#include "intake/unqueued.h"
#include "os/tool.h"

int bucket_schedule(struct bucket *b, struct wakeup *w, const struct timer *t,
		    uint64_t *ret_id)
{
	bool prepared = t->period == PERIOD_PREPARED;
	struct arrival a;
	struct entry e;
	struct slot *s;
	uint32_t word;
	uint64_t id;
	int r = arrival_begin(b, w, true, t->deadline, &t->now, &a);

	if (unlikely(r < 0))
		return r;
	counter_add(&b->scheduled, 1);
	s = slots_take(&b->slots);
	word = atom32_load(&s->state);
	id = slot_id(s, word);
	/* As soon as it is armed, cancel_all may visit the timer. */
	if (ret_id)
		*ret_id = id;
	tool_release(s);
	e = slot_arm(s, word, t, a.due, prepared ? SLOT_UNARMED : SLOT_ARMED);
	if (unlikely(prepared))
		arrival_leave(b, w, false);
	else if (likely(r == ARRIVAL_READY))
		arrival_add(b, w, &a, e);
	else
		arrival_leave(b, w, unqueued_mark(b, w, s, a.at_once));
	PROBE4(schedule, id, t->deadline, t->fn, t->arg);
	return 0;
}

/* Results of move_timer and get_new_entry, besides 0 and -ENOENT. */
enum {
	NEEDS_ENTRY = 1,
	HANDED_OVER = 2,
	LOOK_AGAIN = 3, /* the timer has begun, or was cancelled */
};

/*
 * Marks a timer that has an entry as moved: from then on the driver takes the
 * lock when it finds the entry.  False: the timer was cancelled, or has begun;
 * neither needs the lock.
 */
static bool mark_moved(struct slot *s, uint32_t word)
{
	return slot_state(word) == SLOT_MOVED ||
	       slot_change(s, &word, SLOT_MOVED);
}

/*
 * Can a running timer get a next run?  If it ends with this run, only from its
 * own callback.
 */
static bool can_repeat(const struct slot *s, uint32_t word, bool inside)
{
	return slot_runs(word) && slot_state(word) != SLOT_ENDING &&
	       (inside || slot_lives_on(s));
}

/*
 * Loads the state.  Everything that the timer's runs did until now is before
 * this; but not what is done by a run that begins as soon as the lock is
 * released.  Under the lock.  Acquire: pairs with slot_change and expiry_end,
 * which end a run, and with slot_free.
 */
static uint32_t learn_state(const struct slot *s)
{
	uint32_t word = atom32_load_acquire(&s->state);

	/* 0: there was never a timer in it. */
	if (unlikely(tool_here()) && word != 0)
		tool_acquire(s);
	return word;
}

/* The call has succeeded.  Under the lock. */
static void set_deadline(struct bucket *b, struct slot *s, int64_t deadline)
{
	s->deadline = deadline;
	counter_add(&b->rescheduled, 1);
}

/*
 * As bucket_reschedule, under the lock.  at_once: the timer must not wait for
 * the slack.
 */
static int move_timer(struct bucket *b, struct slot *s, uint64_t id,
		      int64_t deadline, bool inside, bool at_once)
{
	uint32_t word;
	bool runs;

	do {
		word = learn_state(s);
		if (!slot_holds(word, id))
			return -ENOENT;
		runs = can_repeat(s, word, inside);
		if (slot_state(word) == SLOT_UNARMED)
			return NEEDS_ENTRY;
		if (!runs && !slot_has_entry(word))
			return -ENOENT;
		if (!runs && (deadline < s->due || at_once))
			return NEEDS_ENTRY;
	} while (runs ? slot_state(word) != SLOT_REPEATING &&
				 !slot_change(s, &word, SLOT_REPEATING)
		      : !mark_moved(s, word));
	set_deadline(b, s, deadline);
	return 0;
}

/*
 * Gives the timer a new entry, with the deadline `due`.  "Moved" comes first,
 * then the ticket.  HANDED_OVER: it is, or the driver has just done so, maybe
 * because it was cancelled: then the slot is free, but no other timer gets it
 * before the lock is free.
 */
static int get_new_entry(struct bucket *b, struct slot *s, int64_t deadline,
			 int64_t due)
{
	uint32_t word = atom32_load(&s->state);
	uint32_t ticket = atom32_load(&s->ticket);
	bool unarmed = slot_state(word) == SLOT_UNARMED;

	if (unarmed ? !slot_change(s, &word, SLOT_ARMED)
		    : !slot_has_entry(word) || !mark_moved(s, word))
		return LOOK_AGAIN;
	if (slot_is_handed_over(s) ||
	    atom32_swap(&s->ticket, ticket, ticket_next(ticket)) != ticket)
		return HANDED_OVER;
	s->due = due;
	set_deadline(b, s, deadline);
	return 0;
}

/*
 * Reschedules a pending timer that is handed over.  If it is unqueued, the
 * driver must learn of the earlier time.  Otherwise it is about to begin, or to
 * be filed.  Releases the lock.
 */
static int move_handed_over(struct bucket *b, struct wakeup *w, struct slot *s,
			    int64_t deadline)
{
	int64_t now = watch_now(w->watch);
	int64_t due = clock_later(deadline, wakeup_earliest(w, now));
	bool kick = unqueued_move(b, w, s, due, deadline <= now);

	set_deadline(b, s, deadline);
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
	do {
		r = move_timer(b, s, id, deadline, inside, at_once);
		if (r != NEEDS_ENTRY) {
			lock_release(&b->lock);
			return r;
		}
		r = get_new_entry(b, s, deadline, a.due);
	} while (r == LOOK_AGAIN);
	if (r == HANDED_OVER)
		return move_handed_over(b, w, s, deadline);
	if (likely(room == ARRIVAL_READY))
		arrival_add(b, w, &a, slot_entry(s));
	else
		arrival_leave(b, w, unqueued_mark(b, w, s, a.at_once));
	return 0;
}

int bucket_reschedule(struct bucket *b, struct wakeup *w, struct slot *s,
		      uint64_t id, int64_t deadline, bool inside)
{
	bool at_once =
		unlikely(w->slack > 0) && deadline <= watch_now(w->watch);
	int r;

	lock_acquire_inline(&b->lock);
	r = likely(b->state == BUCKET_OPEN) || arrival_is_open(b, w)
		    ? move_timer(b, s, id, deadline, inside, at_once)
		    : -ESHUTDOWN;
	lock_release_inline(&b->lock);
	if (unlikely(r == NEEDS_ENTRY))
		r = move_earlier(b, w, s, id, deadline, inside, at_once);
	return r;
}

int bucket_disarm(struct bucket *b, struct slot *s, uint64_t id, bool running,
		  uint32_t *ret_ticket)
{
	int r;

	lock_acquire_inline(&b->lock);
	r = slot_disarm(s, id, running);
	learn_state(s);
	if (unlikely(r == 1) && ret_ticket) {
		*ret_ticket = atom32_load(&s->ticket) | TICKET_AWAITED;
		atom32_store(&s->ticket, *ret_ticket);
	}
	lock_release_inline(&b->lock);
	return r;
}

int bucket_get_deadline(struct bucket *b, struct slot *s, uint64_t id,
			int64_t *ret_deadline)
{
	uint32_t word;
	int r = -ENOENT;

	lock_acquire(&b->lock);
	word = learn_state(s);
	if (slot_holds(word, id) &&
	    (slot_is_pending(word) || slot_state(word) == SLOT_REPEATING)) {
		*ret_deadline = s->deadline;
		r = 0;
	}
	lock_release(&b->lock);
	return r;
}
