/* SPDX-License-Identifier: MIT */
/*
 * Waiting for the end of a callback whose timer was cancelled while it ran.
 *
 * Guarantees:
 *  1. await_cancel returns when the callback is over, and what that wrote is
 *     visible then.
 *  2. The driver comes here only when a timer was cancelled while its callback
 *     ran, so a timer that nobody waits for pays nothing.
 *  3. A thread that has cancelled in here is counted as waiting until it has
 *     done all that it does with the instance.
 *  4. Each sleeps on a condition of its own: the end of a callback wakes those
 *     that wait for it, and no others.
 *
 * Any thread: cancel.  The driver: end.  The thread that destroys the
 * instance: empty.
 */
#ifndef TT_AWAIT_H
#define TT_AWAIT_H

#include "intake/cap.h"
#include "intake/slot.h"

#include <pthread.h>

/* One thread that sleeps, on its stack. */
struct waiter {
	const struct slot *s;
	pthread_cond_t over;
	struct waiter *next;
};

struct await {
	pthread_mutex_t mutex;
	/* Protected by the mutex. */
	struct waiter *first;  /* those that sleep, a chain */
	unsigned waiting;      /* threads in await_cancel */
	pthread_cond_t nobody; /* waiting is 0 */
};

void await_init(struct await *a);
void await_destroy(struct await *a);

/*
 * As slot_cancel, for a timer that was running a moment ago, in s; returns 1
 * when its callback is over, and gives its place back if it returns 0.  Not
 * from that callback.
 */
int await_cancel(struct await *a, struct cap *c, struct slot *s, uint64_t id);

/* ending -> free. */
void await_end(struct await *a, struct slot *s);

/* Waits until no thread is in await_cancel. */
void await_empty(struct await *a);

#endif
