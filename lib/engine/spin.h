/* SPDX-License-Identifier: MIT */
/*
 * The last moment before a deadline, if timers must be on time.  The kernel
 * ends a sleep 5 to 100 us late.  So the driver ends its sleep before the
 * deadline, and watches the clock for the rest of the time.
 *
 * Guarantees:
 *  1. The driver spins only for a timer that was live when the spin began, and
 *     no longer than the spin that was set.
 *  2. If an earlier timer is scheduled while the driver spins, the driver
 *     notices that immediately, and no system call is needed.
 *
 * The driver, if it is a timer thread.
 */
#ifndef TT_SPIN_H
#define TT_SPIN_H

#include "engine/engine.h"

#include <stdbool.h>

/*
 * To be called after a turn.  If the deadline of a live timer comes within the
 * spin, returns true when it has come, or when something else needs a turn.
 * False: there is no such timer.
 */
bool spin_until_due(struct engine *e);

#endif
