/* SPDX-License-Identifier: MIT */
/*
 * Tidying: while the driver is awake for another reason, it finds what was
 * cancelled where nobody comes by any more.
 *
 * Elsewhere who schedules pays for looks at other timers (rent.h), and what is
 * sorted or runs (sweep.h); here it is the time that passes.
 *
 * Guarantees:
 *  1. It begins once in TIDY_NS at most, or when the wall clock was set back,
 *     and the driver is not woken for it.
 *  2. Each TIDY_LOOK_NS pays for a look at what is in the buckets, and for one
 *     at what is pending; it goes on while it finds much, and otherwise ends
 *     when it has been around once.  So among n timers the cancelled ones are
 *     found about n times TIDY_LOOK_NS later, if the driver is awake then, and
 *     cost a CPU some thousandths of its time.  But each bucket that holds any
 *     has its share: where nearly all are in one of many, it takes as many
 *     times longer.  Where there are so many buckets that time does not pay for
 *     a step in each, it begins less often.
 *  3. A step is a few looks, or a block of entries.
 *  4. What is in a bucket stays there: to fetch what is far from due, and may
 *     soon be cancelled, would cost ten times as much.  But timers on their way
 *     back (away.h) are fetched, some at a time.
 *
 * The driver's thread.
 */
#ifndef TT_TIDY_H
#define TT_TIDY_H

#include "bucket_set.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Short enough that what was cancelled does not pile up between pauses; long
 * enough that visiting idle buckets costs nothing.
 */
#define TIDY_NS      10000000
#define TIDY_LOOK_NS 50000

struct engine;

struct tidy {
	int64_t began;             /* the last time; or the engine, before */
	uint64_t pause;            /* not again before so much has passed */
	bool active;               /* it began, and has not ended */
	struct bucket_set buckets; /* whose turn it is still to come */
	uint32_t n;                /* how many those are */
	uint64_t paid;             /* looks for them */
	uint32_t bucket;           /* that which has its turn now */
	uint64_t left;             /* looks for that; 0: none has */
	uint64_t looks;            /* for what is pending */
};

/* One step.  False: there is nothing to do now. */
bool tidy_step(struct engine *e);

#endif
