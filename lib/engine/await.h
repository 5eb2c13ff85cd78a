/* SPDX-License-Identifier: MIT */
/*
 * Waiting for the end of a callback whose timer was cancelled while it ran.
 *
 * Guarantees:
 *  1. await_cancel returns when the callback has ended, and everything that the
 *     callback wrote is visible then.
 *  2. The driver comes here only if a timer was cancelled while its callback
 *     ran.  So a timer that is not cancelled then costs nothing here.
 *  3. A thread in await_cancel counts as waiting until it has done everything
 *     that it does with the instance.  So its caller must do nothing more, and
 *     await_cancel also tells tools that the callback has ended.
 *  4. Each thread sleeps on its own condition: the end of a callback wakes the
 *     threads that wait for it, and no others.
 *
 * Any thread: cancel.  The driver: end.  The thread that destroys the
 * instance: empty.
 */
#ifndef TT_AWAIT_H
#define TT_AWAIT_H

#include "intake/cap.h"
#include "intake/slot.h"

#include <pthread.h>

/* A thread that sleeps; on the stack of that thread. */
struct waiter {
	const struct slot *s;
	pthread_cond_t over;
	struct waiter *next;
};

struct await {
	pthread_mutex_t mutex;
	/* Protected by the mutex. */
	struct waiter *first;  /* the threads that sleep, a chain */
	unsigned waiting;      /* threads in await_cancel */
	pthread_cond_t nobody; /* waiting is 0 */
};

void await_init(struct await *a);
void await_destroy(struct await *a);

/*
 * As slot_cancel, for the timer in s, which was running a moment ago.  Returns
 * 1 only when the callback has ended.  If it returns 0, it has given the
 * timer's place back.  Must not be called from that callback.
 */
int await_cancel(struct await *a, struct cap *c, struct slot *s, uint64_t id);

/* ending -> free. */
void await_end(struct await *a, struct slot *s);

/* Waits until no thread is in await_cancel. */
void await_empty(struct await *a);

#endif
