/* SPDX-License-Identifier: MIT */
/*
 * Which functions of the user's the calling thread is in: it keeps a chain of
 * them on its stack.
 *
 * Comparing thread ids would not do: that of a thread that was joined goes to
 * the next one that is created, and callbacks may run on any thread.
 *
 * Guarantees:
 *  1. What was called before fork(2) is not what the child is in: it has this
 *     thread's stack, but what it creates may get the address of what it has
 *     destroyed.
 *
 * Any thread, for itself.
 */
#ifndef TT_INSIDE_H
#define TT_INSIDE_H

#include "os/base.h"
#include "timerthread.h"

#include <stdbool.h>

/* A run of a timer. */
struct run {
	timerthread_id id;
	uint64_t overrun; /* deadlines that were skipped just before it */
};

/*
 * Calls fn(arg) for an instance, for a run of a timer, or NULL.  False: it
 * returned in a child of fork(2), where the instance may be gone.
 */
bool inside_call(struct timerthread *instance, const struct run *run,
		 timerthread_fn *fn, void *arg);

/* The innermost call, and its instance; NULL: it is not one for a timer. */
const struct run *inside_current(struct timerthread **ret_instance);

/* Is the caller within a call for this instance? */
bool inside_instance(const struct timerthread *instance);

/* Is it within one for this timer? */
bool inside_timer(const struct timerthread *instance, timerthread_id id);

#endif
