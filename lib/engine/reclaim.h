/* SPDX-License-Identifier: MIT */
/*
 * Reclaiming: the driver sweeps the buckets (intake/sweep.h) for cancelled
 * timers that no call has found, gives memory back, and gives timers an entry
 * that had none for lack of memory.
 *
 * It does so in rounds, through all buckets.  One clock says when: a steady
 * one, whatever the instance's clock.  (With a wall clock, the driver's sleep
 * is on that clock, so it lasts longer if the clock is set back meanwhile.)
 *
 * Guarantees:
 *  1. A round begins when the driver was told that there is much garbage
 *     (garbage.h); or if the driver is awake, and the last one was
 *     RECLAIM_PERIOD_NS ago.
 *  2. The driver wakes up for a round as long as there will be something to
 *     give back, or many slots are in use: after RECLAIM_PERIOD_NS, or up to 8
 *     times later if it wakes up again and again for nothing.  So what a peak
 *     left behind goes back within some seconds, or some ten if its timers have
 *     lived for long.
 *  3. If the driver was told, all slots are swept.  Otherwise there is a look
 *     for each RECLAIM_LOOK_NS that has passed, shared between the buckets;
 *     looks cost nothing where half of the timers are dead.  The next round
 *     goes on there.  This costs a CPU a thousandth of its time.
 *  4. A step is some 256 looks, or gives back 64 KiB, or sifts a block of
 *     entries, or gives one timer an entry.
 *  5. A bucket whose lock is held is swept when the lock is free.
 *
 * Entries become stale when a slot is swept.  If a bucket has far more entries
 * than timers, the driver sifts its lanes: it takes out block by block, and
 * puts back what is of use.
 *
 * The driver.
 */
#pragma once

#include "engine/engine.h"

#define RECLAIM_LOOK_NS 5000

/* So long that what it costs to give memory back and to get it is nothing. */
#define RECLAIM_PERIOD_NS INT64_C(1000000000)
#define RECLAIM_REST_NS   (8 * RECLAIM_PERIOD_NS)

/* One step.  False: there is nothing to do now. */
INTERNAL bool reclaim_step(struct engine *e);

/* Slots became free: a round is owed, which may give their memory back. */
INTERNAL void reclaim_owe(struct reclaim *t);

/* When the driver must be awake for a round; INT64_MAX: no round is owed. */
INTERNAL int64_t reclaim_at(struct engine *e);
