/* SPDX-License-Identifier: MIT */
/*
 * Handing a timer over to an executor.  The timer has expired, so no queue has
 * its entry; but it has not ended.
 *
 * If a timer that was handed over must run later, it gets an entry again, as an
 * arrival.  If there is no memory for the entry, the timer is stranded: it
 * stays on a list in its bucket, which needs no memory, until the driver can
 * file it.  The driver does the same with any other timer for whose entry there
 * is no memory.
 *
 * Guarantees:
 *  1. While a timer is handed over, no entry for its slot counts: a call that
 *     reschedules it to an earlier time makes no entry.  This lasts until the
 *     timer has an entry again, or its slot is freed.
 *  2. A timer that is handed over is pending until its callback begins.  It can
 *     be cancelled and rescheduled like any other.
 *
 * The thread that has the timer: begin, rearm, end, add.  The driver: give,
 * strand, collect.  Any thread, under the lock: announce.
 * test/model/slot.pml is a model of this for Spin.
 */
#ifndef TT_HANDOVER_H
#define TT_HANDOVER_H

#include "intake/bucket.h"
#include "intake/expiry.h"

/*
 * As expiry_begin, except for RUN: the timer is handed over now, and the thread
 * that has it may begin it with handover_begin.
 */
enum expiry handover_give(struct bucket *b, struct slot *s, struct entry *e,
			  int64_t now);

/*
 * Returns
 *  - RUN: the callback must be called, and then handover_rearm.  For *overrun,
 *    see expiry_begin.
 *  - LATER: the timer was rescheduled to a later time, and has an entry for
 *    that now, or is stranded.
 *  - OVER: the timer was cancelled, and its slot is free.
 */
enum expiry handover_begin(struct bucket *b, struct wakeup *w, struct slot *s,
			   uint64_t *overrun);

/*
 * To be called when the callback has returned.  True: the timer runs again, and
 * *ret_due is the time at which the run that has ended was due.  False: it does
 * not.  It is still handed over, until handover_end.
 */
bool handover_rearm(struct bucket *b, struct wakeup *w, struct slot *s,
		    int64_t *ret_due);

/*
 * Ends a timer with its last run: counts the run, and frees the slot.  *ret_due
 * is the time at which that run was due.  Returns as expiry_end.
 */
bool handover_end(struct bucket *b, struct slot *s, int64_t *ret_due);

/*
 * As arrival_add, if arrival_begin has returned AT_ONCE or NO_ROOM.  In the
 * second case, the timer is stranded.
 */
void handover_add(struct bucket *b, struct wakeup *w, struct lane *l,
		  struct slot *s, int result);

/* Strands the timer of e, which is in no queue.  Does nothing if e is stale. */
void handover_strand(struct bucket *b, struct wakeup *w, const struct entry *e);

/*
 * Announces the deadline of a stranded timer.  Under the lock.  Returns as
 * wakeup_announce.
 */
bool handover_announce(struct bucket *b, struct wakeup *w, int64_t deadline);

/*
 * Takes a stranded timer that bucket_collect has handed out.  Returns its
 * entry.
 */
struct entry handover_collect(struct bucket *b, struct slot *s);

#endif
