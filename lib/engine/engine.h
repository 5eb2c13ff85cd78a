/* SPDX-License-Identifier: MIT */
/*
 * The engine of an instance: the parts that its timers go through, and what the
 * driver needs from one turn to the next.  What a turn does is in turn.h.
 *
 * Any thread uses the parts that say so; the rest is the driver's own, and
 * there is one driver at a time.
 */
#ifndef TT_ENGINE_H
#define TT_ENGINE_H

#include "engine/await.h"
#include "engine/virtual.h"
#include "intake/bucket_set.h"
#include "intake/cap.h"
#include "intake/intake.h"
#include "intake/wakeup.h"
#include "os/clock.h"
#include "pending/pending.h"

/* How far reclaiming has come; see reclaim.h. */
struct reclaim {
	int64_t began;             /* the last time; or the engine, before */
	uint64_t pause;            /* not again before so much has passed */
	bool active;               /* it began, and has not ended */
	struct bucket_set buckets; /* whose turn it is still to come */
	uint32_t n;                /* how many those are */
	uint64_t paid;             /* looks for them */
	uint32_t bucket;           /* that which has its turn now */
	uint64_t left;             /* looks for that; 0: none has */
	uint64_t looks;            /* for what was collected */
};

struct engine {
	/*
	 * The generation (see fork.h) in which it was started; 0: it was not.
	 * Written under the instance's mutex, read by any thread.
	 */
	atom32 born;
	/* Constant once born is set. */
	struct intake *intake;        /* NULL: it was not opened */
	struct timerthread *instance; /* whose callbacks these are */
	clockid_t clock;              /* a real one, to sleep on */
	struct virtual_clock
		*virtual; /* shows the time in its place, or NULL */
	bool batch;       /* see guarantee 6 of turn.h */
	/*
	 * Where timers are not run but handed over: as executor_hand_over.
	 * Else NULL.
	 */
	bool (*hand_over)(struct timerthread *instance, struct slot *s);
	/* Any thread's: they have locks of their own. */
	struct cap cap;
	struct wakeup wakeup;
	struct await await;
	/* The driver's own. */
	struct pending pending;
	int64_t until; /* nothing that is due later runs in this turn */
	int64_t now;   /* the clock when it was last read, or `until` */
	struct reclaim reclaim;
	int64_t next;        /* what pending_next said last; or see turn.h */
	unsigned fired;      /* entries that were due, so far */
	int ran;             /* in this turn; INT_MAX: that many or more */
	bool over;           /* nothing more runs in this batch */
	unsigned refreshed;  /* in this turn */
	size_t effort;       /* in this turn, for what is not due; in entries */
	uint32_t unreserved; /* of `ended`, those that have no place any more */
	/*
	 * 1: the structures are being changed.  Written by the driver, read in
	 * a child of fork(2).
	 */
	atom32 busy;
	/* Timers that were handed over and are over.  Any thread adds to it. */
	atom32 ended __attribute__((aligned(TT_FAR_APART)));
};

/* The compare-and-swap keeps the compiler from moving stores before it. */
static inline void engine_set_busy(struct engine *e)
{
	(void)atom32_swap_acquire(&e->busy, 0, 1);
}

static inline void engine_set_idle(struct engine *e)
{
	atom32_store_release(&e->busy, 0);
}

static inline int64_t engine_clock(const struct engine *e)
{
	return e->virtual ? virtual_now(e->virtual) : clock_now(e->clock);
}

/* Not open; takes no memory. */
void engine_init(struct engine *e, struct timerthread *instance);

/*
 * Makes what the first turn needs, once the clock, the slack and all that is
 * constant are set; polled: the driver is an event loop.  0, or a negative
 * errno: then it is not open.
 */
int engine_open(struct engine *e, uint32_t buckets, bool polled);

/* Frees what engine_open made, and the virtual clock. */
void engine_close(struct engine *e);

/*
 * The same in a child of fork(2).  Threads that are not here were changing some
 * of this; what was just being changed is left alone, and lost.
 */
void engine_close_inherited(struct engine *e);

/* Waits until nobody waits in it, and frees all that is left. */
void engine_destroy(struct engine *e);

/* Takes a chain of rearmed timers of bucket b; returns how many. */
size_t engine_take_rearmed(struct engine *e, struct bucket *b,
			   struct slot *rearmed);

/* The places of timers that were handed over and are over become free. */
void engine_unreserve(struct engine *e);

#endif
