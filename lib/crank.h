/* SPDX-License-Identifier: MIT */
/*
 * The crank of the engine: a turn fetches timers from the buckets and runs
 * those that are due.  Who turns it, a thread of its own say, is the driver.  A
 * driver may set a limit, a time beyond which nothing is due yet: that of a
 * virtual clock's next stop, or of the beginning of a dispatch.
 *
 * Guarantees:
 *  1. A timer never runs before its deadline, and of those that are due and
 *     were scheduled before the last one ran, the earliest runs next.
 *  2. The buckets are emptied when one may hold a timer earlier than all that
 *     the engine has, or asks for it.  When nothing is due it tidies; see
 *     tidy.h.
 *  3. A burst holds up what is due by the time it takes to fetch it, and then
 *     by a block's sorting at a time.
 *  4. Callbacks run with no lock held.
 *  5. After wakeup_stop at most one more callback begins.
 *  6. A batch ends, whatever callbacks schedule: once it has fetched what was
 *     due when it began, it runs nothing else, and what is armed again for a
 *     time up to the limit goes back to the buckets.  Of what is to be done
 *     for timers that are not due it does a part, and leaves the rest to the
 *     next batch, which is to begin at once.
 *
 * One thread at a time, the driver's.
 */
#ifndef TT_CRANK_H
#define TT_CRANK_H

#include "engine.h"

/*
 * Runs all that is due by the limit; then e->next is the deadline to sleep
 * until, or INT64_MIN: not to sleep; and e->ran says how many ran.  False: a
 * callback has returned in a child of fork(2), where all of this may be gone.
 */
bool crank(struct engine *e, int64_t limit);

#endif
