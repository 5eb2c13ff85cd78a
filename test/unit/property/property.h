/* SPDX-License-Identifier: MIT */
/*
 * An instance on a virtual clock, held against a sorted list: whatever is
 * chosen, each timer runs at its deadline, in its turn, as often as it should,
 * and what the calls return is what the list says.
 *
 * Here is what a test calls.  The calls are in calls.c, what a callback does in
 * callback.c, questions about the instance in ask.c and text.c, calls that must
 * fail in wrong.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * An instance whose clock will show now at first, with options as they are
 * chosen.  endless: it is never stopped, nor comes time to its end.
 */
void property_begin(int64_t now, bool endless);

/* Timers until there are as many as the list can have. */
void property_crowd(void);

/* So many calls at most; and while there are choices. */
void property_run(uint64_t steps);

/* Runs all that is left, and destroys. */
void property_end(void);
