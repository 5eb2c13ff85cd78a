/* SPDX-License-Identifier: MIT */
/*
 * An executor of the program, which runs callbacks on threads of its choice.
 *
 * A timer that expires is handed over to the executor (see expiry.h), and is
 * pending until the executor makes its callback begin.  So a cancel or a
 * reschedule that comes in between is like any other: it finds a pending timer.
 *
 * Guarantees:
 *  1. A callback that begins is counted as running until it has ended and its
 *     timer is rearmed or freed.  No callback begins after a stop.
 *  2. The instance is not freed before the executor has called everything that
 *     was submitted to it, and these calls no longer use the instance.
 */
#pragma once

#include "api/instance.h"

/*
 * Submits the timer in s, which is handed over, to the executor.  If the
 * executor refuses it, runs it here.  False: a function of the user has
 * returned in a child of fork(2).  The driver.
 */
INTERNAL bool executor_hand_over(struct timerthread *tt, struct slot *s);
