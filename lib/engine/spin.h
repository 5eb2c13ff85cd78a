/* SPDX-License-Identifier: MIT */
/*
 * The last moment before a deadline, where timers must be on time: the kernel
 * ends a sleep 5 to 100 us late, so the driver ends it before the deadline, and
 * watches the clock for the rest.
 *
 * Guarantees:
 *  1. It spins only for a timer that was live when it began to, and for no
 *     longer than the spin that was set.
 *  2. While it spins an earlier timer that is scheduled is noticed at once, and
 *     takes no system call.
 *
 * The driver, with a timer thread.
 */
#ifndef TT_SPIN_H
#define TT_SPIN_H

#include "engine/engine.h"

#include <stdbool.h>

/*
 * After a turn.  If a live timer is due within the spin: returns when it is, or
 * when something else needs a turn.  False: none is.
 */
bool spin_until_due(struct engine *e);

#endif
