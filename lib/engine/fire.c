/* SPDX-License-Identifier: MIT */
#include "engine/fire.h"
#include "base/probe.h"
#include "intake/expiry.h"
#include "intake/unqueued.h"
#include "os/tool.h"

#include <limits.h>

void fire_report(void *arg)
{
	const struct report *r = arg;

	r->slow->hook(r->run->id, r->run->fn, r->run->arg, r->run_time,
		      r->slow->ctx);
}

/* False: as from inside_call. */
static TT_NOINLINE bool report_slow(struct engine *e, struct inside *in,
				    const struct run *run, int64_t run_time)
{
	struct report r = {&e->slow, run, run_time};

	return inside_call(e->instance, in, &e->task_id, run, fire_report, &r);
}

/* The timer has ended.  Counted before it is over: see stats.h. */
static void end(struct engine *e, struct bucket *b, struct slot *s,
		bool on_driver)
{
	if (on_driver)
		counter_add(&e->ended, 1);
	/* A thread that sees the timer's end can use the place. */
	cap_give(&e->cap);
	if (unlikely(on_driver ? expiry_end(s) : expiry_end_and_give(b, s)))
		await_wake(&e->await, s);
	if (on_driver)
		intake_recycle(e->intake, s);
}

/* The callback has returned, at the time now. */
static void finish(struct engine *e, struct bucket *b, struct slot *s,
		   bool on_driver, int64_t now)
{
	enum expiry x =
		expiry_after_run(b, s, wakeup_earliest(&e->wakeup, now));

	if (likely(x == EXPIRY_OVER)) {
		end(e, b, s, on_driver);
		return;
	}
	await_wake(&e->await, s);
	if (x == EXPIRY_LATER)
		unqueued_file(b, &e->wakeup, s, now);
}

/* False: as from inside_call. */
static bool call(struct engine *e, struct inside *in, struct slot *s,
		 uint64_t overrun, struct timing *t)
{
	const struct run run = {
		.id = slot_id(s, atom32_load(&s->state)),
		.overrun = overrun,
		.since = t->begun.steady,
		.fn = slot_fn(s),
		.arg = slot_arg(s),
	};

	tool_acquire(s);
	PROBE3(fire__begin, run.id, run.fn, run.arg);
	if (!inside_call(e->instance, in, &e->task_id, &run, run.fn, run.arg))
		return false;
	t->ended = moment_now(&e->watch);
	t->run_time = t->ended.steady - t->begun.steady;
	PROBE4(fire__end, run.id, run.fn, run.arg, t->run_time);
	/* What the hook uses may have gone with the instance. */
	if (unlikely(t->run_time > e->slow.threshold) &&
	    !atom32_load(&e->destroyed)) {
		if (!report_slow(e, in, &run, t->run_time))
			return false;
		t->ended = moment_now(&e->watch);
	}
	tool_release(s);
	return true;
}

/* The timer has begun.  False: as from inside_call. */
static bool call_and_finish(struct engine *e, struct inside *in,
			    struct bucket *b, struct slot *s, uint64_t overrun,
			    struct timing *t)
{
	bool on_driver = in == &e->inside;

	/* Nobody else writes it while the timer runs. */
	t->due = s->due;
	if (on_driver)
		engine_set_idle(e);
	else
		t->begun = moment_now(&e->watch);
	if (!call(e, in, s, overrun, t))
		return false;
	t->ran = true;
	if (on_driver) {
		engine_set_busy(e);
		measure_count(e->measured, t);
	}
	finish(e, b, s, on_driver, t->ended.shown);
	return true;
}

/* It repeats or was moved, it is over, or the clock may have been set back. */
static TT_NOINLINE bool begin_slow(struct engine *e, struct inside *in,
				   struct bucket *b, struct slot *s,
				   struct timing *t)
{
	int64_t now = in == &e->inside ? t->begun.shown : watch_now(&e->watch);
	uint64_t overrun = 0;
	enum expiry x = expiry_begin(b, s, now, &overrun);

	if (x == EXPIRY_RUN)
		return call_and_finish(e, in, b, s, overrun, t);
	if (x == EXPIRY_LATER)
		unqueued_file(b, &e->wakeup, s, now);
	else if (x == EXPIRY_OVER)
		bucket_give(b, s);
	return true;
}

bool fire_run(struct engine *e, struct inside *in, struct slot *s,
	      struct timing *t)
{
	struct bucket *b = intake_bucket(e->intake, s->index);
	/* The driver has just read the clock, if it may be set back. */
	bool is_due = in == &e->inside || watch_goes_on(&e->watch);

	return likely(is_due && slot_begin(s))
		       ? call_and_finish(e, in, b, s, 0, t)
		       : begin_slow(e, in, b, s, t);
}

static enum step run_here(struct engine *e, struct slot *s)
{
	/* Right after another one: when that has ended. */
	struct timing t = {.begun = e->back_to_back ? e->moment
						    : moment_now(&e->watch)};

	if (!fire_run(e, &e->inside, s, &t))
		return STEP_FORKED;
	if (!t.ran)
		return STEP_MORE;
	e->ran += e->ran < INT_MAX;
	e->moment = t.ended;
	return STEP_RAN;
}

static enum step hand_over(struct engine *e, struct slot *s)
{
	e->ran += e->ran < INT_MAX;
	engine_set_idle(e);
	if (!e->hand_over(e->instance, s))
		return STEP_FORKED;
	engine_set_busy(e);
	return STEP_MORE;
}

enum step fire(struct engine *e)
{
	struct entry entry = pending_take(&e->pending);
	struct bucket *b = intake_bucket(e->intake, entry.index);
	struct slot *s = slots_of(&b->slots, entry.index);
	enum expiry x = expiry_hand_over(b, s, &entry, e->until);

	if (likely(x == EXPIRY_RUN))
		return e->hand_over ? hand_over(e, s) : run_here(e, s);
	if (x == EXPIRY_LATER)
		pending_file(&e->pending, entry, e->until);
	else if (x == EXPIRY_OVER)
		intake_recycle(e->intake, s);
	return STEP_MORE;
}
