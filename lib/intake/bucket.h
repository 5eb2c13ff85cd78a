/* SPDX-License-Identifier: MIT */
/*
 * A bucket: where timers are scheduled.  There is one a CPU, so that calls on
 * different CPUs share no cache line.
 *
 * Its arrivals are in lanes, by how far they are from due (distance.h).  The
 * driver visits the bucket when the nearest arrival is due, and takes out of
 * each lane only the blocks that hold what is due, or nearly.  What is far
 * stays, where it costs little to find it cancelled.
 *
 * Guarantees:
 *  1. A timer is in the bucket from bucket_schedule until the driver takes it
 *     with bucket_collect, or until it is found cancelled.
 *  2. Calls pay rent (rent.h): a call looks at two of the oldest arrivals of
 *     its lane, or at some three dozen others and the next calls at none; and
 *     frees the slots of those that were cancelled.  Before the bucket takes
 *     memory for slots it looks at some in other lanes, and takes none if it
 *     finds one that is over.  So the cancelled are at most a small multiple of
 *     the most that were live at a time, and most are found while their lines
 *     are still in this CPU's cache.
 *  3. On the average constant time under the lock in bucket_schedule, and a few
 *     microseconds at a time in what the driver does; now and then a pass over
 *     the rows of a lane (one for 255 arrivals) or the bitmap of slots (a word
 *     for 64), some ten microseconds where a million are pending.
 *  4. Before bucket_open and after bucket_shut nothing is scheduled.
 *  5. No timer in the bucket is due before `nearest`, which is announced to the
 *     wake-up; or the driver is visiting the bucket.
 *
 * Any thread: schedule, reschedule, get_deadline.  Its first user: init.  The
 * thread that starts or stops the instance: open, shut.  The driver: collect,
 * put, reclaim, flush.
 */
#ifndef TT_BUCKET_H
#define TT_BUCKET_H

#include "intake/distance.h"
#include "intake/queue.h"
#include "intake/slot.h"
#include "intake/wakeup.h"
#include "os/base.h"
#include "os/counter.h"
#include "os/lock.h"

/* The arrivals of one distance class. */
struct lane {
	/* Protected by the bucket's lock, as all in it. */
	struct queue queue;
	uint32_t rests; /* calls that look at nothing before the next look */
	/* See rent.c: calls scan from this position on, or go to another. */
	bool scans;
	struct queue_position position;
	uint32_t probe;
};

/* What has happened in a bucket, but not by its driver. */
struct bucket_counts {
	struct counter drained;
	struct counter fired; /* runs on an executor, which have ended */
	struct counter ended; /* timers that ended with such a run */
};

struct bucket {
	struct lock lock;
	/* Protected by the lock, all but slots.chunk, and counts to read. */
	bool open;
	bool grows;      /* takes memory as it needs it; see reserve.h */
	uint32_t falls;  /* how often nearest was a little earlier, in a row */
	int64_t nearest; /* no timer here is due earlier */
	int64_t base;    /* that distances are counted from; may be old */
	struct block *spares;
	struct counter scheduled;
	struct counter rescheduled;
	/* Where arrivals are looked at for others, next. */
	struct queue_position next;
	struct slots slots;
	struct lane lane[LANES] __attribute__((aligned(TT_CACHE_LINE)));
	/* Timers without an entry; see handover.h. */
	struct slot *stranded;
	struct slot *visited;     /* those, in a visit, until it has them */
	int64_t stranded_nearest; /* none of those is due earlier */
	uint32_t next_lane;       /* see next */
	uint32_t salvaged;        /* the next slot to look at; salvage.c */
	struct bucket_counts counts;
	struct block_pool *pool; /* constant from bucket_init; NULL before */
	/* Any thread's: where there was room when there was none here. */
	atom32 other;
	/* The driver's own: dead slots whose bits do not yet say free. */
	struct slot_batch recycled __attribute__((aligned(TT_FAR_APART)));
} __attribute__((aligned(TT_FAR_APART)));

/* All zero before; its lock may be held. */
void bucket_init(struct bucket *b, uint32_t number, uint32_t shift,
		 struct block_pool *pool);
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

/* A visit of the driver's, and what a step of it has taken out. */
struct visit {
	int64_t by;  /* all that is due by then is taken, some of the rest */
	int64_t now; /* distances are counted from then on */
	unsigned lane;
	bool blocks_done;
	struct queue_cursor cursor; /* with the rows of its blocks */
	struct slot *stranded;      /* through next, for handover_collect */
};

void visit_begin(struct visit *v, int64_t by, int64_t now);

/*
 * One step of a visit, which the wake-up has asked for.  Spare blocks are
 * exchanged with *spares: the bucket takes one if it has none, and leaves what
 * it does not need.  False: that was the last step.
 */
bool bucket_collect(struct bucket *b, struct wakeup *w, struct visit *v,
		    struct block **spares);

/*
 * Puts back n entries, from the last on, which the driver has taken; returns
 * how many of the first there is no memory for.
 */
size_t bucket_put(struct bucket *b, struct wakeup *w, struct block **spares,
		  const struct entry *e, size_t n);

/*
 * One step of finding arrivals that are over, where they are, if nobody else
 * needs the lock.  *left says how many looks may be taken, and then what is
 * left of them; 0: the bucket is done.  Hands out spare blocks.  Returns how
 * many looks that was at most; 0: none, for the last lane has come to its end.
 */
size_t bucket_reclaim(struct bucket *b, struct block **spares, uint64_t *left);

/* Makes the recycled slots free ones, which a schedule call may take. */
void bucket_flush(struct bucket *b);

/* The memory that it has, itself included.  Under the lock. */
size_t bucket_bytes(const struct bucket *b);

/* Aborts if the bucket is not sound; for tests. */
void bucket_check(struct bucket *b);

#endif
