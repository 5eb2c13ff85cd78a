/* SPDX-License-Identifier: MIT */
/*
 * Reclaiming: while the driver is awake for another reason, it finds timers
 * that were cancelled where no call looks any more.
 *
 * Elsewhere each call that schedules looks at other timers (rent.h).  Here the
 * number of looks follows from the time that passes.
 *
 * Guarantees:
 *  1. It begins once in RECLAIM_NS at most, or when the wall clock was set
 *     back, and the driver is not woken for it.
 *  2. There is one look for each RECLAIM_LOOK_NS that has passed.  It goes on
 *     while it finds much, and otherwise ends when it has been around a
 *     bucket's lanes.  So among n timers the cancelled ones are found about n
 *     times RECLAIM_LOOK_NS later, if the driver is awake then, and cost a CPU
 *     some thousandths of its time.  But each bucket that has ever been used
 *     has its share: where nearly all are in one of many, it takes as many
 *     times longer.  Where there are so many buckets that the looks do not
 *     suffice for a step in each, it begins less often.
 *  3. A step is a few looks.
 *
 * The driver.
 */
#ifndef TT_RECLAIM_H
#define TT_RECLAIM_H

#include "engine/engine.h"

/*
 * Short enough that what was cancelled does not pile up between pauses; long
 * enough that visiting idle buckets costs nothing.
 */
#define RECLAIM_NS      10000000
#define RECLAIM_LOOK_NS 50000

/* One step.  False: there is nothing to do now. */
bool reclaim_step(struct engine *e);

#endif
