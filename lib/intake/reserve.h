/* SPDX-License-Identifier: MIT */
/*
 * A reserve: memory for n timers, taken and touched at start.
 *
 * Each bucket has its part of the slots, and room for its part in each lane;
 * blocks are in the pool, for all.  A bucket with a reserve takes no memory.
 * Where its slots are used up another bucket's will do, and after those dead
 * slots are salvaged.  Only when there is none more than n timers exist: then
 * the caller's bucket takes memory, from then on as others do.  Where there is
 * no block or no row for an entry the timer is stranded (handover.h), which
 * takes none.
 *
 * Guarantees:
 *  1. As long as no more than n timers exist, no schedule call fails for
 *     memory, and no call takes any.
 *  2. Without a reserve, memory is taken from other buckets too before a call
 *     fails.
 *
 * Who starts the instance: reserve.  Any thread: schedule_elsewhere.
 */
#ifndef TT_RESERVE_H
#define TT_RESERVE_H

#include "intake/intake.h"

/* False: no memory. */
bool intake_reserve(struct intake *in, size_t n);

/* How many blocks that keeps. */
size_t reserve_blocks(const struct intake *in, size_t n);

/*
 * As bucket_schedule, which has failed for b with r, where there was no memory
 * or might be no more slots.
 */
int intake_schedule_elsewhere(struct intake *in, struct bucket *b,
			      struct wakeup *w, const struct timer *t,
			      uint64_t *ret_id, int r);

#endif
