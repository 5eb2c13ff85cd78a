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
#include "engine/inside.h"
#include "engine/measure.h"
#include "intake/bucket_set.h"
#include "intake/cap.h"
#include "intake/intake.h"
#include "intake/wakeup.h"
#include "os/counter.h"
#include "os/watch.h"
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
	bool ended;                /* its last lane has come to its end once */
};

/* What is called for a callback that ran longer than this; see slow.h. */
struct slow {
	int64_t threshold;         /* INT64_MAX: there is none */
	timerthread_slow_fn *hook; /* where there is one */
	void *ctx;
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
	struct watch watch;           /* its clock; only the driver sets it */
	/*
	 * Where timers are not run but handed over: as executor_hand_over.
	 * Else NULL.
	 */
	bool (*hand_over)(struct timerthread *instance, struct slot *s);
	struct task_id task_id;
	struct slow slow;
	/*
	 * Any thread's: they have locks of their own.  What the calls read of
	 * the cap is constant as the above, and lies in the same lines.
	 */
	struct cap cap;
	struct wakeup wakeup __attribute__((aligned(TT_FAR_APART)));
	struct await await;
	struct inside inside; /* the function that the driver has called */
	/* The driver's own; any thread reads what is counted. */
	struct counter fired;      /* runs on its thread, which have ended */
	struct counter ended;      /* timers that ended with such a run */
	struct measured *measured; /* of those runs */
	struct moment moment;      /* when the last one ended */
	bool chained;              /* and the next one begins right after it */
	atomword pending_bytes;    /* after the last turn */
	struct pending pending;
	struct reclaim reclaim;
	int64_t until; /* nothing that is due later runs in this turn */
	int64_t next;  /* the first deadline that pending has; or see turn.h */
	int ran;       /* in this turn; INT_MAX: that many or more */
	unsigned refreshed; /* in this turn */
	size_t effort;      /* in this turn, for what is not due; in entries */
	/*
	 * 1: the structures are being changed.  Written by the driver, read in
	 * a child of fork(2).
	 */
	atom32 busy;
};

/*
 * fork(2) waits until all CPUs have written what they were about to, so it is
 * the compiler alone that must keep the order.  (A compare-and-swap would also
 * wait for what was written before; simulated, inline callbacks took 8 % more
 * with it, and an executor 24 %.)
 */
static inline void engine_set_busy(struct engine *e)
{
	atom32_store(&e->busy, 1);
	keep_order();
}

/* Release: what was changed is written before, for engine_close_inherited. */
static inline void engine_set_idle(struct engine *e)
{
	atom32_store_release(&e->busy, 0);
}

/* Not open; takes no memory. */
void engine_init(struct engine *e, struct timerthread *instance);

/*
 * Makes what the first turn needs, once the watch, the slack and all that is
 * constant are set; polled: the driver is an event loop.  0, or a negative
 * errno: then it is not open.
 */
int engine_open(struct engine *e, uint32_t buckets, bool polled);

/* Takes memory for n timers, after that.  False: there is none. */
bool engine_reserve(struct engine *e, size_t n);

/* Frees what engine_open made. */
void engine_close(struct engine *e);

/*
 * The same in a child of fork(2).  Threads that are not here were changing some
 * of this; what was just being changed is left alone, and lost.
 */
void engine_close_inherited(struct engine *e);

/* Waits until nobody waits in it, and frees all that is left. */
void engine_destroy(struct engine *e);

#endif
