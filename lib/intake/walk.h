/* SPDX-License-Identifier: MIT */
/*
 * A walk through all timers of an instance, for a call that must find some of
 * them.
 *
 * It looks at 64 slots at a time; then the caller sees those that have a timer.
 * If the timers are to be seen whole, it looks under the bucket's lock, for
 * some microseconds at most, and each is seen as it was at some moment.  It may
 * be over when it is seen; its id says which it was.  Who only counts them
 * looks without the lock: it takes that only to read how many slots a bucket
 * has.
 *
 * Guarantees:
 *  1. Each timer that lives during the whole walk is seen once; and so is each
 *     dead one, if it is not recycled meanwhile.
 *  2. Memory that was given back is not read, so it stays with the system.
 *     (Exception: without the lock, a page may be given back just then.)
 *
 * Any thread.
 */
#pragma once

#include "intake/intake.h"

/* A timer that was pending, unarmed or running; or is dead. */
struct seen_timer {
	uint32_t word; /* the state of its slot */
	/* If it is seen whole. */
	uint64_t id;
	struct timer timer;
};

/*
 * Calls see for each timer.  whole: not only its state.  False: see has
 * returned false, and the walk has ended there.
 */
INTERNAL bool intake_walk(struct intake *in, bool whole,
			  bool (*see)(const struct seen_timer *t, void *ctx),
			  void *ctx);
