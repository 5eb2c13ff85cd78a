/* SPDX-License-Identifier: MIT */
/*
 * What a callback finds, what it does to its own timer, and what the hook for
 * slow callbacks finds.
 */
#include "config.h"

#include "model.h"

#include <errno.h>
#include <stddef.h>

/* In the callback of this one. */
static void check_current(const struct listed *l, uint64_t skipped)
{
	struct timerthread *tt = NULL;
	timerthread_id id = 0;
	uint64_t overrun = skipped + 1;

	agree(timerthread_get_current(&tt, &id) == 0);
	agree(tt == model->tt && id == l->id);
	agree(timerthread_get_overrun(&overrun) == 0 && overrun == skipped);
}

/*
 * Whatever has an earlier deadline has run.  What got its deadline in this
 * advance may have got it too late for that.
 */
static void check_order(const struct listed *l, size_t i)
{
	while (i-- > 0) {
		const struct listed *other = &model->pending.item[i];

		agree(other->deadline == l->deadline ||
		      (other->set_in == model->advances &&
		       other->set_at >= l->deadline));
	}
}

/* From one deadline to the next that has not passed yet. */
static void repeat(struct listed *l)
{
	uint64_t late = (uint64_t)model->now - (uint64_t)l->deadline;
	uint64_t period = (uint64_t)l->period;

	model->overrun = late / period;
	l->deadline = model_add((int64_t)((uint64_t)model->now - late % period),
				l->period);
}

static uint64_t lateness(int64_t deadline)
{
	return deadline > 0 && model->now > deadline
		       ? (uint64_t)(model->now - deadline)
		       : 0;
}

static void count(void)
{
	struct counts *c = &model->counts;
	uint64_t i = c->fired++ - model->fired_before;

	if (i < LATE_MAX)
		model->late[i] = (int64_t)model->lateness;
	if (model->lateness > c->latest)
		c->latest = model->lateness;
}

static void cancel_self(void)
{
	void *arg = &arg;

	if (choose(2)) {
		agree(timerthread_cancel(model->tt, model->running.id) == 1);
	} else {
		agree(timerthread_cancel_take(model->tt, model->running.id,
					      &arg) == 1);
		agree(arg == &arg);
	}
	model->cancelled = true;
	model->again = false;
}

static void reschedule_self(void)
{
	int64_t delay = choose_time();
	int r = timerthread_reschedule_after(model->tt, model->running.id,
					     delay);

	if (model->stopped || model->cancelled) {
		agree(r == (model->stopped ? -ESHUTDOWN : -ENOENT));
		return;
	}
	agree(r == 0);
	model->counts.rescheduled++;
	model->running.deadline = model_add(model->now, delay);
	model->again = true;
}

/* It is not armed after this run, unless it will be rescheduled. */
static void disarm_self(void)
{
	agree(timerthread_disarm_wait(model->tt, model->running.id) ==
	      -EDEADLK);
	agree(timerthread_disarm(model->tt, model->running.id) == 1);
	model->again = false;
}

static void get_own_deadline(void)
{
	int64_t deadline = 1;
	int r = timerthread_get_deadline(model->tt, model->running.id,
					 &deadline);

	agree(r == (model->again ? 0 : -ENOENT));
	agree(deadline == (model->again ? model->running.deadline : 1));
}

void do_self(void)
{
	if (!model->calling)
		return;
	switch (choose(9)) {
	case 0:
		cancel_self();
		break;
	case 1:
		agree(timerthread_cancel_wait(model->tt, model->running.id) ==
		      -EDEADLK);
		agree(timerthread_cancel_wait_until(
			      model->tt, model->running.id, 0) == -EDEADLK);
		break;
	case 2:
		get_own_deadline();
		break;
	case 8:
		disarm_self();
		break;
	default:
		reschedule_self();
		break;
	}
}

/* It has returned, and the hook has. */
static void ended(void)
{
	model->calling = false;
	count();
	if (model->again)
		model_set(model->running);
	else if (!model->cancelled &&
		 (model->running.prepared || model->running.period > 0))
		model_keep(model->running);
	else
		model_over(model->running.id);
}

static void begin(struct listed l)
{
	model->runs++;
	if (model->now < l.deadline)
		model->now = l.deadline;
	model->lateness = lateness(l.deadline);
	model->overrun = 0;
	if (l.period > 0)
		repeat(&l);
	model->running = l;
	model->again = l.period > 0;
	model->cancelled = false;
	model->calling = true;
}

/* What is due must come to an end: after many runs there are no more calls. */
static void choose_calls(void)
{
	if (model->runs > RUNS_MAX) {
		if (model->running.period > 0)
			cancel_self();
		return;
	}
	while (model->tt && may_choose() && choose(4) == 0)
		property_step();
	if (model->tt && may_choose() && choose(8) == 0)
		do_self();
}

void property_fired(void *key)
{
	size_t i = list_find_key(&model->pending, key);
	struct listed l;

	agree(model->advancing && !model->calling && !model->stopped);
	agree(i < model->pending.n);
	l = list_take(&model->pending, i);
	check_order(&l, i);
	begin(l);
	agree(timerthread_now(model->tt) == model->now);
	check_current(&l, model->overrun);
	/* Then it has run for more than no time. */
	if (model->chosen.hook)
		ask_running();
	choose_calls();
	if (!model->tt)
		model->calling = false;
	else if (!model->chosen.hook)
		ended();
}

void property_slow(timerthread_id id, timerthread_fn *fn, void *arg,
		   int64_t run_time, void *ctx)
{
	agree(fn == property_fired && ctx == model && run_time > 0);
	agree(id == model->running.id && arg == model->running.key);
	if (!model->tt)
		return;
	agree(model->calling && model->chosen.hook);
	check_current(&model->running, model->overrun);
	choose_calls();
	if (model->tt)
		ended();
	else
		model->calling = false;
}
