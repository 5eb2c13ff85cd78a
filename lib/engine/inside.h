/* SPDX-License-Identifier: MIT */
/*
 * Calls of the user's functions: callbacks, hooks, an executor's submit.
 *
 * Some calls of the library behave differently, or are forbidden, in such a
 * function.  So the thread that is in it is recorded.  An executor may have
 * tasks that block on one thread and continue on another.  If the user has said
 * how to ask for the task (see timerthread_set_task_id), the task is recorded
 * instead.
 *
 * Guarantees:
 *  1. A task finds that it is in a function exactly while it is in it, on
 *     whatever thread.  The same holds for a thread, if no task changes its
 *     thread.
 *  2. If tasks change their thread, and the user has not said how to ask for
 *     the task, the answers are wrong, but no freed memory is used.  The first
 *     such task that is noticed is reported.
 *  3. If a function is left in another way than by returning, the process ends
 *     with a message, because the caller of the function cannot go on.
 *  4. Any thread can see, without waiting, which timer's callback is running,
 *     since when, and with which argument.
 *  5. A child of fork(2) is not in the functions that were called before the
 *     fork.  It has the stack of the thread that forked, but an instance that
 *     it creates may get the address of one that it has destroyed.
 *
 * call: the thread that calls the function.  look: any thread.  The rest: any
 * thread, for itself.
 */
#pragma once

#include "engine/measure.h"
#include "timerthread.h"

/* How to ask for the task; constant once the instance is started. */
struct task_id {
	timerthread_task_id_fn *fn; /* NULL: there are only threads */
	void *ctx;
};

/* A run of a timer. */
struct run {
	timerthread_id id; /* 0: it is not a timer's */
	uint64_t overrun;  /* deadlines skipped just before it; not shown */
	/*
	 * What others see of a timer's run: when it began, by CLOCK_MONOTONIC,
	 * and what runs.
	 */
	int64_t since;
	timerthread_fn *fn;
	void *arg;
};

/*
 * A function that is running.  The thread or task that is in it writes this.
 * Others may read it: they find in it another thread or task, or none.
 */
struct inside {
	atomword who; /* 0: no thread or task */
	/*
	 * Odd: a timer's callback is running, and the rest describes it.  If a
	 * reader finds the same odd number before and after it reads the rest,
	 * it has read values that belong together.
	 */
	atom32 version;
	struct word64 id; /* 0: it is not for a timer */
	struct word64 since;
	atomword fn;
	atomword arg;
};

/* The calling task, or thread; never 0. */
INTERNAL uintptr_t inside_who(const struct task_id *t);

/*
 * Is the caller in this function (id is not 0: and is it for this timer)?  A
 * caller that is in it finds values that it wrote itself.  For all others the
 * answer is no, however old the values that they find.
 */
static inline bool inside_is(const struct inside *in, uintptr_t who,
			     timerthread_id id)
{
	return atomword_load(&in->who) == who &&
	       (id == 0 || word64_load_acquire(&in->id) == id);
}

/* Which callback is running there now?  False: none.  Any thread. */
INTERNAL bool inside_look(const struct inside *in, struct run *ret);

/*
 * Calls fn(arg) for the instance, and records in `in` that the caller is in it.
 * False: it returned in a child of fork(2), where the instance may be gone.
 */
INTERNAL bool inside_call(struct timerthread *tt, struct inside *in,
			  const struct task_id *t, const struct run *run,
			  timerthread_fn *fn, void *arg);

/* A call, as its thread records it. */
struct current {
	const struct inside *in; /* which call it is; NULL: none */
	struct timerthread *tt;
	timerthread_id id; /* 0: nobody can ask for it */
	uint64_t overrun;
	struct task_call *task_call; /* NULL: it is not in a task */
	uint32_t generation;         /* see fork.h */
};

/* The innermost call on this thread. */
INTERNAL TT_THREAD_LOCAL struct current this_call;

/*
 * The innermost call on this thread, if it is for a timer and the caller is in
 * it; else NULL.  Valid until the called function returns.
 */
INTERNAL const struct current *inside_current(void);
