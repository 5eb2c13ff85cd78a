/* SPDX-License-Identifier: MIT */
/*
 * Timers that have no entry because there was no memory for it.  Such a timer
 * is unqueued: it waits in a heap of its bucket, which needs no memory, until
 * it is due, or there is memory again.  It counts as handed over (expiry.h).
 *
 * The thread that schedules or reschedules: add.  The thread that a timer was
 * handed over to: file.  The driver: leave, collect.  Any thread,
 * under the lock: move.  test/model/slot.pml is a model of this for Spin.
 */
#pragma once

#include "intake/bucket.h"

/* Instead of arrival_add, if arrival_begin has returned NO_ROOM. */
INTERNAL void unqueued_add(struct bucket *b, struct wakeup *w, struct slot *s);

/*
 * Gives a timer that is handed over an entry again, as an arrival.  If there is
 * no memory for that, the timer is unqueued; then this returns false.
 */
INTERNAL bool unqueued_file(struct bucket *b, struct wakeup *w, struct slot *s,
			    int64_t now);

/* The timer of e, which is in no queue, stays so.  False: e is stale. */
INTERNAL bool unqueued_leave(struct bucket *b, struct wakeup *w,
			     const struct entry *e);

/*
 * Reschedules a timer that is handed over: its entry will be due at the time
 * `due`.  Under the lock.  Returns whether the caller must call wakeup_kick
 * when the lock is free.
 */
INTERNAL bool unqueued_move(struct bucket *b, struct wakeup *w, struct slot *s,
			    int64_t due);

/* An unqueued timer gets the entry that is returned.  Under the lock. */
INTERNAL struct entry unqueued_collect(struct bucket *b, struct slot *s);
