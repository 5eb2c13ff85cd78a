/* SPDX-License-Identifier: MIT */
/*
 * A reserve: memory for n timers, taken and touched at start.
 *
 * Each bucket has its part of the slots, and room for its part in each lane;
 * blocks are in the pool, for all.  A bucket with a reserve takes no memory.
 * Where its slots are used up, another bucket's are used, usually of the one
 * that had some last time.  Where there are none, dead slots are salvaged.
 * Only if there are none of these either, more than n timers exist: from then
 * on all buckets take memory as if there had been no reserve.  Where there is
 * no block or no row for an entry the timer is stranded (handover.h), which
 * takes none.
 *
 * A bucket keeps blocks that it has emptied until the driver comes by.  So
 * others may have to strand timers meanwhile, although n were enough.
 *
 * Guarantees:
 *  1. As long as no more than n timers have existed at a time, no schedule call
 *     fails for memory, and no call takes any.
 *  2. Without a reserve, a call fails only if no bucket has a slot, and a step
 *     of salvage finds none.
 *
 * The thread that starts the instance: reserve.  Any thread:
 * schedule_elsewhere.
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
