/* SPDX-License-Identifier: MIT */
/*
 * Waiting for the end of a callback whose timer was cancelled, or disarmed,
 * while it ran.
 *
 * The thread sleeps on a futex, which is the state of the timer's slot.  The
 * end of the run changes it (expiry.h), and wakes the thread.
 *
 * Guarantees:
 *  1. await_end returns when the callback has ended, and everything that the
 *     callback wrote is visible then.  If the timer was armed again meanwhile,
 *     it may also wait for the next run.
 *  2. A timer that ends with its run, and is not cancelled while its callback
 *     runs, costs nothing here.  Others, if no thread waits, cost no system
 *     call.
 *  3. A thread counts as waiting from await_begin to await_end, which is the
 *     last that it does with the instance.  So await_end also tells tools that
 *     the callback has ended.
 *  4. The end of a callback wakes the threads that wait for it, and no others.
 *
 * Any thread: begin, end.  The thread that runs the timer: wake.  The thread
 * that destroys the instance: empty.
 */
#ifndef TT_AWAIT_H
#define TT_AWAIT_H

#include "store/slot.h"

struct await {
	atom32 waiting; /* threads between await_begin and await_end */
};

/*
 * Between these two the thread cancels or disarms the timer in s, with the
 * result r.  If that is 1, the callback was running then, and has ended when
 * await_end returns r.  Must not be called from that callback.
 */
void await_begin(struct await *a);
int await_end(struct await *a, struct slot *s, uint64_t id, int r);

/*
 * To be called when a run has ended, if the timer lives on or expiry_end has
 * returned true; with no lock held.  The slot may hold another timer by now,
 * whose waiters then look again.
 */
void await_wake(struct await *a, struct slot *s);

/* Waits until no thread is waiting. */
void await_empty(struct await *a);

#endif
