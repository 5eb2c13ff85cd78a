/* SPDX-License-Identifier: MIT */
/*
 * A turn of the engine: the engine visits the buckets in which something is
 * due, and runs the timers that are due.  The driver makes the engine take its
 * turns.  It is a thread of the instance's own, an event loop, or a test with a
 * virtual clock.
 *
 * A turn is a batch.  The driver says for which time: what the clock shows now,
 * or what a virtual clock is set to.  All timers that are due by then and were
 * there at the beginning run, in the order of their deadlines.  Timers that
 * arrive meanwhile are for the next turn.  So a callback that schedules for "as
 * soon as possible" again and again does not delay other timers.
 *
 * If a turn may take only so long, its batch may be cut.  Then the next turn
 * begins with the rest of it: what came later, with whatever deadline, does not
 * run before that.
 *
 * The kernel ends a sleep 5 to 100 us late.  If timers must be on time, the
 * driver ends its sleep before the deadline, and spins: it watches the clock
 * for the rest of the time.
 *
 * Guarantees:
 *  1. A timer never runs before its deadline, and the timers of a turn run in
 *     the order of their deadlines.
 *  2. A bucket is visited when its earliest arrival is due, or some time before
 *     if it has many.  Timers that are far from due stay in it.  When nothing
 *     more is due, the engine reclaims (reclaim.h), and opens a block ahead of
 *     its time.  (With a spin, a sleep that ends for a visit may end in
 *     another: then blocks are opened when they are due.)
 *  3. A timer that is due waits until the rows of the timers that arrived with
 *     it (queue.h) are read, about ten nanoseconds for each 255 timers; after
 *     that, for the opening of one block at a time.
 *  4. Callbacks run with no lock held.
 *  5. After wakeup_stop, at most one more callback begins.
 *  6. A turn does a part of the work for timers that are not due, and leaves
 *     the rest to the next turn, which should begin immediately.
 *  7. If its time is over, it takes no other step, but for TURN_STEPS of them
 *     if no timer has run: so each turn gets on.  (The rows are read in any
 *     case, see 3.)
 *  8. The driver spins only for a timer that was live when the spin began, and
 *     no longer than the spin that was set.
 *  9. If an earlier timer is scheduled while the driver spins, the driver
 *     notices that immediately, and no system call is needed.
 *
 * The driver; to spin, if it is a timer thread.
 */
#pragma once

#include "engine/engine.h"

/* So many steps take less than half a millisecond. */
#define TURN_STEPS 8

/*
 * Runs all timers that are due by `until`, which is no later than now.  Then
 * e->next is the first deadline of the timers that were taken out of the
 * buckets; or earlier, if they are very many; or INT64_MIN: the driver must not
 * sleep.  e->ran says how many ran.  False: a callback has returned in a child
 * of fork(2), where all of this may be freed.
 */
INTERNAL bool engine_turn(struct engine *e, int64_t until);

/*
 * The deadline of the earliest timer of all, or `limit` if none is due by then.
 * May take timers out of their buckets; e->next is the first deadline of those
 * that were taken out.
 */
INTERNAL int64_t engine_next(struct engine *e, int64_t limit);

/*
 * To be called after a turn.  If the deadline of a live timer comes within the
 * spin, returns true when it has come, or when something else needs a turn.
 * False: there is no such timer.
 */
INTERNAL bool spin_until_due(struct engine *e);
