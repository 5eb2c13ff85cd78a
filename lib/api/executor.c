/* SPDX-License-Identifier: MIT */
#include "api/executor.h"
#include "base/keep.h"
#include "engine/fire.h"
#include "intake/handover.h"
#include "os/tool.h"

struct offer {
	struct timerthread *tt;
	struct slot *s;
	int r; /* the result */
};

/* The instance is being stopped or destroyed: other threads may wait. */
static TT_NOINLINE void leave_run_slow(struct timerthread *tt, bool running)
{
	pthread_mutex_lock(&tt->mutex);
	if (running)
		tt->runs.running--;
	if (!runs_count_called(&tt->runs))
		tt->runs.called++;
	instance_leave(tt);
}

/* A run's last use of tt, which may be freed then. */
static void leave_run(struct timerthread *tt, bool counted)
{
	if (!counted || !runs_count_called(&tt->runs))
		leave_run_slow(tt, !counted);
}

/* Returns when the timer was due. */
static int64_t finish_on_executor(struct timerthread *tt, struct bucket *b,
				  struct slot *s)
{
	struct engine *e = &tt->engine;
	int64_t due;
	bool lives_on = handover_rearm(b, &e->wakeup, s, &due) != EXPIRY_OVER;

	/* First: a thread that sees the timer's end can use the place. */
	if (!lives_on)
		cap_give(&e->cap);
	if (lives_on || handover_end(b, s, &due))
		await_wake(&e->await, s);
	return due;
}

/* False: in a child of fork(2). */
static bool run_on_executor(struct timerthread *tt, struct slot *s,
			    struct running *running)
{
	struct engine *e = &tt->engine;
	struct bucket *b = intake_bucket(e->intake, s->index);
	uint64_t overrun = 0;

	if (handover_begin(b, &e->wakeup, s, &overrun) != EXPIRY_RUN)
		return true;
	running->timing.begun = moment_now(&e->watch);
	if (!fire_call(e, &running->inside, s, overrun, &running->timing))
		return false;
	running->due = finish_on_executor(tt, b, s);
	running->ran = true;
	return true;
}

static bool enter_and_run(struct timerthread *tt, struct slot *s)
{
	struct running running;
	/* Else the instance was stopped; the timer stays as it is. */
	bool open = runs_begin(&tt->runs, &running);

	if (open && !run_on_executor(tt, s, &running))
		return false;
	if (open)
		tool_release(&tt->runs);
	if (instance_told(tt, 0) < 0)
		return false;
	leave_run(tt, !open || runs_end(&running));
	return true;
}

/* The executor calls this. */
static void run_submitted(void *arg)
{
	struct slot *s = arg;
	struct timerthread *tt = s->instance;

	if (instance_inherited(tt))
		return;
	KEEP_THREAD_UNLESS(tt->engine.task_id.fn);
	enter_and_run(tt, s);
}

static void submit(void *arg)
{
	struct offer *o = arg;
	const struct submitting *s = &o->tt->options.submitting;

	o->r = s->fn(s->ctx, run_submitted, o->s);
}

bool executor_hand_over(struct timerthread *tt, struct slot *s)
{
	const struct run none = {0};
	struct engine *e = &tt->engine;
	struct offer o = {tt, s, 0};

	tt->runs.given++;
	s->instance = tt;
	if (!inside_call(tt, &e->inside, &e->task_id, &none, submit, &o))
		return false;
	return o.r >= 0 || enter_and_run(tt, s);
}
