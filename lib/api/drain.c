/* SPDX-License-Identifier: MIT */
/*
 * Taking back many timers: all that wait, or those that match.
 *
 * Both go through the slots, not the queues: a timer is in its slot, wherever
 * its entry is.  A walk (walk.h) shows each timer, and then it is cancelled by
 * its id as by any other call.  So no thread waits for a drain, however long it
 * takes, and match and visit are called without a lock.  The timers are dead
 * then, and are recycled like other cancelled timers.
 */
#include "api/instance.h"
#include "base/keep.h"
#include "intake/walk.h"
#include "os/call.h"
#include "os/tool.h"

#include <limits.h>

struct sweep {
	struct timerthread *tt;
	timerthread_match_fn *match;
	timerthread_visit_fn *visit;
	void *ctx;
	uint64_t n; /* timers that it has taken */
	/* For match and visit: the timer, and what match says. */
	const struct seen_timer *seen;
	int matches;
};

static void call_match(void *arg)
{
	struct sweep *w = arg;
	const struct seen_timer *t = w->seen;

	w->matches = w->match(t->id, t->timer.fn, t->timer.arg, w->ctx);
}

static void call_visit(void *arg)
{
	const struct sweep *w = arg;
	const struct seen_timer *t = w->seen;

	w->visit(t->id, t->timer.fn, t->timer.arg, w->ctx);
}

/* False, as from the others here: this is a child of fork(2). */
static bool count_and_visit(struct sweep *w)
{
	w->n++;
	return !w->visit || call_to_return(call_visit, w);
}

static bool drain_one(const struct seen_timer *t, void *ctx)
{
	struct sweep *w = ctx;
	struct slot *s = intake_slot(w->tt->engine.intake, t->id);

	if (engine_cancelled(&w->tt->engine, s,
			     slot_cancel_pending(s, t->id)) != 0)
		return true;
	tool_acquire(s);
	instance_count(w->tt, &w->tt->drained);
	w->seen = t;
	return count_and_visit(w);
}

/* Waits for its callback, unless the caller is in it. */
static int cancel(struct timerthread *tt, timerthread_id id)
{
	int r = timerthread_cancel_wait(tt, id);

	return r == -EDEADLK ? timerthread_cancel(tt, id) : r;
}

static bool match_one(const struct seen_timer *t, void *ctx)
{
	struct sweep *w = ctx;

	if (slot_is_dead(t->word))
		return true;
	w->seen = t;
	if (!call_to_return(call_match, w))
		return false;
	return w->matches == 0 || cancel(w->tt, t->id) != 0 ||
	       count_and_visit(w);
}

/* An instance that was never started has no timers. */
static int sweep(struct sweep *w,
		 bool (*see)(const struct seen_timer *t, void *ctx))
{
	KEEP_THREAD;

	if (instance_lives(w->tt) &&
	    !intake_walk(w->tt->engine.intake, true, see, w))
		return -ECHILD;
	return w->n < INT_MAX ? (int)w->n : INT_MAX;
}

TT_EXPORT int timerthread_drain(struct timerthread *tt,
				timerthread_visit_fn *visit, void *ctx)
{
	struct sweep w = {.tt = tt, .visit = visit, .ctx = ctx};
	int r = instance_check(tt, visit != NULL);

	if (r < 0)
		return r;
	return tt->options.is_default ? -EPERM : sweep(&w, drain_one);
}

TT_EXPORT int timerthread_cancel_matching(struct timerthread *tt,
					  timerthread_match_fn *match,
					  timerthread_visit_fn *visit,
					  void *ctx)
{
	struct sweep w = {tt, match, visit, ctx, 0, NULL, 0};
	int r = instance_check(tt, match != NULL);

	return r < 0 ? r : sweep(&w, match_one);
}
