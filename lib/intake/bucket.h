/* SPDX-License-Identifier: MIT */
/*
 * A bucket: where timers are scheduled.  There is one a CPU, so that calls on
 * different CPUs share no cache line.
 *
 * Guarantees:
 *  1. A timer is in the bucket from bucket_schedule until the driver takes it
 *     with bucket_collect, or until it is found cancelled.  One that was
 *     rearmed (handover.h) may also leave through bucket_reclaim.
 *  2. Calls pay rent: each looks at two of the oldest arrivals and frees the
 *     slots of those that were cancelled, but some calls rest when that has
 *     left no more arrivals than before.  Before the bucket takes memory
 *     for slots it looks at a whole block of arrivals, and takes none if one
 *     was cancelled.  So the cancelled are never many more than the live, and
 *     are found while their lines are still in this CPU's cache.
 *  3. Constant time under the lock in bucket_schedule.
 *  4. When arrivals fill BUCKET_BURST blocks, the bucket asks the driver to
 *     collect them BUCKET_LEAD before the first is due, as of then, so that the
 *     driver has filed them by that time.  Until it empties the bucket, for
 *     this or for another reason, they wait there, where it costs little to
 *     find them cancelled; but not more than fill `full` blocks.
 *  5. Before bucket_open and after bucket_shut nothing gets in.
 *
 * Any thread: schedule, reschedule, get_deadline.  Who starts and stops the
 * instance: open, shut.  The driver: collect, reclaim, flush.
 */
#ifndef TT_BUCKET_H
#define TT_BUCKET_H

#include "intake/queue.h"
#include "intake/slot.h"
#include "intake/wakeup.h"
#include "os/base.h"
#include "os/lock.h"

/*
 * In blocks: about 8,000 timers.  With fewer, the driver would collect timers
 * that a busy CPU has in flight and is about to cancel.  With more, and all due
 * soon, it would fall behind.
 */
#define BUCKET_BURST 32

/* In nanoseconds: in which the driver files half a million timers. */
#define BUCKET_LEAD 100000000

struct bucket {
	/* Protected by the lock, all but slots.chunk. */
	struct lock lock;
	bool open;
	bool listed;     /* announced to wakeup since the last collection */
	int64_t nearest; /* no arrival is due earlier */
	uint32_t lived;  /* looks in a row that met no timer that is over */
	uint32_t rests;  /* calls that look at nothing before the next look */
	size_t usual;    /* arrivals when rent has caught up; see rent.c */
	size_t full;     /* blocks; BUCKET_BURST or more; constant */
	struct queue arrivals;
	struct slot *rearmed; /* timers without an entry; see handover.h */
	int64_t asked;        /* to be collected then; INT64_MAX: has not */
	struct slots slots;
	/* The driver's own: freed slots that are not yet among slots.free. */
	struct slot_list recycled __attribute__((aligned(TT_FAR_APART)));
} __attribute__((aligned(TT_FAR_APART)));

void bucket_init(struct bucket *b, uint32_t number, uint32_t shift);
void bucket_destroy(struct bucket *b);

/*
 * In a child of fork(2), where the lock may be held by a thread that is not
 * there: then what it was changing is not freed.
 */
void bucket_destroy_inherited(struct bucket *b);

void bucket_open(struct bucket *b);
void bucket_shut(struct bucket *b);

/* As timerthread_schedule_every, with its arguments checked. */
int bucket_schedule(struct bucket *b, struct wakeup *w, const struct timer *t,
		    uint64_t *ret_id);

/*
 * As timerthread_reschedule, for a slot of this bucket.  inside: the caller is
 * the callback of the timer that is running in s.
 */
int bucket_reschedule(struct bucket *b, struct wakeup *w, struct slot *s,
		      uint64_t id, int64_t deadline, bool inside);

/* As timerthread_get_deadline. */
int bucket_get_deadline(struct bucket *b, struct slot *s, uint64_t id,
			int64_t *ret_deadline);

/*
 * Takes all arrivals, as a chain of blocks, and flushes the recycled slots.
 * *spares is a chain of empty blocks: the bucket takes one in exchange, and its
 * surplus joins them.  *ret_rearmed is a chain of slots, through next, for
 * handover_collect.
 */
struct chain bucket_collect(struct bucket *b, struct block **spares,
			    struct slot **ret_rearmed);

/*
 * One step of finding arrivals that are over, where they are, if nobody else
 * needs the lock.  *left says how many looks may be taken, and then what is
 * left of them; 0: the bucket is done.  Of *spares, a chain of empty blocks,
 * one is taken if none is there to turn arrivals over; the surplus joins them.
 * *ret_rearmed is as of bucket_collect, but it may not be all.  Returns how
 * many looks it took.
 */
size_t bucket_reclaim(struct bucket *b, struct wakeup *w, struct block **spares,
		      uint64_t *left, struct slot **ret_rearmed);

/* Makes the recycled slots free ones, which a schedule call may take. */
void bucket_flush(struct bucket *b);

/* Aborts if the bucket is not sound; for tests. */
void bucket_check(struct bucket *b);

#endif
