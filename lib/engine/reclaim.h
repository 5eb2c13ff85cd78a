/* SPDX-License-Identifier: MIT */
/*
 * Reclaiming: while the driver is awake for another reason, it looks for
 * cancelled timers where no call looks for them any more.
 *
 * Elsewhere, each call that schedules a timer looks at other timers (rent.h).
 * Here, the number of looks depends on the time that has passed.
 *
 * Guarantees:
 *  1. It begins at most once in RECLAIM_NS, and when the wall clock was set
 *     back.  The driver is not woken for it.
 *  2. There is one look for each RECLAIM_LOOK_NS that has passed.  A bucket's
 *     turn goes on while the looks find much.  Otherwise it ends when the
 *     bucket's looks are used up, or when all its lanes have been visited.  So
 *     among n timers, the cancelled ones are found about n times
 *     RECLAIM_LOOK_NS later, if the driver is awake then.  This costs a CPU a
 *     few thousandths of its time.  But each bucket that has ever been used has
 *     an equal share of the looks: if nearly all timers are in one of many
 *     buckets, finding them takes that many times longer.  If there are so many
 *     buckets that the looks are not enough for a step in each, it begins less
 *     often.
 *  3. A step is a few looks.
 *
 * The driver.
 */
#ifndef TT_RECLAIM_H
#define TT_RECLAIM_H

#include "engine/engine.h"

/*
 * Short enough that cancelled timers do not pile up meanwhile; long enough that
 * visiting idle buckets costs nothing.
 */
#define RECLAIM_NS      10000000
#define RECLAIM_LOOK_NS 50000

/* One step.  False: there is nothing to do now. */
bool reclaim_step(struct engine *e);

#endif
