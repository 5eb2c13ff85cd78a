/* SPDX-License-Identifier: MIT */
/*
 * Waiting for the end of a callback whose timer was cancelled, or disarmed,
 * while it ran.
 *
 * The thread looks at the timer's slot, and sleeps until the end of a run says
 * that it must look again.  Which run it waits for, the slot's ticket says: if
 * a timer lives on after a run that was disarmed, its ticket changes
 * (expiry.h).  After a run that was cancelled there is no other.
 *
 * Guarantees:
 *  1. await_end returns when the callback has ended, and everything that the
 *     callback wrote is visible then; or at its deadline.  It waits for no
 *     later run of the timer, however often others arm it meanwhile.
 *  2. A timer that ends with its run, and is not cancelled while its callback
 *     runs, costs nothing here.  Others, if no thread waits, cost no system
 *     call.
 *  3. A thread counts as waiting from await_begin to await_end, which is the
 *     last that it does with the instance.  So await_end also tells tools that
 *     the callback has ended.
 *  4. The end of a callback wakes the threads that wait for it, and at most
 *     those that wait for one slot of AWAIT_WORDS.
 *
 * Any thread: begin, end.  The thread that runs the timer: wake.  The thread
 * that destroys the instance: empty.
 */
#pragma once

#include "intake/bucket.h"
#include "os/futex.h"
#include "os/tool.h"

#include <errno.h>
#include <limits.h>

#define AWAIT_WORDS 16

struct await {
	atom32 waiting; /* threads between await_begin and await_end */
	/* Futexes: ends of runs for which a thread may wait, by their slots. */
	atom32 ends[AWAIT_WORDS];
};

/* Comes before the cancel or disarm that await_end is told of. */
TT_PART void await_begin(struct await *a)
{
	atom32_add(&a->waiting, 1);
}

/* By its address: its page may have been given back by now. */
static atom32 *await_word_of(struct await *a, const struct slot *s)
{
	uintptr_t slot = (uintptr_t)s / sizeof(*s);

	return &a->ends[(slot ^ slot / 64) % AWAIT_WORDS];
}

/*
 * Is the run that was cancelled or disarmed still going on?  Acquire: pairs
 * with expiry_end, and with slot_change in expiry_after_run.
 */
static bool await_goes_on(const struct slot *s, uint64_t id, uint32_t ticket)
{
	uint32_t word = atom32_load_acquire(&s->state);

	return slot_holds(word, id) && slot_runs(word) &&
	       (ticket == 0 || atom32_load(&s->ticket) == ticket);
}

/*
 * Between await_begin and this the thread cancels or disarms the timer in s of
 * b, with the result r.  If that is 1, the callback was running then, and has
 * ended when this returns r; or this returns -ETIMEDOUT at the deadline, which
 * is by CLOCK_MONOTONIC.  ticket: after a disarm, that of the run; else 0.
 * Must not be called from that callback.
 *
 * The ticket changes under the lock, so the lock orders what the run wrote.
 * (To load the ticket with acquire would not: its stores are relaxed.)
 */
TT_PART int await_end(struct await *a, struct bucket *b, struct slot *s,
		      uint64_t id, uint32_t ticket, int64_t deadline, int r)
{
	atom32 *ends = await_word_of(a, s);

	while (r == 1) {
		/* Acquire: pairs with the addition in await_wake. */
		uint32_t seen = atom32_load_acquire(ends);

		if (!await_goes_on(s, id, ticket))
			break;
		if (clock_now(CLOCK_MONOTONIC) >= deadline)
			r = -ETIMEDOUT;
		else
			futex_wait_until(ends, seen, CLOCK_MONOTONIC, deadline);
	}
	if (ticket != 0) {
		lock_acquire(&b->lock);
		lock_release(&b->lock);
	}
	/* The last use of the slot: once no thread waits, it may be freed. */
	tool_acquire(s);
	atom32_add(&a->waiting, UINT32_MAX);
	return r;
}

/*
 * To be called when a run has ended, if the timer lives on or expiry_end has
 * returned true; with no lock held.  The slot may hold another timer by now.
 *
 * The first addition pairs with the one in await_begin.  If it comes before
 * that, the thread that waits finds the state changed.
 */
TT_PART void await_wake(struct await *a, struct slot *s)
{
	if (likely(atom32_add(&a->waiting, 0) == 0))
		return;
	atom32_add(await_word_of(a, s), 1);
	futex_wake(await_word_of(a, s), INT_MAX);
}

/* How long a destroy naps, while the threads that were woken leave. */
#define AWAIT_NAP_NS 100000

/*
 * Waits until no thread is waiting.
 *
 * Nobody ends a nap: who has left must not touch the instance.  Acquire: pairs
 * with the addition by which a thread leaves.
 */
TT_PART void await_empty(struct await *a)
{
	uint32_t n;

	while ((n = atom32_load_acquire(&a->waiting)) > 0)
		futex_wait_for(&a->waiting, n, AWAIT_NAP_NS);
}
