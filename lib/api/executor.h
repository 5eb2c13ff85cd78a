/* SPDX-License-Identifier: MIT */
/*
 * An executor of the program, which runs callbacks on threads of its choice.
 *
 * A timer that expires is handed over to it (see handover.h), and is pending
 * until the executor has its callback begin.  So a cancel or a reschedule that
 * comes between is as any other: it finds a timer that is pending.
 *
 * Guarantees:
 *  1. A callback that begins is counted as running until it is over and its
 *     timer is rearmed or freed.  None begins after a stop.
 *  2. The instance is not freed before the executor has called all that was
 *     submitted to it, and these calls have done all that they do with it.
 */
#ifndef TT_EXECUTOR_H
#define TT_EXECUTOR_H

#include "api/instance.h"

/*
 * Submits the timer in s, which is handed over, to the executor; if that
 * refuses, runs it here.  False: in a child of fork(2), where a function of the
 * user's has returned.  The driver.
 */
bool executor_hand_over(struct timerthread *tt, struct slot *s);

#endif
