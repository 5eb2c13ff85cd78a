/* SPDX-License-Identifier: MIT */
/*
 * The deadlines that a timer may have had: of its schedule call, of each move
 * that returned 0, and, where it repeats, of each step from one run to the
 * next.  At any moment that one holds which was set last; of several that
 * overlap, any may have been.
 */
#pragma once

#include "history.h"

/*
 * Complains about runs that were early, deadlines that were never set, and
 * overruns that are not what was skipped; about a timer that was due before the
 * last one and is left; and about who was told that all timers are due later
 * than this one.
 */
void check_deadlines(const struct history *h);
