/* SPDX-License-Identifier: MIT */
/*
 * The engine: all that a driver has between its turns.  What it does with it
 * is in crank.h.
 *
 * One thread at a time, the driver's; but `gone` is any thread's.
 */
#ifndef TT_ENGINE_H
#define TT_ENGINE_H

#include "await.h"
#include "clock.h"
#include "intake.h"
#include "limit.h"
#include "pending.h"
#include "tidy.h"
#include "virtual.h"
#include "wakeup.h"

/* What an engine works on; it owns none of it. */
struct engine_parts {
	struct intake *intake;
	struct wakeup *wakeup;
	struct await *await;
	struct limit *limit;
	struct timerthread *instance; /* whose callbacks these are */
	clockid_t clock;
	struct virtual_clock *virtual; /* NULL: it is the former */
	/*
	 * Where timers are not run but handed over: as executor_hand_over.
	 * Else NULL.
	 */
	bool (*hand_over)(struct timerthread *instance, struct slot *s);
	bool batch; /* see guarantee 6 of crank.h */
};

struct engine {
	struct engine_parts parts;
	struct pending pending;
	int64_t limit; /* INT64_MAX: none */
	int64_t now;   /* the clock when it was last read, or the limit */
	struct tidy tidy;
	int64_t next;       /* what pending_next said last; or see crank */
	unsigned fired;     /* entries that were due, so far */
	int ran;            /* in this turn; INT_MAX: that many or more */
	bool over;          /* nothing more runs in this batch */
	unsigned settled;   /* in this turn */
	size_t effort;      /* in this turn, for what is not due; in entries */
	uint32_t forgotten; /* of `gone`, those that are accounted for */
	/*
	 * 1: the structures are being changed.  Written by the driver, read in
	 * a child of fork(2).
	 */
	atom32 busy;
	/* Timers that were handed over and are over.  Any thread adds to it. */
	atom32 gone __attribute__((aligned(TT_FAR_APART)));
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
	return e->parts.virtual ? virtual_now(e->parts.virtual)
				: clock_now(e->parts.clock);
}

/* False: no memory. */
bool engine_init(struct engine *e, const struct engine_parts *parts);
void engine_destroy(struct engine *e);

/* Takes in a chain of timers that are back in bucket b; returns how many. */
size_t engine_take_back(struct engine *e, struct bucket *b, struct slot *back);

/* What was handed over and is over needs no place in the heap any more. */
void engine_forget(struct engine *e);

#endif
