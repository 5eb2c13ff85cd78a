/* SPDX-License-Identifier: MIT */
/*
 * Firing: what is done with the first entry when it is due.  Its timer is
 * handed over to the thread that runs it, this one or one of an executor; or it
 * is put back; or the timer is over, and the entry is dropped.
 *
 * A callback that ran longer than it should is reported to the program.  The
 * thread or task that ran it calls the hook, after the callback has returned
 * and before the timer is over.  So a thread that waits for the callback waits
 * for the hook, too.  The rules for a callback hold for the hook.
 *
 * The driver.  run: the thread that runs the timer.
 */
#pragma once

#include "engine/engine.h"

/* The result of a step of the engine. */
enum step {
	STEP_MORE,   /* there is another step to take */
	STEP_RAN,    /* the same, and this step has run a callback */
	STEP_DONE,   /* there is no other step to take */
	STEP_FORKED, /* this is a child of fork(2); e may be gone */
};

/* Fires the entry that pending_next has found.  MORE, RAN or FORKED. */
INTERNAL enum step fire(struct engine *e);

/* For a function of the program that is told of a run. */
struct report {
	const struct slow *slow;
	const struct run *run;
	int64_t run_time;
};

/* Calls the function; arg is a struct report. */
INTERNAL void fire_report(void *arg);

/*
 * Runs the timer in s, which was handed over to the caller: calls its callback,
 * and then ends it, or arms it again.  If the timer was cancelled, disarmed or
 * moved, it does not run.  Fills in *t, but the driver sets t->begun.  False: a
 * function of the program returned in a child of fork(2), where e may be gone.
 * The thread that runs the timer; `in` is where it shows that, and the engine's
 * own for the driver.
 */
INTERNAL bool fire_run(struct engine *e, struct inside *in, struct slot *s,
		       struct timing *t);
