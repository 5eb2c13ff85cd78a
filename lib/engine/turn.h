/* SPDX-License-Identifier: MIT */
/*
 * A turn of the engine: it collects timers from the buckets and runs those that
 * are due.  Who has the engine take its turns is the driver: a thread of its
 * own, an event loop, or a test with a virtual clock.  The driver says until
 * when: nothing that is due later runs.  That is the time to which a virtual
 * clock is advanced, or the beginning of a dispatch; a thread has no such time.
 *
 * Guarantees:
 *  1. A timer never runs before its deadline, and of those that are due and
 *     were scheduled before the last one ran, the earliest runs next.
 *  2. The buckets are emptied when one may hold a timer earlier than all that
 *     the engine has, or asks for it.  When nothing is due the engine
 *     reclaims; see reclaim.h.
 *  3. A burst holds up what is due by the time it takes to collect it, and then
 *     by a block's filing at a time.
 *  4. Callbacks run with no lock held.
 *  5. After wakeup_stop at most one more callback begins.
 *  6. A batch, which is a turn for an event loop, ends whatever callbacks
 *     schedule: once it has collected what was due when it began, it runs
 *     nothing else, and what is armed again for a time up to then goes to the
 *     buckets.  Of what is to be done for timers that are not due it does a
 *     part, and leaves the rest to the next batch, which is to begin at once.
 *
 * The driver.
 */
#ifndef TT_TURN_H
#define TT_TURN_H

#include "engine/engine.h"

/*
 * Runs all that is due by `until`, INT64_MAX: by the time that the clock shows.
 * Then e->next is the deadline to sleep until, or INT64_MIN: not to sleep; and
 * e->ran says how many ran.  False: a callback has returned in a child of
 * fork(2), where all of this may be freed.
 */
bool engine_turn(struct engine *e, int64_t until);

#endif
