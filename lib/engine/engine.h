/* SPDX-License-Identifier: MIT */
/*
 * The engine of an instance: the parts that its timers go through, and what the
 * driver needs from one turn to the next.  What a turn does is in turn.h.
 *
 * Any thread may use the parts that say so.  The rest is the driver's own, and
 * there is one driver at a time.
 */
#pragma once

#include "engine/await.h"
#include "engine/cap.h"
#include "engine/inside.h"
#include "intake/sweep.h"
#include "pending/pending.h"

/* How far reclaiming has come; see reclaim.h.  Times by CLOCK_MONOTONIC. */
struct reclaim {
	bool if_told;   /* constant: only much that is dead begins a round */
	int64_t began;  /* the last round; before that: engine_open */
	int64_t window; /* when this window began; see store/vacancy.h */
	int64_t due;    /* the driver must be awake then; INT64_MAX: never */
	int64_t pause;  /* from one round to the next; 0: there was none */
	/* A round. */
	bool active;               /* it has begun, and has not ended */
	bool told;                 /* much is dead; see garbage.h */
	bool ends;                 /* the window ends with it */
	struct bucket_set buckets; /* buckets whose turn has not come yet */
	uint32_t used;             /* slots in use when it began */
	uint64_t live;             /* timers that it has seen */
	uint64_t freed;            /* dead ones that it has freed */
	bool again; /* there may be something to do in the next round */
	bool found; /* there was in this one */
	/* A bucket's turn. */
	struct bucket *bucket; /* NULL: none */
	bool stuck;            /* its lock was, so the next step waits */
	bool sweeps;           /* it is being swept */
	struct sweeping sweep;
	unsigned lanes; /* that are left to sift; the last one is next */
	uint32_t sifts; /* blocks of that lane; 0: its turn has not begun */
};

/* The hook for callbacks that ran longer than the threshold; see fire.h. */
struct slow {
	int64_t threshold;         /* INT64_MAX: there is no hook */
	timerthread_slow_fn *hook; /* if there is one */
	void *ctx;
};

struct engine {
	/*
	 * The generation (see fork.h) that started it; FORK_NO_GENERATION: it
	 * was not started.  Written under the instance's mutex, read by any
	 * thread.
	 */
	atom32 started_by;
	/*
	 * The same, if its calls may take the short way: there is no cap, and
	 * no tool (tool.h).  Else FORK_NO_GENERATION.
	 */
	atom32 short_way;
	/* Constant once started_by is set. */
	struct intake *intake;        /* NULL: the engine is not open */
	struct timerthread *instance; /* the instance of this engine */
	struct watch watch;           /* its clock; only the driver sets it */
	/*
	 * As executor_hand_over, if timers are handed over to an executor.
	 * Else NULL.
	 */
	bool (*hand_over)(struct timerthread *instance, struct slot *s);
	struct task_id task_id;
	struct slow slow;
	int64_t dispatch_time; /* of a turn; 0: as long as it takes */
	/*
	 * For any thread: they have their own locks.  The part of the cap that
	 * calls read is constant as the above, and in the same cache lines.
	 */
	struct cap cap;
	struct wakeup wakeup __attribute__((aligned(TT_FAR_APART)));
	struct await await;
	struct inside inside; /* the function that the driver has called */
	/* The driver's own, but any thread may read the counts. */
	struct counter ended;      /* timers that ended with its run of them */
	struct measured *measured; /* of those runs */
	struct moment moment;      /* when the last one ended */
	bool back_to_back;         /* the next one begins at that moment */
	atomword pending_bytes;    /* after the last turn, or engine_open */
	struct pending pending;
	struct reclaim reclaim;
	int64_t began; /* this turn, if dispatch_time is set */
	int64_t until; /* timers that are due later do not run in this batch */
	bool cut;      /* the time was over before the batch was */
	int steps;     /* in this turn, before a timer has run */
	int64_t next;  /* none in pending is due earlier; or see turn.h */
	int ran;       /* in this turn; INT_MAX: that many or more */
	size_t effort; /* in this turn, on what is not due; in entries */
	bool again;    /* the next turn begins immediately */
	/*
	 * 1: the structures are being changed.  Written by the driver, read in
	 * a child of fork(2).
	 */
	atom32 busy;
	/*
	 * 1: the instance was destroyed, and the last one that leaves frees it.
	 * Written under the instance's mutex.  Threads in callbacks read it
	 * without: one that knows of the destroy, because it called it or was
	 * told, finds 1.
	 */
	atom32 destroyed;
};

/*
 * fork(2) waits until all CPUs have finished their pending writes, so only the
 * compiler must keep the order.  (A compare-and-swap would also wait for
 * earlier writes.  Simulated, that cost inline callbacks 8 % more, and an
 * executor 24 %.)
 */
static inline void engine_set_busy(struct engine *e)
{
	atom32_store(&e->busy, 1);
	keep_order();
}

/* Release: all changes are written before it, for engine_close. */
static inline void engine_set_idle(struct engine *e)
{
	atom32_store_release(&e->busy, 0);
}

/* Not open after that; allocates no memory. */
INTERNAL void engine_init(struct engine *e, struct timerthread *instance);

/*
 * Makes what the first turn needs, and allocates memory for a reserve of so
 * many timers.  The watch, the slack and the constant members must be set
 * before.  polled: the driver is an event loop.  Returns 0, or a negative
 * errno: then engine_close frees what was made.
 */
INTERNAL int engine_open(struct engine *e, uint32_t buckets, size_t reserve,
			 bool polled);

/*
 * The end of an attempt to cancel the timer in s, with the result r of slot.h.
 * Gives back its place and, if it was unarmed, its slot.  Returns as
 * timerthread_cancel.
 */
static inline int engine_cancelled(struct engine *e, struct slot *s, int r)
{
	if (unlikely(r == SLOT_LEFT)) {
		bucket_give(intake_bucket(e->intake, s->index), s);
		r = 0;
	}
	if (likely(r == 0))
		cap_give(&e->cap);
	return r;
}

/*
 * Frees what engine_open made.  inherited: in a child of fork(2).  Threads that
 * do not exist there may have been changing some of this; what they were
 * changing is left alone, and its memory is lost.
 */
INTERNAL void engine_close(struct engine *e, bool inherited);
