/* SPDX-License-Identifier: MIT */
/*
 * Waiting for the end of a callback whose timer was cancelled while it ran.
 *
 * The thread sleeps on a futex, which is the state of the timer's slot.  The
 * end of the run changes it (expiry.h), and wakes the thread.
 *
 * Guarantees:
 *  1. await_cancel returns when the callback has ended, and everything that the
 *     callback wrote is visible then.
 *  2. A timer that is not cancelled while its callback runs costs nothing here.
 *     One that is, for which no thread waits, costs no system call.
 *  3. A thread in await_cancel counts as waiting until it has done everything
 *     that it does with the instance.  So its caller must do nothing more, and
 *     await_cancel also tells tools that the callback has ended.
 *  4. The end of a callback wakes the threads that wait for it, and no others.
 *
 * Any thread: cancel.  The thread that runs the timer: wake.  The thread that
 * destroys the instance: empty.
 */
#ifndef TT_AWAIT_H
#define TT_AWAIT_H

#include "engine/cap.h"
#include "store/slot.h"

struct await {
	atom32 waiting; /* threads in await_cancel */
};

/*
 * As slot_cancel, for the timer in s, which was running a moment ago.  Returns
 * 1 only when the callback has ended.  If it returns 0, it has given the
 * timer's place back.  Must not be called from that callback.
 */
int await_cancel(struct await *a, struct cap *c, struct slot *s, uint64_t id);

/*
 * To be called after expiry_end has returned true, with no lock held.  The slot
 * may hold another timer by now, whose waiters then look again.
 */
void await_wake(struct await *a, struct slot *s);

/* Waits until no thread is in await_cancel. */
void await_empty(struct await *a);

#endif
