/* SPDX-License-Identifier: MIT */
/*
 * What happens to a timer when its entry is due.
 *
 * Guarantees:
 *  1. A timer begins only if its deadline has passed, its entry counts and is
 *     not earlier than that deadline, and no cancel of it returned 0.
 *  2. If a timer was rescheduled to a later time, repeats, or was armed again
 *     from its callback, it must get an entry again.  No other timer must.
 *  3. If a timer was disarmed, its entry is dropped, and it is unarmed.
 *
 * A timer that is due is handed over to the thread that runs it: the driver, or
 * one of an executor.  It has expired, so no queue has its entry; but it has
 * not ended.
 *  4. While a timer is handed over, no entry for its slot counts: a call that
 *     reschedules it to an earlier time makes no entry.  This lasts until the
 *     timer has an entry again, is unarmed, or its slot is freed.
 *  5. A timer that is handed over is pending until its callback begins.  It can
 *     be cancelled and rescheduled like any other.
 *
 * The driver.  begin, after_run, end: the thread that runs the timer.
 * test/model/slot.pml is a model of this for Spin.
 */
#pragma once

#include "intake/bucket.h"

enum expiry {
	EXPIRY_PENDING, /* it waits for its deadline */
	EXPIRY_RUN,     /* it is running now; its callback must be called */
	EXPIRY_LATER,   /* the entry, as it is now, must be queued again */
	EXPIRY_OVER,    /* cancelled; its slot was freed, and must be given */
	EXPIRY_STALE,   /* the entry no longer counts: there is nothing to do */
};

/*
 * e, an entry for slot s of bucket b, is due at the time now.  Returns RUN,
 * LATER, OVER or STALE.  RUN: the timer is handed over, and must be begun.
 */
INTERNAL enum expiry expiry_hand_over(struct bucket *b, struct slot *s,
				      struct entry *e, int64_t now);

/*
 * Begins a timer that is handed over, if slot_begin did not; or without that,
 * if the clock may have been set back since.  Returns RUN, LATER, OVER or
 * STALE.  LATER: it is still handed over, and the caller must file it
 * (unqueued.h).  Adds to *overrun how many deadlines of a periodic timer this
 * run skips.
 */
INTERNAL enum expiry expiry_begin(struct bucket *b, struct slot *s, int64_t now,
				  uint64_t *overrun);

/*
 * To be called when the callback has returned.
 *  - LATER: the timer runs again, and the caller must file it.  It is not due
 *    before `earliest` (see wakeup_earliest).
 *  - STALE: the timer lives on, and is unarmed.
 *  - OVER: the timer has ended.  Its slot is not free until expiry_end.
 */
INTERNAL enum expiry expiry_after_run(struct bucket *b, struct slot *s,
				      int64_t earliest);

/*
 * Frees the slot of a timer that has ended with its run.  True: it was
 * cancelled or disarmed while it ran, and a thread may wait (await.h).  give:
 * the same for a thread of an executor; also counts the run, and gives the slot
 * to its bucket.
 */
INTERNAL bool expiry_end(struct slot *s);
INTERNAL bool expiry_end_and_give(struct bucket *b, struct slot *s);

/*
 * Looks at an entry without beginning its timer.  Returns PENDING, OVER or
 * STALE.
 */
INTERNAL enum expiry expiry_look(struct bucket *b, struct slot *s,
				 const struct entry *e);

/*
 * The same.  If the timer was rescheduled to a later time, e becomes the entry
 * for that time.
 */
INTERNAL enum expiry expiry_refresh(struct bucket *b, struct slot *s,
				    struct entry *e);

/*
 * The next deadline of a periodic timer whose deadline has passed: the first
 * one, in steps of period, that has not.  Adds to *overrun how many this skips.
 */
INTERNAL int64_t expiry_next(int64_t deadline, int64_t period, int64_t now,
			     uint64_t *overrun);
