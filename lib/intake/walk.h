/* SPDX-License-Identifier: MIT */
/*
 * A walk through all timers of an instance, for a call that must find some of
 * them.
 *
 * It looks at 64 slots at a time under their bucket's lock; then, without the
 * lock, the caller sees those that have a timer.  So no other call waits for
 * more than the 64, and each timer is seen as it was at some moment.  It may be
 * over when it is seen; its id says which it was.
 *
 * Guarantees:
 *  1. Each timer that lives during the whole walk is seen once; and so is each
 *     dead one, if it is not recycled meanwhile.
 *  2. Memory that was given back is not read, so it stays with the system.
 *
 * Any thread.
 */
#ifndef TT_WALK_H
#define TT_WALK_H

#include "intake/intake.h"

/* A timer that was pending, unarmed or running; or is dead. */
struct seen_timer {
	uint64_t id;
	uint32_t word; /* the state of its slot */
	struct timer timer;
};

/* Calls see for each timer. */
void intake_walk(struct intake *in,
		 void (*see)(const struct seen_timer *t, void *ctx), void *ctx);

#endif
