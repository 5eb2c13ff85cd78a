/* SPDX-License-Identifier: MIT */
/*
 * Reports to the program a callback that ran longer than it should.
 *
 * The hook is called where the callback was, when that has returned and the
 * timer is not over yet: a thread that waits for the callback waits for the
 * hook, too.  The rules for a callback hold for the hook.
 *
 * The thread that runs the timer.
 */
#ifndef TT_SLOW_H
#define TT_SLOW_H

#include "engine/engine.h"

/* False: as inside_call. */
bool slow_report(struct engine *e, struct inside *in, const struct run *run,
		 int64_t run_time);

#endif
