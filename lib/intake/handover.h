/* SPDX-License-Identifier: MIT */
/*
 * Handing a timer over to an executor.  The timer has expired, so no queue has
 * its entry; but it has not ended.
 *
 * If a timer that was handed over must run later, it gets an entry again, as an
 * arrival.  If there is no memory for the entry, the timer is stranded: it
 * waits in a heap of its bucket, which needs no memory, until it is due, or
 * there is memory again.  The driver does the same with any other timer for
 * whose entry there is no memory.
 *
 * Guarantees:
 *  1. While a timer is handed over, no entry for its slot counts: a call that
 *     reschedules it to an earlier time makes no entry.  This lasts until the
 *     timer has an entry again, or its slot is freed.
 *  2. A timer that is handed over is pending until its callback begins.  It can
 *     be cancelled and rescheduled like any other.
 *
 * The thread that has the timer: begin, rearm, end, add.  The driver: give,
 * strand, restore, collect.  Any thread, under the lock: move.
 * test/model/slot.pml is a model of this for Spin.
 */
#pragma once

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
 *  - STALE: it was disarmed, and is unarmed.
 */
enum expiry handover_begin(struct bucket *b, struct wakeup *w, struct slot *s,
			   uint64_t *overrun);

/*
 * To be called when the callback has returned.  Returns as expiry_repeat, but
 *  - LATER: the timer has an entry, or is stranded.
 *  - OVER: it is still handed over, until handover_end.
 * Else *ret_due is the time at which the run that has ended was due.
 */
enum expiry handover_rearm(struct bucket *b, struct wakeup *w, struct slot *s,
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

/* Strands the timer of e, which is in no queue.  False: e is stale. */
bool handover_strand(struct bucket *b, struct wakeup *w, const struct entry *e);

/*
 * Reschedules a timer that is handed over: its entry will be due at the time
 * `due`.  Under the lock.  Returns whether the caller must call wakeup_kick
 * when the lock is free.
 */
bool handover_move(struct bucket *b, struct wakeup *w, struct slot *s,
		   int64_t due);

/*
 * Gives the first stranded timer an entry again, as an arrival; or frees its
 * slot if the timer was cancelled.  False: there is none, or no memory, or the
 * lock is held.
 */
bool handover_restore(struct bucket *b, struct wakeup *w, int64_t now);

/* A stranded timer gets the entry that is returned.  Under the lock. */
struct entry handover_collect(struct bucket *b, struct slot *s);
