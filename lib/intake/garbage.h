/* SPDX-License-Identifier: MIT */
/*
 * Garbage: slots of timers that were cancelled, where no call looks for them.
 *
 * Calls find the dead in the bucket that they use (rent.h), and the driver
 * finds those that it passes.  But a thread may move to another CPU, and a
 * program may fall idle.  So each bucket tells how many slots are in use, in
 * steps; and when the sum of all buckets is above a limit, a call wakes the
 * driver, which takes samples.  It looks for the dead where they are more than
 * the live (reclaim.h), and sets the limit anew.
 *
 * Guarantee: the driver is told when more slots are in use than GARBAGE_TIMES
 * the number of timers that lived when it looked last, and GARBAGE_MUCH, and
 * SLOTS_STEP for each bucket.
 *
 * Any thread: tell.  The driver: the rest.
 */
#ifndef TT_GARBAGE_H
#define TT_GARBAGE_H

#include "intake/bucket.h"

#define GARBAGE_TIMES 3
#define GARBAGE_MUCH  WAKEUP_MUCH

/*
 * Tells how many slots are in use, if that has grown by a step.  True: the
 * caller must wake the driver.  Under the lock.
 */
bool garbage_tell(struct bucket *b, struct wakeup *w);

/*
 * Tells it in any case, also if they are fewer.  Returns the sum.  Under the
 * lock.
 */
uint32_t garbage_count(struct bucket *b, struct wakeup *w);

/* The driver has looked: so many live. */
void garbage_set_limit(struct wakeup *w, uint64_t live);

/*
 * Are more timers dead than live in the bucket?  Judges by a sample.  Adds to
 * *live how many may live.  False, too, if the lock is held.
 */
bool garbage_is_most(struct bucket *b, uint64_t *live);

#endif
