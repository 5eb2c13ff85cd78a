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
 *     callback wrote is visible then.  It waits for no later run of the timer,
 *     however often others arm it meanwhile.
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

#define AWAIT_WORDS 16

struct await {
	atom32 waiting; /* threads between await_begin and await_end */
	/* Futexes: ends of runs for which a thread may wait, by their slots. */
	atom32 ends[AWAIT_WORDS];
};

/*
 * Between these two the thread cancels or disarms the timer in s of b, with the
 * result r.  If that is 1, the callback was running then, and has ended when
 * await_end returns r.  ticket: after a disarm, that of the run; else 0.  Must
 * not be called from that callback.
 */
INTERNAL void await_begin(struct await *a);
INTERNAL int await_end(struct await *a, struct bucket *b, struct slot *s,
		       uint64_t id, uint32_t ticket, int r);

/*
 * To be called when a run has ended, if the timer lives on or expiry_end has
 * returned true; with no lock held.  The slot may hold another timer by now.
 */
INTERNAL void await_wake(struct await *a, struct slot *s);

/* Waits until no thread is waiting. */
INTERNAL void await_empty(struct await *a);
