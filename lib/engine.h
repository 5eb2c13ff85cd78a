/* SPDX-License-Identifier: MIT */
/*
 * The engine: fetches timers from the buckets and runs those that are due.
 * Whoever turns it, a thread of its own say, is its driver.
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
 *
 * One thread at a time, the driver's.
 */
#ifndef TT_ENGINE_H
#define TT_ENGINE_H

#include "await.h"
#include "intake.h"
#include "limit.h"
#include "pending.h"
#include "wakeup.h"

/* What an engine works on; it owns none of it. */
struct engine_parts {
	struct intake *intake;
	struct wakeup *wakeup;
	struct await *await;
	struct limit *limit;
	clockid_t clock;
};

struct engine {
	struct engine_parts parts;
	struct pending pending;
	int64_t now; /* the clock when it was last read */
	int64_t tidied;
	int64_t next;         /* what pending_next said last */
	unsigned fired;       /* callbacks so far */
	unsigned settled;     /* since engine_run began */
	struct slot *running; /* whose callback runs now */
	/*
	 * 1: the structures are being changed.  Written by the driver, read in
	 * a child of fork(2).
	 */
	atom32 busy;
};

/* False: no memory. */
bool engine_init(struct engine *e, const struct engine_parts *parts);
void engine_destroy(struct engine *e);

/* Runs all that is due.  Returns the deadline to sleep until. */
int64_t engine_run(struct engine *e);

/* Is this timer's callback the one that runs now? */
bool engine_is_running(const struct engine *e, uint64_t id);

#endif
