/* SPDX-License-Identifier: MIT */
/*
 * What happens to a timer when its entry has come up.
 *
 * Guarantees:
 *  1. A timer begins only if its deadline has passed, its entry counts and has
 *     that deadline, and no cancel of it returned 0.
 *  2. A timer that was rescheduled to a later time, or repeats, or was armed
 *     again from its callback, gets an entry that is to be put back; no other
 *     timer does.
 *
 * The driver, or the thread that a timer was handed over to; see handover.h.
 */
#ifndef TT_EXPIRY_H
#define TT_EXPIRY_H

#include "intake/bucket.h"

enum expiry {
	EXPIRY_PENDING, /* it is waiting for its deadline */
	EXPIRY_RUN,    /* it is running now, and its callback is to be called */
	EXPIRY_LATER,  /* the entry, as it is now, is to be queued again */
	EXPIRY_ENDING, /* cancelled while it ran: somebody may wait for that */
	EXPIRY_OVER,   /* it was cancelled; its slot was freed, to be added */
	EXPIRY_STALE,  /* the entry did not count: nothing is to be done */
};

/*
 * e, for the slot s of bucket b, has come up at the time now.  RUN, LATER,
 * OVER or STALE.  Adds to *overrun the deadlines of a periodic timer that this
 * run skips.
 */
enum expiry expiry_begin(struct bucket *b, struct slot *s, struct entry *e,
			 int64_t now, uint64_t *overrun);

/*
 * The callback has returned.  True: the timer runs again, and e, as it is now,
 * is to be queued; it is not due before `earliest` (see wakeup_earliest).
 * False: it does not.
 */
bool expiry_repeat(struct bucket *b, struct slot *s, struct entry *e,
		   int64_t earliest);

/*
 * running -> free, for a timer that does not run again.  False: it is ending,
 * cancelled while it ran, and somebody may wait for that.
 */
bool expiry_end(struct slot *s);

/*
 * The parts of these, under the lock.  expiry_judge: as expiry_begin, but RUN:
 * it may run now, and is pending still.  expiry_run: the same, and runs it.
 * expiry_rearm: as expiry_repeat.
 */
enum expiry expiry_judge(struct slot *s, struct entry *e, int64_t now);
enum expiry expiry_run(struct slot *s, struct entry *e, int64_t now,
		       uint64_t *overrun);
bool expiry_rearm(struct slot *s, struct entry *e, int64_t earliest);

/* e has not come up.  PENDING, OVER or STALE. */
enum expiry expiry_look(struct bucket *b, struct slot *s,
			const struct entry *e);

/*
 * The same, and if the timer was rescheduled to a later time e becomes the
 * entry for that.
 */
enum expiry expiry_refresh(struct bucket *b, struct slot *s, struct entry *e);

/*
 * The deadline after deadline, which has passed: the first one in step that
 * has not.  Adds to *overrun how many that skips.
 */
int64_t expiry_next(int64_t deadline, int64_t period, int64_t now,
		    uint64_t *overrun);

#endif
