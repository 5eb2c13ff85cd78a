/* SPDX-License-Identifier: MIT */
/*
 * Calls of the user's functions: callbacks, hooks, an executor's submit.
 *
 * Some calls of the library are different, or forbidden, within such a
 * function.  So it is written down which thread is in it; or which task of an
 * executor, which may block in one thread and go on in another, if the user has
 * said how to ask for it (see timerthread_set_task_id).
 *
 * Guarantees:
 *  1. A task finds that it is in a function exactly while it is, on whatever
 *     thread.  So does a thread, where no task changes its thread.
 *  2. Where tasks do, and the user has not said how to ask for them, the
 *     answers are wrong, but no memory is used that is not there; the first
 *     task that is seen is reported.
 *  3. A function that is left in another way than by returning ends the
 *     process, with a message: what called it cannot go on.
 *  4. Any thread can see which timer's callback is running, since when, and
 *     with which argument, and does not wait for that.
 *  5. A child of fork(2) is not in the functions that were called before the
 *     fork: it has this thread's stack, but what it creates may get the address
 *     of what it has destroyed.
 *
 * inside_call: the thread that calls the function.  Any thread: look; for
 * itself: the rest.
 */
#ifndef TT_INSIDE_H
#define TT_INSIDE_H

#include "engine/measure.h"
#include "os/atomic.h"
#include "os/base.h"
#include "os/word64.h"
#include "timerthread.h"

#include <stdbool.h>

/* How to ask for the task; constant once the instance was started. */
struct task_id {
	timerthread_task_id_fn *fn; /* NULL: threads are all there is */
	void *ctx;
};

/* A run of a timer. */
struct run {
	timerthread_id id; /* 0: it is not one of a timer */
	uint64_t overrun;  /* deadlines that were skipped just before it */
	/* What others see of it, where it is one: when it began, and what. */
	struct moment since;
	timerthread_fn *fn;
	void *arg;
};

/* What can be seen of it from outside. */
struct sighting {
	timerthread_id id;
	struct moment since;
	timerthread_fn *fn;
	void *arg;
};

/*
 * A function that is running.  The thread or task that is in it writes this,
 * and others may read: they find another one there, or none.
 */
struct inside {
	atomword who; /* 0: nobody */
	/*
	 * Odd: it is a timer's callback, and the rest is that.  A reader that
	 * finds the same odd number before and after the rest has what belongs
	 * together.
	 */
	atom32 runs;
	struct word64 id;    /* 0: it is not for a timer */
	struct word64 shown; /* since.shown, and since.steady */
	struct word64 steady;
	atomword fn;
	atomword arg;
};

/* The calling task, or thread; never 0. */
uintptr_t inside_who(const struct task_id *t);

/*
 * Is the caller in this call, or in that for this timer?  A caller that is
 * finds what it wrote itself; for all others the answer is no, however old the
 * values that they find.
 */
static inline bool inside_is(const struct inside *in, uintptr_t who,
			     timerthread_id id)
{
	return atomword_load(&in->who) == who &&
	       (id == 0 || word64_load_acquire(&in->id) == id);
}

/* Which callback is running there now?  False: none.  Any thread. */
bool inside_look(const struct inside *in, struct sighting *ret);

/*
 * Calls fn(arg) for the instance, in which `in` is.  False: it returned in a
 * child of fork(2), where the instance may be gone.
 */
bool inside_call(struct timerthread *tt, struct inside *in,
		 const struct task_id *t, const struct run *run,
		 timerthread_fn *fn, void *arg);

/*
 * The innermost call on this thread, if it is one for a timer, and is the
 * caller's; else NULL.  Good until the caller returns to it.
 */
const struct run *inside_current(struct timerthread **ret_tt);

#endif
