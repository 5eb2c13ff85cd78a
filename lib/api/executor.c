/* SPDX-License-Identifier: MIT */
/*
 * An executor of the program, which runs callbacks on threads of its choice.
 *
 * A timer that expires is handed over to the executor (see expiry.h), and is
 * pending until the executor makes its callback begin.  So a cancel or a
 * reschedule that comes in between is like any other: it finds a pending timer.
 *
 * Guarantees:
 *  1. A callback that begins is counted as running until it has ended and its
 *     timer is rearmed or freed.  No callback begins after a stop.
 *  2. The instance is not freed before the executor has called everything that
 *     was submitted to it, and these calls no longer use the instance.
 */
#include "api/instance.h"
#include "base/keep.h"
#include "engine/fire.h"
#include "os/tool.h"

struct offer {
	struct slot *s;
	int r; /* the result */
};

/* A run's last use of tt, which may be freed then. */
static void leave_run(struct timerthread *tt, bool counted)
{
	if (likely(counted) && runs_count_called(&tt->runs))
		return;
	/* It is being stopped or destroyed: other threads may wait. */
	pthread_mutex_lock(&tt->mutex);
	if (!counted)
		tt->runs.running--;
	if (!runs_count_called(&tt->runs))
		tt->runs.called++;
	instance_leave(tt);
}

static bool enter_and_run(struct timerthread *tt, struct slot *s)
{
	struct running running;
	/* Else the instance was stopped; the timer stays as it is. */
	bool open = runs_begin(&tt->runs, &running);

	if (open && !fire_run(&tt->engine, &running.inside, s, &running.timing))
		return false;
	if (open)
		tool_release(&tt->runs);
	if (instance_announced(tt, 0) < 0)
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

static void call_submit(void *arg)
{
	struct offer *o = arg;
	const struct submitting *to = &o->s->instance->options.submitting;

	o->r = to->fn(to->ctx, run_submitted, o->s);
}

bool executor_hand_over(struct timerthread *tt, struct slot *s)
{
	const struct run none = {0};
	struct engine *e = &tt->engine;
	struct offer o = {s, 0};

	tt->runs.given++;
	s->instance = tt;
	if (!inside_call(tt, &e->inside, &e->task_id, &none, call_submit, &o))
		return false;
	return o.r >= 0 || enter_and_run(tt, s);
}
