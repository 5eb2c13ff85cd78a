/* SPDX-License-Identifier: MIT */
#include "engine/fire.h"
#include "base/probe.h"
#include "intake/expiry.h"
#include "intake/handover.h"
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

static void finish_on_driver(struct engine *e, struct bucket *b, struct slot *s,
			     struct entry *entry)
{
	int64_t earliest = wakeup_earliest(&e->wakeup, e->until);
	enum expiry x;

	counter_add(&e->fired, 1);
	x = expiry_repeat(b, s, entry, earliest);
	if (x != EXPIRY_OVER) {
		await_wake(&e->await, s);
		/* If it is due again already, it is for the next turn. */
		if (x == EXPIRY_LATER && entry->deadline <= e->until)
			pending_send_back(&e->pending, entry, 1);
		else if (x == EXPIRY_LATER)
			pending_file(&e->pending, *entry, e->until);
		return;
	}
	counter_add(&e->ended, 1);
	/* First: a thread that sees the timer's end can use the place. */
	cap_give(&e->cap);
	if (unlikely(expiry_end(s)))
		await_wake(&e->await, s);
	intake_recycle(e->intake, s);
}

bool fire_call(struct engine *e, struct inside *in, struct slot *s,
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
	    !atom32_load(&e->orphaned)) {
		if (!report_slow(e, in, &run, t->run_time))
			return false;
		t->ended = moment_now(&e->watch);
	}
	tool_release(s);
	return true;
}

/* When the next callback begins. */
static struct moment begin_now(struct engine *e)
{
	if (!e->chained)
		e->moment = moment_now(&e->watch);
	return e->moment;
}

static enum step run_on_driver(struct engine *e, struct bucket *b,
			       struct slot *s, struct entry *entry,
			       uint64_t overrun)
{
	struct timing t = {.begun = begin_now(e)};

	engine_set_idle(e);
	if (!fire_call(e, &e->inside, s, overrun, &t))
		return STEP_FORKED;
	engine_set_busy(e);
	measure_count(e->measured, entry->deadline, &t);
	e->moment = t.ended;
	finish_on_driver(e, b, s, entry);
	return STEP_RAN;
}

static enum step hand_over(struct engine *e, struct slot *s)
{
	engine_set_idle(e);
	if (!e->hand_over(e->instance, s))
		return STEP_FORKED;
	engine_set_busy(e);
	return STEP_MORE;
}

static enum expiry begin_timer(struct engine *e, struct bucket *b,
			       struct slot *s, struct entry *entry,
			       uint64_t *overrun)
{
	int64_t now = e->until;

	/* Now, so that a period that has passed already counts as missed. */
	if (entry->ticket & TICKET_REPEATS) {
		now = begin_now(e).shown;
		e->chained = true;
	}
	return expiry_begin(b, s, entry, now, overrun);
}

enum step fire(struct engine *e)
{
	struct entry entry = pending_take(&e->pending);
	struct bucket *b = intake_bucket(e->intake, entry.index);
	struct slot *s = slots_of(&b->slots, entry.index);
	uint64_t overrun = 0;
	enum expiry x = e->hand_over ? handover_give(b, s, &entry, e->until)
				     : begin_timer(e, b, s, &entry, &overrun);

	switch (x) {
	case EXPIRY_RUN:
		e->ran += e->ran < INT_MAX;
		return e->hand_over ? hand_over(e, s)
				    : run_on_driver(e, b, s, &entry, overrun);
	case EXPIRY_LATER:
		pending_file(&e->pending, entry, e->until);
		break;
	case EXPIRY_OVER:
		intake_recycle(e->intake, s);
		break;
	default:
		break;
	}
	return STEP_MORE;
}
