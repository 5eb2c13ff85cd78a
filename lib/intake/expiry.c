/* SPDX-License-Identifier: MIT */
#include "intake/expiry.h"

int64_t expiry_next(int64_t deadline, int64_t period, int64_t now,
		    uint64_t *overrun)
{
	uint64_t late = (uint64_t)now - (uint64_t)deadline;
	uint64_t skipped = late / (uint64_t)period;

	*overrun += skipped;
	skipped *= (uint64_t)period;
	return clock_add((int64_t)((uint64_t)deadline + skipped), period);
}

/* The timer was cancelled, and its state is word since then. */
static enum expiry over(struct slot *s, uint32_t word)
{
	slot_free(s, word);
	return EXPIRY_OVER;
}

/*
 * The run has ended, and the timer lives on.  Threads that wait for this run
 * find another ticket, after the state.  Under the lock.
 */
static void end_awaited(struct slot *s)
{
	uint32_t ticket = atom32_load(&s->ticket);

	if (unlikely(ticket & TICKET_AWAITED))
		atom32_store(&s->ticket, ticket_next(ticket - TICKET_AWAITED));
}

/* False: the timer was cancelled, and its state is *word.  Under the lock. */
static bool unarm(struct slot *s, uint32_t *word)
{
	if (!slot_change(s, word, SLOT_UNARMED))
		return false;
	slot_clear_handed_over(s);
	end_awaited(s);
	return true;
}

/*
 * From now on the timer's entry is due at the time `due`.  False: the timer was
 * cancelled, and its state is *word now.  Under the lock.
 */
static bool put_back(struct slot *s, uint32_t *word, int64_t due)
{
	if (!slot_change(s, word, SLOT_ARMED))
		return false;
	end_awaited(s);
	s->due = due;
	return true;
}

/*
 * Frees the slot of a timer that was cancelled; drops the entry of one that was
 * disarmed.  Else returns PENDING, and *word is its state.  Under the lock.
 *
 * In a worn slot the entry may seem to count though another one has come before
 * it: then the timer may be over, unarmed or running.
 *
 * The load is relaxed: the lock orders the rest, and a change of the state
 * fails if it is no longer *word.
 */
static enum expiry look_locked(struct slot *s, const struct entry *e,
			       uint32_t *word)
{
	*word = atom32_load(&s->state);
	if (!slot_owns(s, e) ||
	    (slot_state(*word) == SLOT_DISARMED && unarm(s, word)))
		return EXPIRY_STALE;
	if (slot_is_dead(*word))
		return over(s, *word);
	if (slot_has_entry(*word))
		return EXPIRY_PENDING;
	slot_clear_handed_over(s);
	return EXPIRY_STALE;
}

/*
 * As expiry_hand_over, but does not hand it over; *word is its state.  Under
 * the lock.
 */
static enum expiry judge(struct slot *s, struct entry *e, int64_t now,
			 uint32_t *word)
{
	enum expiry x = look_locked(s, e, word);

	/* Unless the entry counts, its slot may be vacant: see vacancy.h. */
	if (x != EXPIRY_PENDING)
		return x;
	/*
	 * An entry that is too early is put back even if its timer is due:
	 * others may be due before it.  And a timer that was rescheduled twice
	 * may have its first deadline again, and not be due.
	 */
	if (s->deadline <= e->deadline && s->deadline <= now)
		return EXPIRY_RUN;
	if (!put_back(s, word, clock_later(s->deadline, e->deadline)))
		return over(s, *word);
	*e = slot_entry(s);
	return EXPIRY_LATER;
}

static enum expiry begin_locked(struct slot *s, int64_t now, uint64_t *overrun)
{
	/* It is in no queue, so it need not wait for its turn there again. */
	struct entry e = {now, atom32_load(&s->ticket), s->index};
	uint32_t word;
	enum expiry x = judge(s, &e, now, &word);

	if (x != EXPIRY_RUN)
		return x;
	/* Since then it can only have been cancelled. */
	if (!slot_change(s, &word,
			 s->period > 0 ? SLOT_REPEATING : SLOT_RUNNING))
		return over(s, word);
	/* If it was moved when it had been handed over. */
	s->due = clock_later(s->due, s->deadline);
	if (s->period > 0)
		s->deadline = expiry_next(s->deadline, s->period, now, overrun);
	return EXPIRY_RUN;
}

enum expiry expiry_begin(struct bucket *b, struct slot *s, int64_t now,
			 uint64_t *overrun)
{
	enum expiry x;

	lock_acquire(&b->lock);
	x = begin_locked(s, now, overrun);
	lock_release(&b->lock);
	return x;
}

enum expiry expiry_hand_over(struct bucket *b, struct slot *s, struct entry *e,
			     int64_t now)
{
	enum expiry x;
	uint32_t word;

	if (likely(slot_state(atom32_load(&s->state)) == SLOT_ARMED &&
		   slot_hand_over(s, e)))
		return EXPIRY_RUN;
	lock_acquire(&b->lock);
	x = judge(s, e, now, &word);
	if (x == EXPIRY_RUN)
		slot_set_handed_over(s);
	lock_release(&b->lock);
	return x;
}

/* Under the lock: only a cancel changes the state. */
static enum expiry rearm(struct slot *s, int64_t earliest)
{
	uint32_t word = atom32_load(&s->state);
	int64_t due = clock_later(s->deadline, earliest);

	if (slot_state(word) == SLOT_ENDING || !slot_lives_on(s))
		return EXPIRY_OVER;
	if (slot_state(word) == SLOT_REPEATING)
		return put_back(s, &word, due) ? EXPIRY_LATER : EXPIRY_OVER;
	return unarm(s, &word) ? EXPIRY_STALE : EXPIRY_OVER;
}

enum expiry expiry_after_run(struct bucket *b, struct slot *s, int64_t earliest)
{
	enum expiry x;

	if (likely(!slot_lives_on(s)))
		return EXPIRY_OVER;
	lock_acquire(&b->lock);
	x = rearm(s, earliest);
	if (x != EXPIRY_OVER)
		counter_add(&b->repeated, 1);
	lock_release(&b->lock);
	return x;
}

/*
 * The load is relaxed: the callback ran on this thread.  Freeing releases:
 * pairs with the load in await_end, and with the compare-and-swap of a cancel
 * that is so late that it finds the slot free.
 */
bool expiry_end(struct slot *s)
{
	uint32_t was, word = atom32_load(&s->state);

	do {
		was = word;
		word = atom32_swap(&s->state, was, slot_next(was));
	} while (unlikely(word != was));
	return slot_state(word) != SLOT_RUNNING;
}

bool expiry_end_and_give(struct bucket *b, struct slot *s)
{
	bool waits;

	lock_acquire(&b->lock);
	/* Counted before it is over: see stats.h. */
	counter_add(&b->ended, 1);
	waits = expiry_end(s);
	slots_give(&b->slots, s, s->index >> b->slots.shift);
	lock_release(&b->lock);
	return waits;
}

enum expiry expiry_look(struct bucket *b, struct slot *s, const struct entry *e)
{
	uint32_t word = atom32_load(&s->state);
	enum expiry x;

	if (!slot_owns(s, e))
		return EXPIRY_STALE;
	/* If the slot has another timer since, the ticket is another one. */
	if (slot_is_dead(word))
		return slot_hand_over(s, e) ? over(s, word) : EXPIRY_STALE;
	if (likely(slot_is_pending(word)))
		return EXPIRY_PENDING;
	lock_acquire(&b->lock);
	x = look_locked(s, e, &word);
	lock_release(&b->lock);
	return x;
}

enum expiry expiry_refresh(struct bucket *b, struct slot *s, struct entry *e)
{
	enum expiry x = expiry_look(b, s, e);
	uint32_t word;

	if (likely(slot_state(atom32_load(&s->state)) != SLOT_MOVED) ||
	    x != EXPIRY_PENDING)
		return x;
	lock_acquire(&b->lock);
	/* At this time nothing is due, so it does not run. */
	x = judge(s, e, INT64_MIN, &word);
	lock_release(&b->lock);
	return x == EXPIRY_LATER || x == EXPIRY_RUN ? EXPIRY_PENDING : x;
}
