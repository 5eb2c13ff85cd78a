/* SPDX-License-Identifier: MIT */
/*
 * Taking back many timers: all that wait, or those that match.
 *
 * Both go through the slots, not the queues: a timer is in its slot, wherever
 * its entry is.  A walk (walk.h) shows each timer, and then it is cancelled by
 * its id as by any other call.  So no thread waits for this, however long it
 * takes, and match and visit are called without a lock.  The timers are dead
 * then, and are recycled like other cancelled timers.
 */
#include "api/instance.h"
#include "base/keep.h"
#include "intake/walk.h"
#include "os/call.h"
#include "os/tool.h"

#include <limits.h>

struct taking {
	struct timerthread *tt;
	timerthread_match_fn *match; /* NULL: all that wait */
	timerthread_visit_fn *visit;
	void *ctx;
	uint64_t n; /* timers that it has taken */
	/* For match and visit: the timer, and what match says. */
	const struct seen_timer *seen;
	int matches;
};

static void call_match(void *arg)
{
	struct taking *w = arg;
	const struct seen_timer *t = w->seen;

	w->matches = w->match(t->id, t->timer.fn, t->timer.arg, w->ctx);
}

static void call_visit(void *arg)
{
	const struct taking *w = arg;
	const struct seen_timer *t = w->seen;

	w->visit(t->id, t->timer.fn, t->timer.arg, w->ctx);
}

/* False: it does not wait. */
static bool take_pending(struct taking *w, timerthread_id id)
{
	struct slot *s = intake_slot(w->tt->engine.intake, id);
	int r = slot_cancel_pending(s, id);

	if (engine_cancelled(&w->tt->engine, s, r) != 0)
		return false;
	tool_acquire(s);
	instance_count(w->tt, &w->tt->drained);
	return true;
}

/* Waits for its callback, unless the caller is in it. */
static int cancel(struct timerthread *tt, timerthread_id id)
{
	int r = timerthread_cancel_wait(tt, id);

	return r == -EDEADLK ? timerthread_cancel(tt, id) : r;
}

/* False: this is a child of fork(2). */
static bool take_one(const struct seen_timer *t, void *ctx)
{
	struct taking *w = ctx;

	if (slot_is_dead(t->word))
		return true;
	w->seen = t;
	if (w->match && !call_to_return(call_match, w))
		return false;
	if (w->match ? w->matches == 0 || cancel(w->tt, t->id) != 0
		     : !take_pending(w, t->id))
		return true;
	w->n++;
	return !w->visit || call_to_return(call_visit, w);
}

/* An instance that was never started has no timers. */
static int take_all(struct taking *w)
{
	KEEP_THREAD;

	if (instance_lives(w->tt) &&
	    !intake_walk(w->tt->engine.intake, true, take_one, w))
		return -ECHILD;
	return w->n < INT_MAX ? (int)w->n : INT_MAX;
}

TT_EXPORT int timerthread_cancel_all(struct timerthread *tt,
				     timerthread_visit_fn *visit, void *ctx)
{
	struct taking w = {.tt = tt, .visit = visit, .ctx = ctx};
	int r = instance_check(tt, visit != NULL);

	if (r < 0)
		return r;
	return tt->options.is_default ? -EPERM : take_all(&w);
}

TT_EXPORT int timerthread_cancel_matching(struct timerthread *tt,
					  timerthread_match_fn *match,
					  timerthread_visit_fn *visit,
					  void *ctx)
{
	struct taking w = {tt, match, visit, ctx, 0, NULL, 0};
	int r = instance_check(tt, match != NULL);

	return r < 0 ? r : take_all(&w);
}
