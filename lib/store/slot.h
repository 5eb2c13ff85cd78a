/* SPDX-License-Identifier: MIT */
/*
 * A slot holds one timer; an id names it.
 *
 * Guarantees:
 *  1. An id names one timer forever: a slot's generation changes each time the
 *     slot is freed.  A slot that has used up its generations, or half of its
 *     tickets, is retired (64 bytes are lost after a quarter of a billion
 *     timers, or entries of timers, in one slot).
 *  2. Of all threads that try to cancel, reschedule or begin a timer, exactly
 *     one succeeds at a time: each changes the state word by a compare-and-swap
 *     on generation and state together.
 *  3. Cancelling is that compare-and-swap and nothing else.
 *
 * The life of a slot, and which thread makes each change:
 *
 *	free -> armed           slot_arm, the scheduling thread, bucket's lock
 *	armed -> moved          the rescheduling thread, bucket's lock
 *	moved -> armed          the driver, bucket's lock: put back
 *	armed, moved -> dead    slot_kill, slot_cancel, any thread
 *	armed, moved -> running, repeating
 *	                        the driver; bucket's lock, except for
 *	                        armed -> running
 *	running -> repeating    the driver, in the callback: armed again
 *	running, repeating -> ending
 *	                        slot_cancel, any thread
 *	repeating -> armed      the driver, bucket's lock
 *	running, ending, awaited -> free
 *	                        the driver
 *	dead -> armed           the next timer, bucket's lock: see schedule.h
 *	dead -> free            who has the slot's ticket: the thread that it
 *	                        was handed over to; or, bucket's lock, the owner
 *	                        of the entry that counts, or a sweep
 *
 * A timer may also live without being armed:
 *
 *	free -> unarmed         slot_arm: it was prepared
 *	armed, moved -> disarmed, and
 *	running, repeating -> awaited
 *	                        slot_disarm, any thread, bucket's lock
 *	disarmed -> unarmed     the entry was found, or taken; bucket's lock
 *	unarmed -> armed, and
 *	disarmed -> moved, and
 *	running, awaited -> repeating
 *	                        the rescheduling thread, bucket's lock
 *	running, awaited -> unarmed
 *	                        the driver, bucket's lock: the timer lives on
 *	disarmed -> dead        slot_cancel, any thread
 *	unarmed -> free         the same; that thread has the slot then
 *	awaited -> ending       slot_cancel, any thread
 *
 * "Moved" means that the timer was rescheduled, and its deadline may differ
 * from that of the entry.  A thread that finds the entry must look under the
 * lock.
 *
 * When a timer dies, a thread that found it alive may be about to give it a new
 * entry.  So who frees a dead slot has its ticket first.  Without the lock, the
 * driver takes it by a compare-and-swap, as the other thread and a sweep do:
 * the timer is handed over, to the driver itself.  test/model/slot.pml is a
 * model of this for Spin, without timers that repeat.
 *
 * Who looks for the dead loads states relaxed: most timers live, and nothing is
 * read because one is dead.  Only before another timer is put into the slot,
 * what a cancel has read there must have been read.  slot_take reads the
 * argument, so its compare-and-swap releases, and slot_free acquires; so does
 * latest_is_over (schedule.h), where the slot is used again without that.  The
 * compare-and-swap of slot_kill need not release: it reads nothing but the
 * state.  Whatever else is read of a slot is read under the lock, or by who has
 * the ticket.  Loads elsewhere acquire for what callbacks wrote.
 *
 * "The driver" is the thread in the engine's turn.  If there is an executor, it
 * is also the executor's thread, for the timer whose callback that thread runs,
 * until the timer is rearmed or has ended (see expiry.h).
 *
 * An id is the state word of the armed timer (high half) and the slot's index
 * (low half).  The index says in which bucket the slot is, and where in it
 * (slots.h).
 */
#pragma once

#include "base/atomic.h"
#include "base/base.h"
#include "store/entry.h"
#include "timerthread.h"

#include <stddef.h>

enum slot_state {
	/* Its bit is set, or soon will be; or it is retired, or never used. */
	SLOT_FREE = 0,
	/* Pending; its entry has the timer's deadline, or a later one. */
	SLOT_ARMED = 1,
	/* Pending; its entry may be earlier than the timer's deadline. */
	SLOT_MOVED = 2,
	SLOT_RUNNING = 3,
	SLOT_REPEATING = 4, /* running, and will be armed again after that */
	SLOT_ENDING = 5,    /* running, and was cancelled meanwhile */
	SLOT_DEAD = 6,
	SLOT_UNARMED = 7, /* it lives, and has no entry */
	/* The same; but it still has an entry, or is handed over. */
	SLOT_DISARMED = 8,
	/* Running, will not be armed after that, and a thread may wait. */
	SLOT_AWAITED = 9,
};

#define SLOT_STATE_BITS 4
#define SLOT_STATE_MASK ((1u << SLOT_STATE_BITS) - 1)
#define SLOT_GENERATION (1u << SLOT_STATE_BITS)

/* The period of a timer that lives on without being armed. */
#define PERIOD_PREPARED (-1)

/* What a timer is made from. */
struct timer {
	int64_t deadline;
	int64_t period; /* 0: it does not repeat; or PERIOD_PREPARED */
	timerthread_fn *fn;
	void *arg;
	int64_t now; /* the time of the call; 0: the caller does not know it */
};

struct slot {
	atom32 state; /* generation and slot_state */
	/*
	 * The ticket of the entry that counts.  Written under the bucket's
	 * lock.  Exception: the driver hands a timer over without the lock, by
	 * a compare-and-swap.
	 */
	atom32 ticket;
	uint32_t index; /* set before the first use, constant from then on */
	/* Protected by the bucket's lock. */
	uint32_t above; /* in a heap of slots (slot_heap.h); 0: it is in none */
	int64_t deadline;
	int64_t due; /* by its entry; later if the deadline had passed */
	/*
	 * Written under the bucket's lock while the slot is free.  Then any
	 * thread may read it under the lock; and the driver without, while the
	 * timer runs or the driver has its entry.
	 */
	int64_t period;
	/* Pointers.  Written like period; any thread may read them. */
	atomword fn;
	atomword arg;
	union {
		/* In a heap of slots.  Protected by the bucket's lock. */
		uint32_t below[2];
		/* While an executor has the slot; then it is in no heap. */
		struct timerthread *instance;
	};
} __attribute__((aligned(TT_CACHE_LINE)));

static inline uint32_t slot_word(uint64_t id)
{
	return (uint32_t)(id >> 32);
}

static inline uint32_t slot_index(uint64_t id)
{
	return (uint32_t)id;
}

static inline enum slot_state slot_state(uint32_t word)
{
	return (enum slot_state)(word & SLOT_STATE_MASK);
}

static inline bool slot_is_pending(uint32_t word)
{
	return slot_state(word) == SLOT_ARMED || slot_state(word) == SLOT_MOVED;
}

/* Pending or disarmed. */
static inline bool slot_has_entry(uint32_t word)
{
	return slot_is_pending(word) || slot_state(word) == SLOT_DISARMED;
}

/* Is its callback running? */
static inline bool slot_runs(uint32_t word)
{
	const unsigned states = 1u << SLOT_RUNNING | 1u << SLOT_REPEATING |
				1u << SLOT_ENDING | 1u << SLOT_AWAITED;

	return states >> slot_state(word) & 1;
}

/*
 * After the timer's callback has returned: will the slot still hold it, unless
 * it is ending?
 */
static inline bool slot_lives_on(const struct slot *s)
{
	return s->period != 0 ||
	       slot_state(atom32_load(&s->state)) == SLOT_REPEATING;
}

/* The state word of the same timer in another state. */
static inline uint32_t slot_in(uint32_t word, enum slot_state state)
{
	return (word & ~SLOT_STATE_MASK) | state;
}

/* Does a slot in this state hold this timer? */
static inline bool slot_holds(uint32_t word, uint64_t id)
{
	return slot_in(word, SLOT_ARMED) == slot_word(id);
}

/* Was this timer running a moment ago? */
static inline bool slot_is_running(const struct slot *s, uint64_t id)
{
	uint32_t word = atom32_load(&s->state);

	return unlikely(slot_runs(word)) && slot_holds(word, id);
}

/* The id of the timer that a slot holds while its state is word. */
static inline uint64_t slot_id(const struct slot *s, uint32_t word)
{
	return (uint64_t)slot_in(word, SLOT_ARMED) << 32 | s->index;
}

/* The entry that counts.  Under the lock. */
static inline struct entry slot_entry(const struct slot *s)
{
	return (struct entry){s->due, atom32_load(&s->ticket), s->index};
}

/*
 * Puts a timer into a slot from slots_take, whose state is word: armed, and its
 * entry, which this returns, has the deadline `due`; or unarmed.  Under the
 * lock.  Release: pairs with the compare-and-swaps in slot_kill and slot_begin.
 */
static inline struct entry slot_arm(struct slot *s, uint32_t word,
				    const struct timer *t, int64_t due,
				    enum slot_state state)
{
	uint32_t ticket = atom32_load(&s->ticket) | (TICKET_STEP - 1);
	struct entry e = {due, ticket + 1 + (t->period > 0), s->index};

	atom32_store(&s->ticket, e.ticket);
	s->deadline = t->deadline;
	s->due = due;
	s->period = t->period;
	atomword_store(&s->fn, (uintptr_t)t->fn);
	atomword_store(&s->arg, (uintptr_t)t->arg);
	atom32_store_release(&s->state, word | state);
	return e;
}

/*
 * The callback and its argument.  A caller that does not own the timer may get
 * those of an earlier or a later timer in this slot.
 */
static inline timerthread_fn *slot_fn(const struct slot *s)
{
	return (timerthread_fn *)atomword_load(&s->fn);
}

static inline void *slot_arg(const struct slot *s)
{
	return (void *)atomword_load(&s->arg);
}

/*
 * A cancel returns this if the timer was unarmed, and is cancelled: the caller
 * has the slot, which is free, and must give it back (see engine_cancelled).
 */
#define SLOT_LEFT 2

/*
 * An armed timer dies, which is the usual case of slot_cancel.  False: it is in
 * another state.  Acquire: pairs with the store in slot_arm.
 *
 * An old id writes nothing: a compare-and-swap that fails would write what is
 * there, and so bring the memory of a vacant word back (vacancy.h).  So the
 * state is read first; and for the timers of another CPU, the line is fetched
 * once, to be written.
 */
static inline bool slot_kill(struct slot *s, uint64_t id)
{
	uint32_t armed = slot_word(id), dead = armed ^ SLOT_ARMED ^ SLOT_DEAD;

	prefetch_to_write(s);
	return likely(slot_state(armed) == SLOT_ARMED) &&
	       likely(atom32_load(&s->state) == armed) &&
	       likely(atom32_swap_acquire(&s->state, armed, dead) == armed);
}

/*
 * Returns as timerthread_cancel, or SLOT_LEFT.  Acquire: pairs with
 *  - the store in slot_arm;
 *  - the slot_change that armed a periodic or moved timer again.  So the thread
 *    that gets 0 for a periodic timer sees everything that its callbacks wrote,
 *    and owns the argument;
 *  - if it fails, the end of the run (expiry_end).  So a caller that gets
 *    -ENOENT sees everything that the callback wrote.
 */
INTERNAL int slot_cancel(struct slot *s, uint64_t id);

/* The same; but leaves a timer that is running as it is, and returns 1. */
INTERNAL int slot_cancel_pending(struct slot *s, uint64_t id);

/*
 * As slot_cancel.  If it cancels the timer, *ret_arg is its argument.  Acquire:
 * pairs with the store in slot_arm, so that the argument is not older than the
 * state.  The compare-and-swap also releases: pairs with slot_free, so that the
 * argument is read before another timer can be in the slot.
 */
INTERNAL int slot_take(struct slot *s, uint64_t id, void **ret_arg);

/*
 * Changes a timer's state from *word to another one.  False: the timer is in a
 * third state by now, which is in *word.  Acquires and releases: pairs with
 * itself on other threads, and with slot_arm and slot_cancel.
 */
static inline bool slot_change(struct slot *s, uint32_t *word,
			       enum slot_state to)
{
	uint32_t was = *word;

	*word = atom32_swap(&s->state, was, slot_in(was, to));
	return *word == was;
}

/*
 * As timerthread_disarm, except that it marks a timer that is running only if
 * `running`.  Acquire: as slot_cancel.  Under the lock.
 */
INTERNAL int slot_disarm(struct slot *s, uint64_t id, bool running);

/* Does this entry count?  Under the lock, the answer stays true. */
static inline bool slot_owns(const struct slot *s, const struct entry *e)
{
	return likely(atom32_load(&s->ticket) == e->ticket);
}

/*
 * armed -> running, if the timer does not repeat, and is in no worn slot.
 * Called by the thread that it was handed over to.  Nobody else frees the slot
 * or changes the ticket, so neither is of another timer.
 *
 * Acquire: the compare-and-swap pairs with the store in slot_arm.  No thread
 * reads anything because it has seen "running".  So it need not release; the
 * end of a run does.
 */
static inline bool slot_begin(struct slot *s)
{
	uint32_t word = atom32_load(&s->state);

	return slot_state(word) == SLOT_ARMED &&
	       !(atom32_load(&s->ticket) & (TICKET_REPEATS | TICKET_WORN)) &&
	       atom32_swap_acquire(&s->state, word,
				   slot_in(word, SLOT_RUNNING)) == word;
}

static inline bool slot_is_handed_over(const struct slot *s)
{
	return atom32_load(&s->ticket) & TICKET_HANDED_OVER;
}

/* Under the lock. */
static inline void slot_set_handed_over(struct slot *s)
{
	atom32_store(&s->ticket, atom32_load(&s->ticket) | TICKET_HANDED_OVER);
}

/* Under the lock. */
static inline void slot_clear_handed_over(struct slot *s)
{
	atom32_store(&s->ticket, atom32_load(&s->ticket) & ~TICKET_HANDED_OVER);
}

/*
 * Hands a timer over, if its entry counts.  It was armed a moment ago, and may
 * have been cancelled or moved since then; the thread that begins it will see
 * that.  Or it is dead, and the caller frees its slot.  Called by the driver,
 * without the lock.  The compare-and-swap pairs with that of the thread that
 * gives the timer a new entry (schedule.c), or takes the slot from under its
 * entry (sweep.c).
 */
static inline bool slot_hand_over(struct slot *s, const struct entry *e)
{
	return atom32_swap(&s->ticket, e->ticket,
			   e->ticket | TICKET_HANDED_OVER) == e->ticket;
}

static inline bool slot_is_dead(uint32_t word)
{
	return slot_state(word) == SLOT_DEAD;
}

/* The state word of a slot whose timer has ended: free for the next timer. */
static inline uint32_t slot_next(uint32_t word)
{
	return slot_in(word, SLOT_FREE) + SLOT_GENERATION;
}

/*
 * Frees the slot of a dead timer, whose state is this word.  The caller has the
 * ticket, so nobody else does; and nobody else changes the state of what is
 * dead.  (In a worn slot two may have it: they store the same, and the slot is
 * not used again.)  The slot is the caller's until its bit says that it is
 * free.  Acquire: pairs with slot_take.  Release: pairs with a cancel that is
 * so late that it finds it free.
 */
static inline void slot_free(struct slot *s, uint32_t word)
{
	(void)atom32_load_acquire(&s->state);
	atom32_store_release(&s->state, slot_next(word));
}

/*
 * Has this slot, which was freed, used up its generations or its tickets?  Then
 * it must not be used again.  Its state matches no id that was ever returned.
 */
static inline bool slot_is_retired(const struct slot *s)
{
	return unlikely(atom32_load(&s->state) == 0 ||
			atom32_load(&s->ticket) & TICKET_WORN);
}
