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
 *     back; and see 4.
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
 *  3. A step is a few looks, or gives back 64 KiB, or gives one timer an entry
 *     that had none for lack of memory.
 *  4. If the driver was told that many slots are in use (garbage.h), it begins
 *     at once, and goes on in a bucket until all lanes have been visited if
 *     most timers there are dead.
 *  5. Once in RECLAIM_PERIOD_NS, if the driver is awake then, memory that is
 *     more than enough is given back (trim.h).  As long as there will be more
 *     of that, or many slots are in use, the driver wakes up for it: after that
 *     time, or up to 8 times later if there was nothing to do.  So what a peak
 *     left behind goes back within some 15 seconds after its timers were
 *     cancelled, however long it lasted, if no thread walks through all timers
 *     (cancel_matching, dump) all the time.
 *  6. It waits for no bucket's lock but when it gives back or makes room.  A
 *     bucket whose lock is held has its turn later: for 4 and 5 that may be up
 *     to 8 times RECLAIM_PERIOD_NS.
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

/* So long that what it costs to give memory back and to get it is nothing. */
#define RECLAIM_PERIOD_NS INT64_C(1000000000)
#define RECLAIM_REST_NS   (8 * RECLAIM_PERIOD_NS)

/* One step.  False: there is nothing to do now. */
bool reclaim_step(struct engine *e);

/* When the driver must wake up, for a timer or for this. */
static inline int64_t reclaim_or_next(const struct engine *e)
{
	return e->reclaim.next < e->next ? e->reclaim.next : e->next;
}

#endif
