/* SPDX-License-Identifier: MIT */
/*
 * Timers that are away: they have expired, so that no queue has their entry,
 * but are not over.  An executor has them; or a callback has armed its timer
 * again for a time that has passed, and a dispatch leaves it to the next one.
 *
 * A timer that comes back does so through a list in its bucket, which takes no
 * memory, and is announced there as one that is scheduled.
 *
 * Guarantees:
 *  1. While a timer is away nothing else refers to its slot: who moves it to
 *     an earlier time makes no entry.  It is away until the driver's thread
 *     has its entry again, or the slot is freed.
 *  2. It keeps its meaning: pending until its callback begins, and cancelled
 *     or moved as any other.
 *
 * Any thread that has the timer.  The driver's: send, keep, take.
 * test/model/slot.pml is a model of this for Spin, without what keep does.
 */
#ifndef TT_AWAY_H
#define TT_AWAY_H

#include "bucket.h"
#include "expiry.h"

/*
 * As expiry_begin, but RUN: it is away now, and whoever has it may begin it
 * with away_begin.
 */
enum expiry away_send(struct bucket *b, struct slot *s, struct entry *e,
		      int64_t now);

/*
 * RUN: its callback is to be called, and then away_return.  LATER: it was moved
 * to a later time, and is on its way back.  OVER: it was cancelled, and its
 * slot is free.
 */
enum expiry away_begin(struct bucket *b, struct wakeup *w, struct slot *s,
		       int64_t now);

/*
 * The callback has returned.  False: the timer does not run again; it is
 * still away, until away_free.
 */
bool away_return(struct bucket *b, struct wakeup *w, struct slot *s);

/* Frees the slot of one that is over. */
void away_free(struct bucket *b, struct slot *s);

/* Sends e, which no queue has, straight to the list.  False: it is stale. */
bool away_keep(struct bucket *b, struct wakeup *w, struct slot *s,
	       const struct entry *e);

/* One that bucket_collect or bucket_tidy handed out is no longer away. */
struct entry away_take(struct bucket *b, struct slot *s);

#endif
