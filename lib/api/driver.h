/* SPDX-License-Identifier: MIT */
/*
 * A call of the program that is the driver: it makes the engine take a turn.
 *
 * Guarantee: from a driver_begin that returned 0 to the driver_end, no other
 * turn begins, and the instance is not freed.  A call that comes while a turn
 * is ending waits for the end, and is not refused.
 *
 * Any thread.
 */
#ifndef TT_DRIVER_H
#define TT_DRIVER_H

#include "api/instance.h"

/*
 * Returns 0 or an error.  -EINVAL: the instance has another driver, or none, or
 * an argument is not valid.  -ECHILD.  -ESHUTDOWN.  -EBUSY: another turn is
 * going on, or the caller is a callback.
 */
int driver_begin(struct timerthread *tt, enum driver driver, bool valid);

/* Also for a timer thread, after its last turn: its last use of tt. */
void driver_end(struct timerthread *tt);

#endif
