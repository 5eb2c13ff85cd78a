/* SPDX-License-Identifier: MIT */
/*
 * A turn of the engine: it visits the buckets in which something is due, and
 * runs what is.  The driver has the engine take its turns: it is a thread of
 * the instance's own, an event loop, or a test with a virtual clock.
 *
 * A turn is a batch.  The driver says until when: by the time that the clock
 * shows now, or that a virtual clock is set to.  All that is due by then and
 * was there at the beginning runs, in the order of deadlines; what arrives
 * meanwhile is for the next turn.  So a callback that schedules again and again
 * for as soon as possible holds up no others.
 *
 * Guarantees:
 *  1. A timer never runs before its deadline, and those of a turn run in the
 *     order of their deadlines.
 *  2. A bucket is visited when its earliest arrival is due.  Timers that are
 *     far from due stay there.  When nothing is due any more the engine
 *     reclaims; see reclaim.h.
 *  3. A timer that is due waits for the rows of those that arrived with it
 *     (queue.h), some ten nanoseconds for each 255, and then for a block's
 *     opening at a time.
 *  4. Callbacks run with no lock held.
 *  5. After wakeup_stop at most one more callback begins.
 *  6. A turn does a part of the work for timers that are not due, and leaves
 *     the rest to the next one, which should begin at once.
 *
 * The driver.
 */
#ifndef TT_TURN_H
#define TT_TURN_H

#include "engine/engine.h"

/*
 * Runs all that is due by `until`, which is no later than now.  Then e->next is
 * the first deadline of what was taken out of the buckets, or INT64_MIN: not to
 * sleep; and e->ran says how many ran.  False: a callback has returned in a
 * child of fork(2), where all of this may be freed.
 */
bool engine_turn(struct engine *e, int64_t until);

/*
 * The deadline of the earliest timer of all; if none is due by `limit`, that.
 * May take some out of their buckets: e->next is the first deadline of those.
 */
int64_t engine_next(struct engine *e, int64_t limit);

#endif
