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
 *  1. A timer is in the bucket from bucket_schedule until the driver takes it
 *     with bucket_collect, or until it is found cancelled.
 *  2. Calls pay rent (rent.h).  One of four looks at some of the oldest
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
 * Any thread: schedule, reschedule, disarm, give, get_deadline.  Its first
 * user: init.  The thread that starts or stops the instance: set_open.  The
 * driver: collect, put, take_oldest, flush.
 */
#pragma once

#include "base/base.h"
#include "base/word64.h"
#include "intake/distance.h"
#include "intake/wakeup.h"
#include "os/lock.h"
#include "store/queue.h"
#include "store/slot_heap.h"

/* The arrivals of one distance class. */
struct lane {
	/* Protected by the bucket's lock, like everything here. */
	struct queue queue;
	/* For rent.c. */
	uint32_t rests;   /* this many calls look at nothing */
	uint32_t carried; /* so many of the oldest live, and were passed */
	uint32_t passed;  /* by so many dead */
	uint32_t aside;   /* so many of the oldest are in the way */
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
	uint32_t falls;   /* how often in a row nearest fell a little */
	int64_t nearest;  /* no timer here is due earlier */
	int64_t now;      /* the time when it was last asked for */
	int64_t base;     /* the same in ticks: distances are counted from it */
	int64_t doubtful; /* an earlier deadline may have passed */
	struct block *spares;
	struct counter scheduled;
	struct counter rescheduled;
	struct slots slots;
	struct lane lane[LANES] __attribute__((aligned(TT_CACHE_LINE)));
	struct lane *wanting; /* of the old; it had no room; or NULL */
	uint32_t away;        /* calls that found no slot here; see arrival.c */
	/* Timers without an entry; see unqueued.h. */
	struct slot_heap stranded;
	/* For sweep.c: words of slots, and slots in use. */
	uint32_t swept;    /* where calls sweep next */
	uint32_t found;    /* the word where sweep_until_found goes on */
	uint32_t visited;  /* and where the driver does */
	uint32_t sweep_at; /* with so many slots in use, calls sweep again */
	uint32_t alone;    /* so many found some, and rent none since then */
	struct counter repeated; /* runs after which the timer lived on */
	struct counter ended;    /* timers that ended with an executor's run */
	struct block_pool *pool; /* constant from bucket_init; NULL before */
	/* Written by any thread: a bucket that had room when this had none. */
	atom32 other;
	/* For the driver only: freed slots whose bits do not yet say so. */
	struct slot_batch recycled __attribute__((aligned(TT_FAR_APART)));
} __attribute__((aligned(TT_FAR_APART)));

/* *b must be all zero, but its lock may be held. */
void bucket_init(struct bucket *b, uint32_t number, uint32_t shift,
		 struct block_pool *pool);

/*
 * In a child of fork(2), the lock may be held by a thread that does not exist
 * there.  Then everything that the thread was changing is not freed.
 */
void bucket_destroy(struct bucket *b);

/* False: from now on nothing is scheduled here. */
void bucket_set_open(struct bucket *b, bool open);

/* As timerthread_schedule_every, or _add.  The arguments were checked. */
int bucket_schedule(struct bucket *b, struct wakeup *w, const struct timer *t,
		    uint64_t *ret_id);

/*
 * As timerthread_reschedule, for a slot of this bucket.  inside: the caller is
 * the callback of the timer that is running in s.
 */
int bucket_reschedule(struct bucket *b, struct wakeup *w, struct slot *s,
		      uint64_t id, int64_t deadline, bool inside);

/*
 * As slot_disarm.  If ret_ticket is not NULL, and the timer is running,
 * *ret_ticket is its ticket until that run ends; see await.h.
 */
int bucket_disarm(struct bucket *b, struct slot *s, uint64_t id, bool running,
		  uint32_t *ret_ticket);

/* Makes a slot free, after SLOT_LEFT. */
void bucket_give(struct bucket *b, struct slot *s);

/* As timerthread_get_deadline. */
int bucket_get_deadline(struct bucket *b, struct slot *s, uint64_t id,
			int64_t *ret_deadline);

/* How many timers without an entry a step of a visit takes at most. */
#define STRANDED_STEP 32

/* A visit by the driver, and what its last step has taken out. */
struct visit {
	int64_t by;  /* takes all that is due by then, and some of the rest */
	int64_t now; /* becomes the base of distances */
	unsigned lane;
	bool blocks_done;
	/* Set by the driver: it keeps no more, so none without entry comes. */
	bool full;
	struct queue_cursor cursor; /* has the rows of the blocks taken out */
	/* Of timers that had none. */
	struct entry entry[STRANDED_STEP];
	int entries;
};

void visit_begin(struct visit *v, int64_t by, int64_t now);

/*
 * One step of a visit, for which the wake-up has asked.  Also gives spare
 * blocks back that the bucket does not need.  False: that was the last step.
 */
bool bucket_collect(struct bucket *b, struct wakeup *w, struct visit *v);

/*
 * Puts back n entries that the driver has taken, the last one first, into the
 * lanes of the old.  Returns how many are left, at the beginning of e, because
 * there is no memory for them.
 */
size_t bucket_put(struct bucket *b, struct wakeup *w, const struct entry *e,
		  size_t n);

/*
 * Makes the recycled slots free, so that schedule calls can take them.  True:
 * there will be some memory to give back.
 */
bool bucket_flush(struct bucket *b);

/* Gives spare blocks back that the bucket does not need. */
void bucket_give_surplus(struct bucket *b);

/* Takes out the first block of the lane with the most; NULL: there is none. */
struct block *bucket_take_oldest(struct bucket *b);

/*
 * The time is now: for distances, and to know which deadlines may have passed.
 * Under the lock.
 */
void bucket_set_time(struct bucket *b, const struct wakeup *w, int64_t now);

/* To be called when `nearest` was changed.  Under the lock. */
void bucket_set_doubtful(struct bucket *b, const struct wakeup *w);

/* So many blocks are opened in less than half a millisecond. */
#define BLOCKS_FEW 16

/*
 * When the driver must visit the lane: when its first arrival is due; if it has
 * more than a few blocks, earlier.  For if deadlines are in no order, each of
 * these blocks has an arrival that is due soon, and the driver needs time to
 * open all of them.  (Nobody announces this for a lane that grows by blocks
 * that became empty in another.)  Under the lock.
 */
int64_t bucket_visit_at(const struct bucket *b, const struct lane *l);

/* The bucket's memory, with itself, without blocks.  Under the lock. */
size_t bucket_bytes(const struct bucket *b);
