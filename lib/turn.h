/* SPDX-License-Identifier: MIT */
/*
 * A call of the user's that turns the engine.
 *
 * Guarantee: from a turn_begin that returned 0 to the turn_end no other turn
 * begins, and the instance is not freed.  Who comes while a turn ends waits
 * for that, and is not refused.
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
void turn_end(struct timerthread *tt);

#endif
