/* SPDX-License-Identifier: MIT */
/*
 * A callback can ask which timer it runs, without knowing the instance.  For
 * that, each thread has a record of its own.  The record is a copy, and refers
 * to nothing that is freed when the callback ends, because the task may have
 * left this thread by then.  An object that the call and the record both hold
 * says whether the call has ended; the last one to let go frees it.
 */
#include "engine/inside.h"
#include "base/keep.h"
#include "base/text.h"
#include "os/call.h"
#include "os/fork.h"
#include "os/memory.h"

INTERNAL_OBJECT TT_THREAD_LOCAL struct current this_call = {.in = NULL};

/* When a thread ends, its record is deleted.  Constant once loaded. */
static pthread_key_t key;
static bool has_key;

/* 1: it was said that a task has changed its thread. */
static atom32 reported;

/* A call in a task. */
struct task_call {
	atom32 holders;         /* 2, until the call or the record lets go */
	struct task_id task_id; /* constant */
	uintptr_t who;          /* the task; constant */
};

/* The call has ended, or the record is deleted.  o may be NULL. */
static void task_call_forget(struct task_call *o)
{
	/* Pairs with itself: the thread that frees it comes after the other. */
	if (o && atom32_add(&o->holders, UINT32_MAX) == 1)
		memory_free(o);
}

/*
 * For a thread that has the record.  Acquire: pairs with the addition in
 * task_call_forget.
 */
static bool task_call_is(const struct task_call *o)
{
	return atom32_load_acquire(&o->holders) == 2;
}

static void forget_all(void *arg)
{
	(void)arg;
	task_call_forget(this_call.task_call);
	this_call = (struct current){.in = NULL};
}

__attribute__((constructor)) static void make_key(void)
{
	has_key = pthread_key_create(&key, forget_all) == 0;
}

/* NULL: no memory, or no key. */
static struct task_call *task_call_begin(const struct task_id *t, uintptr_t who)
{
	struct task_call *o;

	if (!has_key || pthread_setspecific(key, &this_call) != 0)
		return NULL;
	o = memory_alloc(sizeof(*o));
	if (o)
		*o = (struct task_call){
			.holders = 2, .task_id = *t, .who = who};
	return o;
}

struct question {
	const struct task_id *t;
	uintptr_t task; /* the answer */
};

static void ask(void *arg)
{
	struct question *q = arg;

	q->task = q->t->fn(q->t->ctx);
}

static TT_NOINLINE uintptr_t ask_task(const struct task_id *t)
{
	KEEP_THREAD;
	struct question q = {t, 0};

	(void)call_to_return(ask, &q);
	return q.task;
}

uintptr_t inside_who(const struct task_id *t)
{
	uintptr_t task = unlikely(t->fn != NULL) ? ask_task(t) : 0;

	return likely(task == 0) ? (uintptr_t)pthread_self() : task;
}

/*
 * Not inlined: on another thread, the address of this_call is another one.  If
 * the call ends on another thread than it began on, that thread's record stays,
 * and the object of `outer` is let go.
 */
static TT_NOINLINE void leave_call(const struct inside *in,
				   const struct current *outer, bool has_tasks,
				   struct task_call *task_call)
{
	if (likely(this_call.in == in)) {
		task_call_forget(this_call.task_call);
		this_call = *outer;
	} else {
		task_call_forget(outer->task_call);
		if (!has_tasks && atom32_swap(&reported, 0, 1) == 0)
			report("a callback ended on another thread than it "
			       "began on: see timerthread_set_task_id(3)");
	}
	task_call_forget(task_call);
}

static struct current enter_call(struct timerthread *tt,
				 const struct inside *in,
				 const struct task_id *t, uintptr_t who,
				 const struct run *run)
{
	struct task_call *o = NULL;
	timerthread_id id = run->id;

	/* Only a timer's run can be asked for, and no task's without memory. */
	if (unlikely(t->fn != NULL) && id != 0 &&
	    !(o = task_call_begin(t, who)))
		id = 0;
	return (struct current){in, tt, id, run->overrun, o, fork_generation()};
}

/*
 * Shows what is running.  Release: pairs with the loads in inside_look.  So a
 * thread that sees a part of this also sees that the number has changed.
 */
static void show_run(struct inside *in, const struct run *run)
{
	word64_store_release(&in->id, run->id);
	if (run->id == 0)
		return;
	word64_store_release(&in->since, (uint64_t)run->since);
	atomword_store_release(&in->fn, (uintptr_t)run->fn);
	atomword_store_release(&in->arg, (uintptr_t)run->arg);
	atom32_store_release(&in->version, atom32_load(&in->version) + 1);
}

/* Relaxed: what is shown next is released after it. */
static void hide_run(struct inside *in)
{
	uint32_t version = atom32_load(&in->version);

	if (version % 2)
		atom32_store(&in->version, version + 1);
}

/* Acquire: each load pairs with the store in show_run. */
bool inside_look(const struct inside *in, struct run *ret)
{
	uint32_t version;

	do {
		version = atom32_load_acquire(&in->version);
		if (version % 2 == 0)
			return false;
		*ret = (struct run){
			.id = word64_load_acquire(&in->id),
			.since = (int64_t)word64_load_acquire(&in->since),
			.fn = (timerthread_fn *)atomword_load_acquire(&in->fn),
			.arg = (void *)atomword_load_acquire(&in->arg),
		};
	} while (atom32_load(&in->version) != version);
	return true;
}

/* Not inlined: as leave_call.  The caller may run several. */
TT_NOINLINE bool inside_call(struct timerthread *tt, struct inside *in,
			     const struct task_id *t, const struct run *run,
			     timerthread_fn *fn, void *arg)
{
	const uintptr_t who = inside_who(t);
	const bool has_tasks = t->fn != NULL;
	const struct current mine = enter_call(tt, in, t, who, run);
	const struct current outer = this_call;
	bool same_process;

	this_call = mine;
	show_run(in, run);
	/* Relaxed: only its writer finds itself there. */
	atomword_store(&in->who, who);
	same_process = call_to_return(fn, arg);
	leave_call(in, &outer, has_tasks, mine.task_call);
	if (unlikely(!same_process))
		return false;
	hide_run(in);
	atomword_store(&in->who, 0);
	return true;
}

const struct current *inside_current(void)
{
	const struct current *c = &this_call;
	const struct task_call *o = c->task_call;

	if (!c->in || c->id == 0 || c->generation != fork_generation() ||
	    (o && !(task_call_is(o) && o->who == inside_who(&o->task_id))))
		return NULL;
	return c;
}
