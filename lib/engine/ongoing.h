/* SPDX-License-Identifier: MIT */
/*
 * Whether a call in a task is still going on.  A thread keeps a record of the
 * call.  The record may outlive it, because it may end on another thread.
 *
 * The call and the record both hold the object; the last one to let go frees
 * it.
 *
 * Any thread.
 */
#ifndef TT_ONGOING_H
#define TT_ONGOING_H

#include "base/atomic.h"
#include "timerthread.h"

/* How to ask for the task; constant once the instance is started. */
struct task_id {
	timerthread_task_id_fn *fn; /* NULL: there are only threads */
	void *ctx;
};

struct ongoing {
	atom32 holders;         /* 2, until the call or the record lets go */
	struct task_id task_id; /* constant */
	uintptr_t who;          /* the task; constant */
};

/* NULL: no memory. */
struct ongoing *ongoing_begin(const struct task_id *t, uintptr_t who);

/* The call has ended, or the record is deleted.  o may be NULL. */
void ongoing_forget(struct ongoing *o);

/*
 * For a thread that has the record.  Acquire: pairs with the addition in
 * ongoing_forget.
 */
static inline bool ongoing_is(const struct ongoing *o)
{
	return atom32_load_acquire(&o->holders) == 2;
}

#endif
