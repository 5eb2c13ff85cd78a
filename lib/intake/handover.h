/* SPDX-License-Identifier: MIT */
/*
 * Handing a timer over to an executor: it has expired, so that no queue has its
 * entry, but it is not over.
 *
 * A timer that was handed over and is to run later gets an entry again, as an
 * arrival.  Where there is no memory for that it is stranded: it is on a list
 * in its bucket, which takes none, until the driver can file it.  The same way
 * the driver keeps any timer for whose entry there is no memory.
 *
 * Guarantees:
 *  1. While a timer is handed over nothing else refers to its slot: a call that
 *     reschedules it to an earlier time makes no entry.  That lasts until it
 *     has an entry again, or the slot is freed.
 *  2. It keeps its meaning: pending until its callback begins, and cancelled
 *     or rescheduled as any other.
 *
 * The thread that has the timer: begin, rearm, free, strand_new.  The
 * driver: give, strand, collect.  test/model/slot.pml is a model of this for
 * Spin.
 */
#ifndef TT_HANDOVER_H
#define TT_HANDOVER_H

#include "intake/bucket.h"
#include "intake/expiry.h"

/*
 * As expiry_begin, but RUN: it is handed over now, and the thread that has it
 * may begin it with handover_begin.
 */
enum expiry handover_give(struct bucket *b, struct slot *s, struct entry *e,
			  int64_t now);

/*
 * RUN: its callback is to be called, and then handover_rearm; see expiry_begin
 * for *overrun.  LATER: it was
 * rescheduled to a later time, and has an entry for that now.  OVER: it was
 * cancelled, and its slot is free.
 */
enum expiry handover_begin(struct bucket *b, struct wakeup *w, struct slot *s,
			   uint64_t *overrun);

/*
 * The callback has returned.  True: it runs again, and *ret_due is when it was
 * due for the run that is over.  False: it does not; it is still handed over,
 * until handover_free.
 */
bool handover_rearm(struct bucket *b, struct wakeup *w, struct slot *s,
		    int64_t *ret_due);

/*
 * Counts a run with which a timer ends, before its slot is freed.  Returns when
 * it was due.
 */
int64_t handover_count(struct bucket *b, const struct slot *s);

/* Adds the slot of one that is over. */
void handover_free(struct bucket *b, struct slot *s);

/*
 * Strands a timer that was just given a deadline, and has no entry that counts.
 * With the lock held; releases it.
 */
void handover_strand_new(struct bucket *b, struct wakeup *w, struct slot *s);

/* Strands the timer of e, which no queue has; nothing, if e is stale. */
void handover_strand(struct bucket *b, struct wakeup *w, const struct entry *e);

/*
 * A stranded timer is due then.  Under the lock; returns as
 * wakeup_announce.
 */
bool handover_announce(struct bucket *b, struct wakeup *w, int64_t deadline);

/* Takes one that bucket_collect handed out, and its entry. */
struct entry handover_collect(struct bucket *b, struct slot *s);

#endif
