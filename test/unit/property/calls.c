/* SPDX-License-Identifier: MIT */
/*
 * Calls on timers that exist, and on some that do not.
 */
#include "config.h"

#include "model.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>

/* There must be one. */
size_t choose_index_of(const struct list *l)
{
	return (choose(256) << 8 | choose(256)) % l->n;
}

/* One of those that are pending. */
static size_t choose_index(void)
{
	return choose_index_of(&model->pending);
}

int64_t choose_deadline(void)
{
	int64_t distance = choose_distance();

	switch (choose(24)) {
	case 0:
		return INT64_MAX;
	case 1:
		return INT64_MIN;
	case 2:
		return model_add(model->now, -distance);
	case 3: /* that of another, or just beside it */
		return model->pending.n > 0
			       ? model_add(model->pending.item[choose_index()]
						   .deadline,
					   (int64_t)choose(3) - 1)
			       : distance;
	default:
		return model_add(model->now, distance);
	}
}

/* What keeps a timer from being scheduled, or 0. */
static int refusal(void)
{
	if (!model->started)
		return model->stopped ? -ESHUTDOWN : -EINVAL;
	if (model->chosen.cap > 0 && model_timers() >= model->chosen.cap &&
	    !model->stopped)
		return -EAGAIN;
	return model->stopped ? -ESHUTDOWN : 0;
}

/* It names no other timer, and has named none. */
static void check_new(timerthread_id id)
{
	agree(id != 0);
	agree(list_find_id(&model->pending, id) == model->pending.n);
	agree(list_find_id(&model->unarmed, id) == model->unarmed.n);
	agree(!model->calling || model->running.id != id);
	for (unsigned i = 0; i < OVER_MAX; i++)
		agree(model->over[i] != id);
}

bool model_scheduled(int r, timerthread_id id)
{
	int expected = refusal();

	agree(r == expected);
	if (r == -EAGAIN)
		model->counts.capped++;
	if (r == 0) {
		check_new(id);
		model->counts.scheduled++;
	} else {
		agree(id == 1);
	}
	return r == 0;
}

static void scheduled(int r, struct listed l)
{
	if (model_scheduled(r, l.id))
		model_set(l);
}

void *model_key(void)
{
	return (void *)++model->last_key;
}

static void schedule(int64_t deadline)
{
	struct listed l = {.deadline = deadline, .key = model_key(), .id = 1};

	scheduled(timerthread_schedule(model->tt, deadline, property_fired,
				       l.key, &l.id),
		  l);
}

/* Any delay is an argument; also one that leads beyond the ends of time. */
static void schedule_after(void)
{
	struct listed l = {.key = model_key(), .id = 1};
	int64_t delay = choose(4) ? choose_distance() : choose_time();

	l.deadline = model_add(model->now, delay);
	scheduled(timerthread_schedule_after(model->tt, delay, property_fired,
					     l.key, &l.id),
		  l);
}

static void schedule_every(void)
{
	struct listed l = {.key = model_key(), .id = 1};
	int64_t delay;
	int r;

	l.deadline = choose_deadline();
	l.period = model_add(choose_distance(), 1);
	/* Some deadlines are too far from now to say how far. */
	if (l.period % 2 == 0 ||
	    __builtin_sub_overflow(l.deadline, model->now, &delay))
		r = timerthread_schedule_every(model->tt, l.deadline, l.period,
					       property_fired, l.key, &l.id);
	else
		r = timerthread_schedule_every_after(model->tt, delay, l.period,
						     property_fired, l.key,
						     &l.id);
	scheduled(r, l);
}

void do_schedule(void)
{
	unsigned kind;

	if (model_timers() >= model->most)
		return;
	kind = choose(8);
	if (kind == 0)
		schedule_every();
	else if (kind < 3)
		schedule_after();
	else
		schedule(choose_deadline());
}

/* So many that a lane may hold more than a block of them. */
void do_burst(void)
{
	unsigned n = 1 + choose(256);
	int64_t first = choose_deadline(), step = choose_distance();

	for (unsigned i = 0; i < n && model_timers() < model->most; i++) {
		schedule(first);
		first = model_add(first, step);
	}
}

void model_cancel(struct list *from, size_t i)
{
	const struct listed *l = &from->item[i];
	timerthread_id id = l->id;
	void *arg = NULL;

	switch (choose(4)) {
	case 0:
		agree(timerthread_cancel_take(model->tt, id, &arg) == 0);
		agree(arg == l->key);
		break;
	case 1:
		agree((i % 2 ? timerthread_cancel_wait(model->tt, id)
			     : timerthread_cancel_wait_until(
				       model->tt, id, l->deadline)) == 0);
		break;
	default:
		agree(timerthread_cancel(model->tt, id) == 0);
		break;
	}
	list_take(from, i);
	model_cancelled(id);
}

void do_cancel(void)
{
	if (model->pending.n > 0)
		model_cancel(&model->pending, choose_index());
}

/* Every so many of them. */
void do_cancel_many(void)
{
	size_t from = choose(64), step = 1 + choose(8);

	for (size_t i = from; i < model->pending.n; i += step)
		model_cancel(&model->pending, i);
}

/* Some deadlines are too far from now to say how far. */
int model_reschedule(timerthread_id id, int64_t deadline)
{
	int64_t delay;

	if (choose(2) || __builtin_sub_overflow(deadline, model->now, &delay))
		return timerthread_reschedule(model->tt, id, deadline);
	return timerthread_reschedule_after(model->tt, id, delay);
}

void do_reschedule(void)
{
	struct listed l;
	size_t i;
	int r;

	if (model->pending.n == 0)
		return;
	i = choose_index();
	l = model->pending.item[i];
	l.deadline = choose_deadline();
	r = model_reschedule(l.id, l.deadline);
	agree(r == (model->stopped ? -ESHUTDOWN : 0));
	if (r < 0)
		return;
	model->counts.rescheduled++;
	list_take(&model->pending, i);
	model_set(l);
}

/* What every call says of an id that names no timer. */
static void check_none(timerthread_id id)
{
	int none = !model->started && !model->stopped ? -EINVAL : -ENOENT;
	int64_t deadline;
	void *key = &deadline;

	if (model->stopped)
		none = -ESHUTDOWN;
	agree(timerthread_cancel(model->tt, id) == -ENOENT);
	agree(timerthread_cancel_wait(model->tt, id) == -ENOENT);
	agree(timerthread_cancel_wait_until(model->tt, id, 0) == -ENOENT);
	agree(timerthread_cancel_take(model->tt, id, &key) == -ENOENT);
	agree(key == &deadline);
	agree(timerthread_disarm(model->tt, id) == -ENOENT);
	agree(timerthread_disarm_wait(model->tt, id) == -ENOENT);
	agree(timerthread_reschedule(model->tt, id, 0) == none);
	agree(timerthread_reschedule_after(model->tt, id, 0) == none);
	agree(timerthread_get_deadline(model->tt, id, &deadline) == -ENOENT);
}

void do_stale(void)
{
	check_none(model->over[choose(OVER_MAX)]);
}

/* Any number, or an id that differs from one in a bit. */
void do_made_up(void)
{
	timerthread_id id = choose_bits();

	if (choose(2) && model->pending.n > 0)
		id = model->pending.item[choose_index()].id ^
		     UINT64_C(1) << choose(64);
	if (list_find_id(&model->pending, id) == model->pending.n &&
	    list_find_id(&model->unarmed, id) == model->unarmed.n &&
	    (!model->calling || model->running.id != id))
		check_none(id);
}

void do_get_deadline(void)
{
	int64_t deadline;
	size_t i;

	if (model->pending.n == 0)
		return;
	i = choose_index();
	agree(timerthread_get_deadline(model->tt, model->pending.item[i].id,
				       &deadline) == 0);
	agree(deadline == model->pending.item[i].deadline);
}

/* The first of the list, and not before now. */
void do_next(void)
{
	int64_t first = TIMERTHREAD_NEVER, next = 1;
	int r = timerthread_get_next_deadline(model->tt, &next);

	if (model->stopped || !model->started) {
		agree(r == (model->stopped ? -ESHUTDOWN : -EINVAL));
		agree(next == 1);
		return;
	}
	if (model->pending.n > 0)
		first = model->pending.item[0].deadline;
	if (model->calling || first < model->now)
		first = model->now;
	agree(r == 0 && next == first);
}

/* The list that has it, which one must. */
static struct list *list_with_key(const void *key)
{
	struct list *l = &model->pending;

	if (list_find_key(l, key) == l->n)
		l = &model->unarmed;
	agree(list_find_key(l, key) < l->n);
	return l;
}

static void drained(timerthread_id id, timerthread_fn *fn, void *key, void *ctx)
{
	struct list *l = list_with_key(key);
	uint64_t *n = ctx;

	agree(fn == property_fired);
	agree(list_take(l, list_find_key(l, key)).id == id);
	model_cancelled(id);
	++*n;
	if (may_choose() && choose(16) == 0)
		check_none(id);
}

void do_cancel_all(void)
{
	uint64_t expected = model->pending.n + model->unarmed.n, n = 0;

	agree(timerthread_cancel_all(model->tt, drained, &n) == (int)expected);
	agree(n == expected && model->pending.n + model->unarmed.n == 0);
	model->counts.drained += n;
}

/* What was due has run, unless a callback stopped the instance. */
static void advanced(int r, int64_t end)
{
	agree(r >= 0 && (uint64_t)r == model->runs);
	if (!model->tt)
		return;
	if (!model->stopped)
		model->now = end;
	agree(timerthread_now(model->tt) == model->now);
	agree(model->stopped || model->pending.n == 0 ||
	      model->pending.item[0].deadline > end ||
	      model->pending.item[0].deadline == INT64_MAX);
}

static int why_no_advance(void)
{
	if (model->stopped)
		return -ESHUTDOWN;
	return model->started ? -EBUSY : -EINVAL;
}

void advance_by(int64_t ns)
{
	int64_t end = model_add(model->now, ns);
	int r;

	if (model->calling || model->stopped || !model->started) {
		agree(timerthread_advance(model->tt, ns) == why_no_advance());
		return;
	}
	model->advances++;
	model->advancing = true;
	model->runs = 0;
	r = timerthread_advance(model->tt, ns);
	advanced(r, end);
	model->advancing = false;
}

void do_advance(void)
{
	int64_t distance = choose_distance();

	if (model->endless && distance > (INT64_MAX - model->now) >> 16)
		distance >>= 16;
	advance_by(distance);
}

/* Again, too. */
void do_stop(void)
{
	if (model->endless || choose(4))
		return;
	agree(timerthread_stop(model->tt) ==
	      (model->calling && model->started ? 1 : 0));
	model->stopped = true;
}

/* Also from a callback, and with timers that are pending. */
void do_destroy(void)
{
	if (model->endless || choose(16))
		return;
	timerthread_destroy(model->tt);
	model->tt = NULL;
}
