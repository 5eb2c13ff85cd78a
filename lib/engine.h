/* SPDX-License-Identifier: MIT */
/*
 * The engine: fetches timers from the buckets and runs those that are due.
 * Whoever turns it, a thread of its own say, is its driver.  A driver may set
 * a limit, a time beyond which nothing is due yet: that of a virtual clock's
 * next stop, or of the beginning of a dispatch.
 *
 * Guarantees:
 *  1. A timer never runs before its deadline, and of those that are due and
 *     were scheduled before the last one ran, the earliest runs next.
 *  2. The buckets are visited when one may hold a timer earlier than all that
 *     the engine has; and, to give back what was cancelled there, at most
 *     once in TIDY_NS while it is awake for another reason.
 *  3. A burst holds up what is due by the time it takes to fetch it, and then
 *     by a block's sorting at a time.
 *  4. Callbacks run with no lock held.
 *  5. After wakeup_stop at most one more callback begins.
 *  6. A batch ends, whatever callbacks schedule: once it has fetched what was
 *     due when it began, it runs nothing else, and what is armed again for a
 *     time up to the limit goes back to the buckets.
 *
 * One thread at a time, the driver's.
 */
#ifndef TT_ENGINE_H
#define TT_ENGINE_H

#include "await.h"
#include "clock.h"
#include "intake.h"
#include "limit.h"
#include "pending.h"
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
	bool batch; /* see guarantee 6 */
};

struct engine {
	struct engine_parts parts;
	struct pending pending;
	int64_t limit; /* INT64_MAX: none */
	int64_t now;   /* the clock when it was last read, or the limit */
	int64_t tidied;
	int64_t next;   /* what pending_next said last */
	unsigned fired; /* callbacks so far */
	int ran;        /* since engine_run began; INT_MAX: that many or more */
	bool over;      /* nothing more runs in this batch */
	unsigned settled;   /* since engine_run began */
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

/*
 * Runs all that is due by the limit; then e->next is the deadline to sleep
 * until, and e->ran says how many ran.  False: a callback has returned in a
 * child of fork(2), where all of this may be gone.
 */
bool engine_run(struct engine *e, int64_t limit);

#endif
