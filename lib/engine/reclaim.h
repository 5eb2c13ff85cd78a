/* SPDX-License-Identifier: MIT */
/*
 * Reclaiming: the driver sweeps the buckets (intake/sweep.h) for cancelled
 * timers that no call has found, and gives memory back.
 *
 * It does so in rounds, through all buckets.  One clock says when: a steady
 * one, whatever the instance's clock.  (With a wall clock, the driver's sleep
 * is on that clock, so it lasts longer if the clock is set back meanwhile.)
 *
 * Guarantees:
 *  1. A round sweeps all slots.  It begins when the driver was told that there
 *     is much garbage (garbage.h); or if the driver is awake, and the pause
 *     since the last one is over, or one is owed, because slots became free; on
 *     a virtual clock, only when it was told, and all slots stay.
 *  2. The driver wakes up for a round that is owed, or as long as there is more
 *     memory than should stay (a few timers may keep it), or many slots are in
 *     use.
 *  3. The pause is RECLAIM_SLOT_NS for each slot in use, but at least
 *     RECLAIM_WINDOW_NS: so up to four million timers cost a CPU less than a
 *     hundredth of its time.  It is RECLAIM_WINDOW_NS after a round that freed
 *     one for RECLAIM_MUCH that live, and becomes longer after rounds that find
 *     nothing.  It is never longer than RECLAIM_MOST_NS: so what a peak left
 *     behind goes back within some ten seconds.
 *  4. A step is some 256 looks, or a page, or gives back 64 KiB, or sifts a
 *     block of entries.  A round needs as many turns as it takes, one right
 *     after the other: some 25 ms for four million slots.
 *  5. A step does not begin while a thread is preempted with the bucket's lock:
 *     it is tried again in the next turn, after a millisecond at most.  (Beside
 *     64 threads that schedule and cancel, on two CPUs, a timer of 1 ms that
 *     another thread scheduled ran 0 to 111 times a second when steps waited,
 *     and 863 to 1,006 times so.)
 *
 * Entries become stale when a slot is swept.  If a bucket has far more entries
 * than timers, the driver sifts its lanes: it takes out block by block, each
 * once, and puts back what is of use.
 *
 * The driver.
 */
#pragma once

#include "engine/engine.h"

/* A slot that is in no cache is looked at in some ten nanoseconds. */
#define RECLAIM_SLOT_NS 2000

/* So many timers are worth looking at for one that is dead. */
#define RECLAIM_MUCH 8

/* So long that what it costs to give memory back and to get it is nothing. */
#define RECLAIM_WINDOW_NS INT64_C(1000000000)
#define RECLAIM_MOST_NS   (8 * RECLAIM_WINDOW_NS)

/* One step.  False: there is nothing to do now. */
INTERNAL bool reclaim_step(struct engine *e);

/* Slots became free: a round is owed, which may give their memory back. */
INTERNAL void reclaim_owe(struct engine *e);

/* When the driver must be awake for a round; INT64_MAX: no round is owed. */
INTERNAL int64_t reclaim_at(struct engine *e);
