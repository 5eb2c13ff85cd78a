/* SPDX-License-Identifier: MIT */
/*
 * A bucket: where timers are scheduled.  There is one for each CPU, so that
 * calls on different CPUs share no cache line, and mostly one more (intake.h).
 *
 * Its arrivals are in lanes, by how far they are from due (distance.h).  The
 * driver visits the bucket when the nearest arrival is due, or some time before
 * if a lane has many blocks.  From each lane it takes only the blocks that hold
 * entries that are due, or nearly due.  Entries that are far stay in the
 * bucket, where it costs little to find out that their timers were cancelled.
 *
 * Guarantees:
 *  1. A timer is in the bucket from bucket_schedule (schedule.h) until the
 *     driver takes it with bucket_collect (collect.h), or until it is found
 *     cancelled.
 *  2. Calls recycle (recycle.h).  One of four looks at some of the oldest
 *     arrivals of its lane, and frees the slots of timers that were cancelled.
 *     Most are found while their cache lines are still in this CPU's cache.
 *     Those that are not found so are swept up (sweep.h): by a call before the
 *     bucket allocates memory for slots, and by the driver.
 *  3. bucket_schedule holds the lock for constant time on average, the driver's
 *     functions for a few microseconds at a time.  Now and then there is a pass
 *     over the rows of a lane (one for 255 arrivals) or the bitmap of slots (a
 *     word for 64): about ten microseconds if a million timers are pending.
 *  4. Nothing is scheduled unless bucket_set_open has opened it.
 *  5. No timer in the bucket is due before `nearest`, which is announced to the
 *     wake-up.  Exception: while the driver is visiting the bucket.
 *
 * Any thread: give; under the lock: set_time, set_doubtful, visit_at, bytes.
 * Its first user: init.  The one that starts or stops the instance: set_open.
 */
#pragma once

#include "intake/distance.h"
#include "intake/wakeup.h"
#include "store/queue.h"
#include "store/slot_heap.h"

/* The arrivals of one distance class. */
struct lane {
	/* Protected by the bucket's lock, like everything here. */
	struct queue queue;
	/* For recycle.c. */
	uint32_t skips;   /* this many calls look at nothing */
	uint32_t carried; /* so many of the oldest live, and were passed */
	uint32_t passed;  /* by so many dead */
	uint32_t aside;   /* so many of the oldest are in the way */
};

/* The timer that a call has scheduled last; see schedule.h. */
struct latest {
	bool wanted;         /* it should be noted */
	struct entry *entry; /* where it was put; NULL: none is noted */
	struct slot *slot;
	uint64_t id;
};

enum bucket_state {
	BUCKET_SHUT, /* nothing is scheduled here; also before it is used */
	BUCKET_OPEN,
	BUCKET_KICKED, /* open; a thread may still owe the driver a wake-up */
};

struct bucket {
	struct lock lock;
	/*
	 * Protected by the lock.  Exceptions: slots.chunk, reading
	 * slots.bits, and reading counters.
	 */
	enum bucket_state state;
	uint32_t little_earlier; /* times in a row that nearest became so */
	int64_t nearest;         /* no timer here is due earlier */
	int64_t now;             /* the time when it was last asked for */
	int64_t base;     /* the same in ticks: distances are counted from it */
	int64_t doubtful; /* an earlier deadline may have passed */
	struct block *spares;
	struct latest latest;
	struct counter scheduled;
	struct counter rescheduled;
	struct slots slots;
	struct lane lane[LANES] __attribute__((aligned(TT_CACHE_LINE)));
	struct lane *old_full; /* a lane of the old without room; or NULL */
	uint32_t used_told; /* slots in use, as was told last; see garbage.h */
	/* Timers without an entry; see unqueued.h. */
	struct slot_heap unqueued;
	/* For sweep.c: words of slots, and slots in use. */
	uint32_t swept;    /* where calls sweep next */
	uint32_t found;    /* the word where sweep_until_found goes on */
	uint32_t sweep_at; /* with so many slots in use, calls sweep again */
	/* Sweeps of calls that found some, since recycling found any. */
	uint32_t sweeps_alone;
	struct counter repeated; /* runs after which the timer lived on */
	struct counter ended;    /* timers that ended with an executor's run */
	struct block_pool *pool; /* constant from bucket_init; NULL before */
	/* Written by any thread: a bucket that had room when this had none. */
	atom32 other;
	/* For the driver only: freed slots whose bits do not yet say so. */
	struct slot_batch recycled __attribute__((aligned(TT_FAR_APART)));
} __attribute__((aligned(TT_FAR_APART)));

/* *b must be all zero, but its lock may be held. */
INTERNAL void bucket_init(struct bucket *b, uint32_t number, uint32_t shift,
			  struct block_pool *pool);

/*
 * In a child of fork(2), the lock may be held by a thread that does not exist
 * there.  Then everything that the thread was changing is not freed.
 */
INTERNAL void bucket_destroy(struct bucket *b);

/* False: from now on nothing is scheduled here. */
INTERNAL void bucket_set_open(struct bucket *b, bool open);

/* Makes a slot free, after SLOT_LEFT. */
INTERNAL void bucket_give(struct bucket *b, struct slot *s);

/*
 * The time is now: for distances, and to know which deadlines may have passed.
 * Under the lock.
 */
INTERNAL void bucket_set_time(struct bucket *b, const struct wakeup *w,
			      int64_t now);

/* To be called when `nearest` was changed.  Under the lock. */
INTERNAL void bucket_set_doubtful(struct bucket *b, const struct wakeup *w);

/* So many blocks are opened in less than half a millisecond. */
#define BLOCKS_FEW 16

/*
 * When the driver must visit the lane: when its first arrival is due; if it has
 * more than a few blocks, earlier.  For if deadlines are in no order, each of
 * these blocks has an arrival that is due soon, and the driver needs time to
 * open all of them.  (Nobody announces this for a lane that grows by blocks
 * that became empty in another.)  Under the lock.
 */
INTERNAL int64_t bucket_visit_at(const struct bucket *b, const struct lane *l);

/* The bucket's memory, with itself, without blocks.  Under the lock. */
INTERNAL size_t bucket_bytes(const struct bucket *b);
