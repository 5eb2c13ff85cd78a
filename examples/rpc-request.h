/* SPDX-License-Identifier: MIT */
/* rpc-request: the life of a request with a deadline.  Told in the .c file. */
#ifndef RPC_REQUEST_H
#define RPC_REQUEST_H

#include "rpc-io.h"
#include "rpc-report.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <timerthread.h>

enum { WINDOW = 64 }; /* requests in flight on a connection */

struct request {
	struct window *window;
	_Atomic uint32_t word; /* generation and state */
	atomic_uint refs;
	atomic_uint ends;     /* only to check that there is exactly one */
	timerthread_id timer; /* the reader's, once it is SENT */
	int64_t deadline;
	uint64_t value;
};

/* The requests of one connection. */
struct window {
	struct timerthread *timers;
	int64_t timeout;
	struct request request[WINDOW];
	atomic_ulong counts[COUNTS];
	atomic_bool closed;

	pthread_mutex_t lock;
	pthread_cond_t freed;         /* or closed */
	struct request *free[WINDOW]; /* guarded by lock */
	unsigned nfree;               /* guarded by lock */
};

void window_init(struct window *w, struct timerthread *timers, int64_t timeout);

/* No new requests from here on: window_take returns NULL. */
void window_close(struct window *w);

/* A free record; NULL if closed, or if all are in use and wait is false. */
struct request *window_take(struct window *w, bool wait);

/*
 * Waits until every record is free again, which takes no longer than the
 * timeout: what the replies do not complete, the timers do.
 */
void window_drain(struct window *w);

/* Only once no callback can run any more. */
void window_destroy(struct window *w);

/*
 * Guards a request with a timer and publishes it; in any case r is no longer
 * the sender's.  Returns 1 when m is to be sent, 0 when the deadline has
 * passed already, or a negative errno.
 */
int request_arm(struct request *r, uint64_t value, struct message *m);

/* A reply has come: on time, late, or just as the timer expires. */
void request_reply(struct window *w, const struct message *m);

#endif
