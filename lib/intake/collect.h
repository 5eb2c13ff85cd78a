/* SPDX-License-Identifier: MIT */
/*
 * What the driver does with a bucket: it collects, puts back and flushes.
 *
 * Guarantee: the bucket's lock is held for a few microseconds at a time.
 *
 * The driver.
 */
#pragma once

#include "intake/bucket.h"

/* How many timers without an entry a step of a visit takes at most. */
#define UNQUEUED_STEP 32

/* A visit by the driver, and what its last step has taken out. */
struct visit {
	int64_t by;  /* takes all that is due by then, and some of the rest */
	int64_t now; /* becomes the base of distances */
	unsigned lane;
	bool blocks_done;
	/* Set by the driver: it keeps no more, so none without entry comes. */
	bool full;
	struct queue_cursor cursor; /* has the rows of the blocks taken out */
	/* Of timers that had none. */
	struct entry entry[UNQUEUED_STEP];
	int entries;
};

INTERNAL void visit_begin(struct visit *v, int64_t by, int64_t now);

/*
 * One step of a visit, for which the wake-up has asked.  Also gives spare
 * blocks back that the bucket does not need.  False: that was the last step.
 */
INTERNAL bool bucket_collect(struct bucket *b, struct wakeup *w,
			     struct visit *v);

/*
 * Puts back n entries that the driver has taken, the last one first, into the
 * lanes of the old.  Returns how many are left, at the beginning of e, because
 * there is no memory for them.
 */
INTERNAL size_t bucket_put(struct bucket *b, struct wakeup *w,
			   const struct entry *e, size_t n);

/*
 * Makes the recycled slots free, so that schedule calls can take them.  True:
 * there will be some memory to give back.
 */
INTERNAL bool bucket_flush(struct bucket *b);

/*
 * Gives back what the bucket does not need: spare blocks, and rows of lanes.
 */
INTERNAL void bucket_shrink(struct bucket *b);

/* Takes out the first block of the lane with the most; NULL: there is none. */
INTERNAL struct block *bucket_take_oldest(struct bucket *b);
