/* SPDX-License-Identifier: MIT */
/*
 * A reserve: memory for n timers, allocated and touched at start.
 *
 * Each CPU's bucket has its share of the slots, and rows for its share in each
 * lane.  A bucket of no CPU has as few as there can be.
 * The blocks are in the pool, for all buckets.  A bucket with a reserve
 * allocates no memory.  Instead:
 *  - If its slots are used up, another bucket's are used, usually those of the
 *    bucket that had some last time.
 *  - If no bucket has any, dead slots are swept.
 *  - If there are no dead slots either, although no other call has scheduled a
 *    timer meanwhile, more than n timers exist.  From then on all buckets
 *    allocate memory as if there had been no reserve.
 *  - If there is no block or no row for an entry, the timer is unqueued
 *    (unqueued.h), which needs no memory.
 *
 * So most slots of a bucket may be used by calls on other CPUs.  A call on a
 * CPU that has more than its share of the timers takes two or three locks
 * instead of one.  (With two CPUs, and all calls on one: a pair took 89 ns and
 * 78 without a reserve, with 1,000 timers; 450 and 430 with a million.  With
 * 64: 140 and 86, with 10,000.)
 *
 * A bucket keeps the blocks that it has emptied until the driver visits it.  So
 * other buckets may have to leave timers unqueued meanwhile, even if there are
 * no more than n.
 *
 * Guarantees:
 *  1. As long as no more than n timers have existed at the same time, no
 *     schedule call fails for lack of memory, and no call allocates any.  This
 *     ends when so many slots are used up (slot.h) that no others are left: not
 *     before n times 2^28 timers, or new entries of timers (at a million timers
 *     per second, three days for n = 1,000, and eight years for a million).
 *  2. Without a reserve, a call fails for lack of memory only if no bucket has
 *     a slot, and a short sweep finds no dead one.
 *
 * The thread that starts the instance: reserve.  Any thread:
 * schedule_elsewhere.
 */
#pragma once

#include "intake/intake.h"

/* False: no memory. */
INTERNAL bool intake_reserve(struct intake *in, size_t n);

/*
 * As bucket_schedule.  To be called when that has failed for b with r, because
 * there was no memory, or there may be no more slots.
 */
INTERNAL int intake_schedule_elsewhere(struct intake *in, struct bucket *b,
				       struct wakeup *w, const struct timer *t,
				       uint64_t *ret_id, int r);
