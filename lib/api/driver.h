/* SPDX-License-Identifier: MIT */
/*
 * A call of the program that drives: it has the engine take a turn.
 *
 * Guarantee: from a driver_begin that returned 0 to the driver_end no other
 * turn begins, and the instance is not freed.  A call that comes while a
 * turn ends waits for that, and is not refused.
 *
 * Any thread.
 */
#ifndef TT_DRIVER_H
#define TT_DRIVER_H

#include "api/instance.h"

/*
 * 0, or why not: -EINVAL: this is not the driver, or not valid; -ECHILD;
 * -ESHUTDOWN; -EBUSY: another turn goes on, or the caller is a callback.
 */
int driver_begin(struct timerthread *tt, enum driver driver, bool valid);
void driver_end(struct timerthread *tt);

/* A task may have changed its thread in a callback, and with that its errno. */
void driver_restore_errno(int saved);

#endif
