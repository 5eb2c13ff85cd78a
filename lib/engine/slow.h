/* SPDX-License-Identifier: MIT */
/*
 * Reports a callback that ran longer than it should to the program.
 *
 * The thread or task that ran the callback calls the hook, after the callback
 * has returned and before the timer is over.  So a thread that waits for the
 * callback waits for the hook, too.  The rules for a callback hold for the
 * hook.
 *
 * The thread that runs the timer.
 */
#ifndef TT_SLOW_H
#define TT_SLOW_H

#include "engine/engine.h"

/* False: as from inside_call. */
bool slow_report(struct engine *e, struct inside *in, const struct run *run,
		 int64_t run_time);

#endif
