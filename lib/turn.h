/* SPDX-License-Identifier: MIT */
/*
 * A call of the user's that turns the engine.
 *
 * Guarantee: from a turn_begin that returned 0 to the turn_end no other turn
 * begins, and the instance is not freed.
 *
 * Any thread.
 */
#ifndef TT_TURN_H
#define TT_TURN_H

#include "instance.h"

/*
 * 0, or why not: -EINVAL: this is not the driver, or not valid; -ECHILD;
 * -ESHUTDOWN; -EBUSY: another turn goes on, or the caller is a callback.
 */
int turn_begin(struct timerthread *tt, enum driver driver, bool valid);

/*
 * False: another one was refused since the turn began, or since this was called
 * last.  Then it has not ended: that other may have been called for by the last
 * thing that this turn has done, which is to be done again.
 */
bool turn_end(struct timerthread *tt);

#endif
