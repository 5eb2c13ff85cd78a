/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "property.h"

#include "api/instance.h"
#include "checks/bucket.h"
#include "checks/pending.h"
#include "model.h"
#include "systems.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As many as make a step slow to check, and enough for blocks to be far. */
enum { FEW = 160, MANY = 1200 };

/* The one that is tested: callbacks have only their timer's key. */
static struct model the_model;
struct model *const model = &the_model;

void agree_at(bool holds, const char *what, const char *file, int line)
{
	if (holds)
		return;
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	abort();
}

int64_t model_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return a < 0 ? INT64_MIN : INT64_MAX;
}

uint64_t model_timers(void)
{
	return model->pending.n + model->unarmed.n + model->calling;
}

void model_set(struct listed l)
{
	l.set_at = model->now;
	l.set_in = model->advancing ? model->advances : 0;
	list_add(&model->pending, l);
}

void model_keep(struct listed l)
{
	l.deadline = INT64_MAX;
	list_add(&model->unarmed, l);
}

void model_over(timerthread_id id)
{
	model->over[model->ended++ % OVER_MAX] = id;
}

void model_cancelled(timerthread_id id)
{
	model->counts.cancelled++;
	model_over(id);
}

/* Outside of callbacks. */
static void check_no_current(void)
{
	struct timerthread *tt = NULL;
	timerthread_id id = 0;
	uint64_t overrun = 1;

	agree(timerthread_get_current(&tt, &id) == -ENOENT);
	agree(timerthread_get_overrun(&overrun) == -ENOENT);
	agree(!tt && id == 0 && overrun == 1);
}

static void ask(void)
{
	switch (choose(8)) {
	case 0:
		ask_metrics();
		break;
	case 1:
		ask_dump();
		break;
	case 2:
	case 3:
		ask_quantile();
		break;
	case 4:
		ask_running();
		break;
	default:
		ask_stats();
		break;
	}
}

static void change(unsigned dice)
{
	if (dice < 40)
		do_schedule();
	else if (dice < 55)
		do_cancel();
	else if (dice < 70)
		do_reschedule();
	else if (dice < 90)
		do_advance();
	else
		do_self();
}

static void (*const others[])(void) = {
	do_stale,      do_made_up,     do_next,  do_next,
	do_cancel_all, do_burst,       do_wrong, do_stop,
	do_destroy,    do_cancel_many, ask,      ask,
};

static void (*const unarmed[])(void) = {
	do_add,
	do_add,
	do_arm,
	do_arm,
	do_arm,
	do_arm,
	do_arm,
	do_disarm,
	do_disarm,
	do_disarm,
	do_disarm,
	do_cancel_unarmed,
	do_cancel_unarmed,
	do_cancel_matching,
};

enum { UNARMED = sizeof(unarmed) / sizeof(unarmed[0]) };

void property_step(void)
{
	unsigned dice = choose(108 + UNARMED);

	if (dice < 93)
		change(dice);
	else if (dice < 105)
		others[dice - 93]();
	else if (dice < 108)
		do_get_deadline();
	else
		unarmed[dice - 108]();
	if (model->tt && !model->calling)
		check_no_current();
	if (model->tt)
		do_get_deadline();
}

/* What the library's own checks say of its structures. */
static void check_inside(void)
{
	struct timerthread *tt = model->tt;

	if (!tt || !model->started)
		return;
	pending_check(&tt->engine.pending);
	for (uint32_t i = 0; i < tt->engine.intake->n; i++)
		bucket_check(&tt->engine.intake->bucket[i]);
}

static void not_called(void *arg)
{
	(void)arg;
	agree(false);
}

static void choose_name(void)
{
	static const char letters[] = "az09 {}=,\"\\\x01\x7f\x80\xff";
	char *name = model->chosen.name;
	unsigned n = 1 + choose(15);

	for (unsigned i = 0; i < n; i++)
		name[i] = letters[choose(sizeof(letters) - 1)];
	agree(timerthread_set_name(model->tt, name) == 0);
}

static void choose_hook(void)
{
	bool always = choose(2);

	model->chosen.hook = always;
	agree(timerthread_set_slow_hook(model->tt, always ? 0 : INT64_MAX,
					property_slow, model) == 0);
}

/* Those that make no difference on a virtual clock, and those that do. */
static void choose_options(void)
{
	static const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_BOOTTIME,
					   CLOCK_REALTIME};
	struct timerthread *tt = model->tt;
	struct chosen *c = &model->chosen;

	agree(timerthread_set_buckets(tt, 1 + choose(256)) == 0);
	agree(timerthread_set_clock(tt, clocks[choose(3)]) == 0);
	agree(timerthread_set_slack(tt, choose_distance()) == 0);
	agree(timerthread_set_spin(tt, 200000 >> choose(19)) == 0);
	agree(timerthread_set_thread_hooks(tt, not_called, not_called, NULL) ==
	      0);
	if (choose(4) == 0 && !model->endless)
		c->cap = 1 + choose(256);
	agree(timerthread_set_max_timers(tt, c->cap) == 0);
	c->reserve = choose(2) ? choose(256) : 0;
	agree(timerthread_set_reserve(tt, c->reserve) == 0);
	if (choose(4) == 0)
		choose_name();
	if (choose(4) == 0)
		choose_hook();
}

/* It may be asked, and called, before it is started; and may never be. */
static void before_start(void)
{
	for (unsigned n = choose(8); n > 0 && model->tt; n--)
		property_step();
}

static void start(int64_t now)
{
	if (!model->tt)
		return;
	agree(timerthread_start_virtual(model->tt, now) ==
	      (model->stopped ? -ESHUTDOWN : 0));
	model->started = !model->stopped;
	model->now = now;
}

void property_begin(int64_t now, bool endless)
{
	memset(model, 0, sizeof(*model));
	model->endless = endless;
	model->most = FEW;
	strcpy(model->chosen.name, "timerthread");
	agree(timerthread_create(&model->tt) == 0);
	if (choose(4) > 0)
		choose_options();
	if (choose(4) == 0)
		model->most = MANY;
	if (choose(4) == 0)
		before_start();
	start(now);
}

void property_crowd(void)
{
	model->most = LIST_MAX;
	while (model->pending.n < model->most)
		do_schedule();
}

void property_run(uint64_t steps)
{
	for (; steps > 0 && may_choose() && model->tt; steps--) {
		property_step();
		check_inside();
	}
}

/* At the end all but those that never run have run; and none is lost. */
static void finish(void)
{
	choices_end();
	advance_by(INT64_MAX);
	advance_by(INT64_MAX);
	if (model->started && !model->stopped && model->pending.n > 0)
		agree(model->pending.item[0].deadline == INT64_MAX);
	check_inside();
	ask_stats();
	do_cancel_all();
	ask_stats();
	timerthread_destroy(model->tt);
}

void property_end(void)
{
	if (model->tt)
		finish();
	timerthread_free_snapshot(model->before);
}
