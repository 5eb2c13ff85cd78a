/* SPDX-License-Identifier: MIT */
/*
 * Waiting for the end of a callback whose timer was cancelled while it ran.
 *
 * Guarantees:
 *  1. await_over returns when the callback is over, and what that wrote is
 *     visible then.
 *  2. The timer thread comes here only when a timer was cancelled while its
 *     callback ran, so a timer that nobody waits for pays nothing.
 *
 * Any thread: over.  The timer thread: end.  Who destroys the instance: empty.
 */
#ifndef TT_AWAIT_H
#define TT_AWAIT_H

#include "slot.h"

#include <pthread.h>

struct await {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	unsigned waiting; /* threads in await_over; protected by the mutex */
};

void await_init(struct await *a);
void await_destroy(struct await *a);

/* Waits while the timer named id is ending in s.  Never on its own thread. */
void await_over(struct await *a, struct slot *s, uint64_t id);

/* ending -> dead. */
void await_end(struct await *a, struct slot *s);

/* Waits until no thread is in await_over. */
void await_empty(struct await *a);

#endif
