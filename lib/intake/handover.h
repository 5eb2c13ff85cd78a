/* SPDX-License-Identifier: MIT */
/*
 * Handing a timer over to an executor: it has expired, so that no queue has its
 * entry, but it is not over.
 *
 * A timer that was handed over and is to run later is "rearmed": it is on a
 * list in its bucket, which takes no memory, until the driver collects it.  It
 * is announced as one that is scheduled.  The same way a timer is postponed
 * that a callback has armed again for a time that has passed: a batch leaves it
 * to the next one.
 *
 * Guarantees:
 *  1. While a timer is handed over nothing else refers to its slot: who
 *     reschedules it to an earlier time makes no entry.  That lasts until the
 *     driver has its entry again, or the slot is freed.
 *  2. It keeps its meaning: pending until its callback begins, and cancelled
 *     or rescheduled as any other.
 *
 * Whoever has the timer, on any thread: begin, rearm, free.  The driver: give,
 * postpone, collect.  test/model/slot.pml is a model of this for Spin, without
 * postpone.
 */
#ifndef TT_HANDOVER_H
#define TT_HANDOVER_H

#include "intake/bucket.h"
#include "intake/expiry.h"

/*
 * As expiry_begin, but RUN: it is handed over now, and whoever has it may begin
 * it with handover_begin.
 */
enum expiry handover_give(struct bucket *b, struct slot *s, struct entry *e,
			  int64_t now);

/*
 * RUN: its callback is to be called, and then handover_rearm.  LATER: it was
 * rescheduled to a later time, and is rearmed now.  OVER: it was cancelled, and
 * its slot is free.
 */
enum expiry handover_begin(struct bucket *b, struct wakeup *w, struct slot *s,
			   int64_t now);

/*
 * The callback has returned.  False: the timer does not run again; it is still
 * handed over, until handover_free.
 */
bool handover_rearm(struct bucket *b, struct wakeup *w, struct slot *s);

/* Frees the slot of one that is over. */
void handover_free(struct bucket *b, struct slot *s);

/* Rearms the timer of e, which no queue has.  False: e is stale. */
bool handover_postpone(struct bucket *b, struct wakeup *w, struct slot *s,
		       const struct entry *e);

/* Takes one that bucket_collect or bucket_reclaim handed out, and its entry. */
struct entry handover_collect(struct bucket *b, struct slot *s);

#endif
