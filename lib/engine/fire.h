/* SPDX-License-Identifier: MIT */
/*
 * Firing: what is done with the first entry when it has come up.  Its timer
 * is run, handed over to an executor, or put back; or it is over.
 *
 * The driver; call and conclude: the thread that runs the timer.
 */
#ifndef TT_FIRE_H
#define TT_FIRE_H

#include "engine/engine.h"

/* What has become of a step of the engine. */
enum step {
	STEP_MORE,   /* there is another one to take */
	STEP_RAN,    /* so there is, and this one has run a callback */
	STEP_DONE,   /* there is none */
	STEP_FORKED, /* this is a child of fork(2); e may be gone */
};

/* The entry is the one that pending_next found.  MORE, RAN or FORKED. */
enum step fire(struct engine *e);

/*
 * Calls the callback of the timer that has begun in s, at t->begun; fills in
 * the rest of *t.  False: it returned in a child of fork(2), where e may be
 * gone.
 * The thread that runs the timer.
 */
bool fire_call(struct engine *e, struct inside *in, struct slot *s,
	       uint64_t overrun, struct timing *t);

/* The callback has returned, and the timer does not run again. */
void fire_conclude(struct engine *e, struct slot *s);

#endif
