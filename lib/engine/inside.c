/* SPDX-License-Identifier: MIT */
/*
 * A callback can ask which it is without knowing the instance: for that each
 * thread has a record of its own.  It is a copy, and refers to nothing that
 * goes when the callback is over: a task may have left this thread by then.
 */
#include "config.h"

#include "engine/inside.h"
#include "os/call.h"
#include "os/fork.h"
#include "os/report.h"

#include <pthread.h>
#include <stddef.h>

struct current {
	const struct inside *in; /* which call it is; NULL: none */
	struct timerthread *tt;
	struct run run;
	uint32_t generation; /* see fork.h */
	struct task_id task_id;
	uintptr_t who;
};

static _Thread_local struct current current;

uintptr_t inside_who(const struct task_id *t)
{
	uintptr_t task = t->fn ? t->fn(t->ctx) : 0;

	return likely(task == 0) ? (uintptr_t)pthread_self() : task;
}

/* Not inlined: the address of what is the thread's own is another one then. */
static TT_NOINLINE void leave(const struct inside *in,
			      const struct current *outer,
			      const struct task_id *t)
{
	if (likely(current.in == in))
		current = *outer;
	else if (!t->fn)
		report_once("a callback ended on another thread than it began "
			    "on: see timerthread_set_task_id(3)");
}

bool inside_call(struct timerthread *tt, struct inside *in,
		 const struct task_id *t, const struct run *run,
		 timerthread_fn *fn, void *arg)
{
	const struct task_id task_id = *t;
	const struct current outer = current;
	const uint32_t generation = fork_generation();
	const uintptr_t who = inside_who(t);

	current = (struct current){in, tt, *run, generation, task_id, who};
	in->id = run->id;
	atomword_store(&in->who, who);
	call_to_return(fn, arg);
	leave(in, &outer, &task_id);
	if (unlikely(generation != fork_generation()))
		return false;
	atomword_store(&in->who, 0);
	return true;
}

const struct run *inside_current(struct timerthread **ret_tt)
{
	const struct current *c = &current;

	if (!c->in || c->run.id == 0 || c->generation != fork_generation() ||
	    (c->task_id.fn && c->who != inside_who(&c->task_id)))
		return NULL;
	*ret_tt = c->tt;
	return &c->run;
}
