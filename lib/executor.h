/* SPDX-License-Identifier: MIT */
/*
 * An executor of the user's, which runs callbacks where it likes.
 *
 * It gets a slot; the timer in it is away (see away.h), and pending until
 * the executor has its callback begin.  So nothing is to be said of a cancel or
 * a move that comes between: they find a timer that is pending.
 *
 * Guarantees:
 *  1. A callback that begins is counted as running until all that this thread
 *     does with the instance is done.  None begins after a stop.
 *  2. The instance is not freed before the executor has called all that it has
 *     taken.
 */
#ifndef TT_EXECUTOR_H
#define TT_EXECUTOR_H

#include "instance.h"

/*
 * Gives the timer in s, which is away, to the executor; if that refuses, runs
 * it here.  False: in a child of fork(2), where a function of the user's has
 * returned.  The driver's thread.
 */
bool executor_hand_over(struct timerthread *tt, struct slot *s);

#endif
