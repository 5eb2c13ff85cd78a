/* SPDX-License-Identifier: MIT */
/*
 * What happens to a timer when its entry is due.
 *
 * Guarantees:
 *  1. A timer begins only if its deadline has passed, its entry counts and is
 *     not earlier than that deadline, and no cancel of it returned 0.
 *  2. If a timer was rescheduled to a later time, repeats, or was armed again
 *     from its callback, it gets an entry that must be put back.  No other
 *     timer does.
 *  3. If a timer was disarmed, its entry is dropped, and it is unarmed.
 *
 * The driver, or the thread that a timer was handed over to; see handover.h.
 */
#pragma once

#include "intake/bucket.h"

enum expiry {
	EXPIRY_PENDING, /* it waits for its deadline */
	EXPIRY_RUN,     /* it is running now; its callback must be called */
	EXPIRY_LATER,   /* the entry, as it is now, must be queued again */
	EXPIRY_OVER,    /* cancelled; its slot was freed, and must be added */
	EXPIRY_STALE,   /* the entry no longer counts: there is nothing to do */
};

/*
 * e, an entry for slot s of bucket b, is due at the time now.  Returns RUN,
 * LATER, OVER or STALE.  Adds to *overrun how many deadlines of a periodic
 * timer this run skips.
 */
enum expiry expiry_begin(struct bucket *b, struct slot *s, struct entry *e,
			 int64_t now, uint64_t *overrun);

/*
 * To be called when the callback has returned.
 *  - LATER: the timer runs again, and e, as it is now, must be queued.  It is
 *    not due before `earliest` (see wakeup_earliest).
 *  - STALE: the timer lives on, and is unarmed.
 *  - OVER: the timer has ended.  Its slot is not free until expiry_end.
 */
enum expiry expiry_repeat(struct bucket *b, struct slot *s, struct entry *e,
			  int64_t earliest);

/*
 * Frees the slot of a timer that has ended with its run.  True: it was
 * cancelled or disarmed while it ran, and a thread may wait (await.h).
 */
bool expiry_end(struct slot *s);

/*
 * The parts of these functions that need the lock.  The caller holds it.
 * expiry_judge: as expiry_begin; but RUN means that the timer may run now, and
 * is still pending.  *word is the state by which it has judged.  expiry_run: as
 * expiry_begin.  expiry_rearm: as expiry_repeat.
 */
enum expiry expiry_judge(struct slot *s, struct entry *e, int64_t now,
			 uint32_t *word);
enum expiry expiry_run(struct slot *s, struct entry *e, int64_t now,
		       uint64_t *overrun);
enum expiry expiry_rearm(struct slot *s, struct entry *e, int64_t earliest);

/*
 * Looks at an entry without beginning its timer.  Returns PENDING, OVER or
 * STALE.
 */
enum expiry expiry_look(struct bucket *b, struct slot *s,
			const struct entry *e);

/*
 * The same.  If the timer was rescheduled to a later time, e becomes the entry
 * for that time.
 */
enum expiry expiry_refresh(struct bucket *b, struct slot *s, struct entry *e);

/*
 * The next deadline of a periodic timer whose deadline has passed: the first
 * one, in steps of period, that has not.  Adds to *overrun how many this skips.
 */
int64_t expiry_next(int64_t deadline, int64_t period, int64_t now,
		    uint64_t *overrun);
