/* SPDX-License-Identifier: MIT */
/*
 * Garbage: when must the driver look for the dead?
 *
 * Calls find most of them (recycle.h, sweep.h).  But a thread may move to
 * another CPU, and a program may fall idle.  So each bucket tells how many
 * slots are in use, when it grows.  When the sum of all buckets is above a
 * limit, a call wakes the driver.  It sweeps all buckets (reclaim.h), and sets
 * the limit anew by what lives.
 *
 * Guarantee: the driver is told when more slots are in use than GARBAGE_TIMES
 * the number of timers that lived when it looked last, and GARBAGE_MUCH, and
 * GARBAGE_STEP for each bucket; or when a bucket has so many more entries than
 * slots in use.
 *
 * Any thread: tell.  The driver: the rest.
 */
#pragma once

#include "intake/bucket.h"

#define GARBAGE_TIMES 3
#define GARBAGE_MUCH  8192
#define GARBAGE_STEP  256

/* As limit: the driver was told, and has not looked yet. */
#define GARBAGE_TOLD UINT32_MAX

/*
 * Tells how many slots are in use, if that has grown by a step.  True: the
 * caller must wake the driver.  Under the lock.
 */
INTERNAL bool garbage_tell(struct bucket *b, struct wakeup *w);

/* Tells it in any case, also if they are fewer.  Returns the sum. */
INTERNAL uint32_t garbage_count(struct bucket *b, struct wakeup *w);

/* Was the driver told?  Then it is not told again before it sets the limit. */
INTERNAL bool garbage_hear(struct wakeup *w);

/* The driver has looked: so many live. */
INTERNAL void garbage_set_limit(struct wakeup *w, uint64_t live);

/* The blocks of all lanes. */
INTERNAL uint32_t garbage_blocks(const struct bucket *b);
