/* SPDX-License-Identifier: MIT */
/*
 * A bucket: where timers are scheduled.  There is one a CPU, so that calls on
 * different CPUs share no cache line.
 *
 * Guarantees:
 *  1. A timer is in the bucket from bucket_schedule until the timer thread
 *     takes it with bucket_collect, or until it is found cancelled; one that
 *     has come back (away.h) also until bucket_tidy hands it out.
 *  2. Calls pay rent: each looks at two of the oldest arrivals and frees the
 *     slots of those that were cancelled, but some calls rest when that has
 *     left no more arrivals than before.  Before the bucket takes memory
 *     for slots it looks at a whole block of arrivals, and takes none if one
 *     was cancelled.  So the cancelled are never many more than the live, and
 *     are found while their lines are still in this CPU's cache.
 *  3. Constant time under the lock in bucket_schedule.
 *  4. Arrivals that fill BUCKET_BURST blocks ask the timer thread to fetch
 *     them BUCKET_LEAD before the first is due, as of then, so that it has
 *     sorted them by that time.  Until it empties the bucket, for this or for
 *     another reason, they wait there, where it costs little to find them
 *     cancelled; but not more than fill `full` blocks.
 *  5. Before bucket_open and after bucket_shut nothing gets in.
 *
 * Any thread: schedule.  Who starts and stops the instance: open, shut.  The
 * timer thread: collect, tidy, give_back.
 */
#ifndef TT_BUCKET_H
#define TT_BUCKET_H

#include "base.h"
#include "lock.h"
#include "queue.h"
#include "slot.h"
#include "wakeup.h"

/*
 * In blocks: about 8,000 timers.  Fewer would send timers through the timer
 * thread that a busy CPU has in flight and is about to cancel; more of those
 * that are due soon, and it falls behind.
 */
#define BUCKET_BURST 32

/* In nanoseconds: in which the timer thread sorts half a million timers. */
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
	struct slot *back; /* timers that were away; see away.h */
	int64_t asked;     /* to be fetched then; INT64_MAX: has not */
	struct slots slots;
	/* The timer thread's own: freed slots on their way back. */
	struct slot_list returns __attribute__((aligned(TT_FAR_APART)));
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
 * Takes all arrivals, as a chain of blocks, and gives back what is on the
 * returns list.  *spares is a chain of empty blocks: the bucket takes one in
 * exchange, and its surplus joins them.  *ret_back is a chain of slots, through
 * next, for away_take.
 */
struct chain bucket_collect(struct bucket *b, struct block **spares,
			    struct slot **ret_back);

/*
 * One step of finding arrivals that are over, where they are, if nobody else
 * needs the lock.  *left says how many looks may be taken, and then what is
 * left of them; 0: the bucket is done.  Of *spares, a chain of empty blocks,
 * one is taken if none is there to turn arrivals over; the surplus joins them.
 * *ret_back is as of bucket_collect, but it may not be all.  Returns how many
 * looks it took.
 */
size_t bucket_tidy(struct bucket *b, struct wakeup *w, struct block **spares,
		   uint64_t *left, struct slot **ret_back);

/* Gives the slots on the returns list back. */
void bucket_give_back(struct bucket *b);

/* Aborts if the bucket is not sound; for tests. */
void bucket_check(struct bucket *b);

#endif
