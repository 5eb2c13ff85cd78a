/* SPDX-License-Identifier: MIT */
#include "intake/expiry.h"
#include "os/clock.h"

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
	return slot_free(s, word) ? EXPIRY_OVER : EXPIRY_STALE;
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

/*
 * Makes *e the timer's entry, which is due at the time `due`.  False: the timer
 * was cancelled, and its state is *word now.  Under the lock.
 */
static bool put_back(struct slot *s, uint32_t *word, struct entry *e,
		     int64_t due)
{
	if (!slot_change(s, word, SLOT_ARMED))
		return false;
	end_awaited(s);
	s->queued = due;
	*e = slot_entry(s);
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
static enum expiry settle(struct slot *s, const struct entry *e, uint32_t *word)
{
	*word = atom32_load(&s->state);
	if (!slot_owns(s, e) || (slot_state(*word) == SLOT_DISARMED &&
				 slot_change(s, word, SLOT_UNARMED)))
		return EXPIRY_STALE;
	if (slot_is_dead(*word))
		return over(s, *word);
	return slot_has_entry(*word) ? EXPIRY_PENDING : EXPIRY_STALE;
}

enum expiry expiry_judge(struct slot *s, struct entry *e, int64_t now,
			 uint32_t *word)
{
	int64_t due = clock_later(s->deadline, e->deadline);
	enum expiry x = settle(s, e, word);

	if (x != EXPIRY_PENDING)
		return x;
	/*
	 * An entry that is too early is put back even if its timer is due:
	 * others may be due before it.  And a timer that was rescheduled twice
	 * may have its first deadline again, and not be due.
	 */
	if (s->deadline > e->deadline || s->deadline > now)
		return put_back(s, word, e, due) ? EXPIRY_LATER
						 : over(s, *word);
	return EXPIRY_RUN;
}

enum expiry expiry_run(struct slot *s, struct entry *e, int64_t now,
		       uint64_t *overrun)
{
	uint32_t word;
	enum expiry x = expiry_judge(s, e, now, &word);

	if (x != EXPIRY_RUN)
		return x;
	/* Since then it can only have been cancelled. */
	if (!slot_change(s, &word,
			 s->period > 0 ? SLOT_REPEATING : SLOT_RUNNING))
		return over(s, word);
	if (s->period > 0)
		s->deadline = expiry_next(s->deadline, s->period, now, overrun);
	return EXPIRY_RUN;
}

enum expiry expiry_begin(struct bucket *b, struct slot *s, struct entry *e,
			 int64_t now, uint64_t *overrun)
{
	enum expiry x;

	if (!slot_owns(s, e))
		return EXPIRY_STALE;
	if (slot_begin(s, e->ticket))
		return EXPIRY_RUN;
	lock_acquire(&b->lock);
	x = expiry_run(s, e, now, overrun);
	lock_release(&b->lock);
	return x;
}

/* Under the lock, only a cancel changes the state. */
enum expiry expiry_rearm(struct slot *s, struct entry *e, int64_t earliest)
{
	uint32_t word = atom32_load(&s->state);
	int64_t due = clock_later(s->deadline, earliest);

	if (slot_state(word) == SLOT_ENDING || !slot_lives_on(s))
		return EXPIRY_OVER;
	if (slot_state(word) == SLOT_REPEATING)
		return put_back(s, &word, e, due) ? EXPIRY_LATER : EXPIRY_OVER;
	if (!slot_change(s, &word, SLOT_UNARMED))
		return EXPIRY_OVER;
	end_awaited(s);
	return EXPIRY_STALE;
}

enum expiry expiry_repeat(struct bucket *b, struct slot *s, struct entry *e,
			  int64_t earliest)
{
	enum expiry x;

	if (likely(!slot_lives_on(s)))
		return EXPIRY_OVER;
	lock_acquire(&b->lock);
	x = expiry_rearm(s, e, earliest);
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
	uint32_t word = atom32_load(&s->state);
	bool awaited = slot_state(word) != SLOT_RUNNING;

	while (unlikely(!slot_free(s, word))) {
		word = atom32_load(&s->state);
		awaited = true;
	}
	return awaited;
}

enum expiry expiry_look(struct bucket *b, struct slot *s, const struct entry *e)
{
	/* Acquire: as in slot_begin, the ticket is not older than the state. */
	uint32_t word = atom32_load_acquire(&s->state);
	enum expiry x;

	if (!slot_owns(s, e))
		return EXPIRY_STALE;
	if (slot_state(word) == SLOT_DEAD)
		return over(s, word);
	if (likely(slot_is_pending(word)))
		return EXPIRY_PENDING;
	lock_acquire(&b->lock);
	x = settle(s, e, &word);
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
	x = expiry_judge(s, e, INT64_MIN, &word);
	lock_release(&b->lock);
	return x == EXPIRY_LATER || x == EXPIRY_RUN ? EXPIRY_PENDING : x;
}
