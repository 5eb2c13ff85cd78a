/* SPDX-License-Identifier: MIT */
/*
 * Timers that are not armed: prepared, armed, disarmed; and those that match.
 */
#include "config.h"

#include "model.h"

#include <errno.h>
#include <stddef.h>

void do_add(void)
{
	struct listed l = {.key = model_key(), .id = 1, .prepared = true};

	if (model_timers() >= model->most)
		return;
	if (model_scheduled(timerthread_prepare(model->tt, property_fired,
						l.key, &l.id),
			    l.id))
		model_keep(l);
}

/* What is asked of one that is not armed. */
static void check_unarmed(timerthread_id id)
{
	int64_t deadline = 1;

	agree(timerthread_get_deadline(model->tt, id, &deadline) == -ENOENT);
	agree(timerthread_disarm(model->tt, id) == -ENOENT);
	agree(timerthread_disarm_wait(model->tt, id) == -ENOENT);
	agree(deadline == 1);
}

void do_arm(void)
{
	struct listed l;
	size_t i;
	int r;

	if (model->unarmed.n == 0)
		return;
	i = choose_index_of(&model->unarmed);
	l = model->unarmed.item[i];
	check_unarmed(l.id);
	l.deadline = choose_deadline();
	r = model_reschedule(l.id, l.deadline);
	agree(r == (model->stopped ? -ESHUTDOWN : 0));
	if (r < 0)
		return;
	model->counts.rescheduled++;
	list_take(&model->unarmed, i);
	model_set(l);
}

void do_disarm(void)
{
	struct listed l;
	int r;

	if (model->pending.n == 0)
		return;
	l = list_take(&model->pending, choose_index_of(&model->pending));
	r = choose(2) ? timerthread_disarm(model->tt, l.id)
		      : timerthread_disarm_wait(model->tt, l.id);
	agree(r == 0);
	check_unarmed(l.id);
	model_keep(l);
}

void do_cancel_unarmed(void)
{
	if (model->unarmed.n > 0)
		model_cancel(&model->unarmed, choose_index_of(&model->unarmed));
}

/* Those whose keys have this rest are taken. */
struct matching {
	uintptr_t divisor; /* 0: none is */
	uintptr_t rest;
	uint64_t shown;
	uint64_t visited;
};

static bool is_wanted(const struct matching *m, const void *key)
{
	return m->divisor > 0 && (uintptr_t)key % m->divisor == m->rest;
}

static int matches(timerthread_id id, timerthread_fn *fn, void *key, void *ctx)
{
	struct matching *m = ctx;
	bool runs = model->calling && model->running.id == id;

	agree(fn == property_fired);
	agree(list_find_id(&model->pending, id) < model->pending.n ||
	      list_find_id(&model->unarmed, id) < model->unarmed.n || runs);
	m->shown++;
	if (is_wanted(m, key) && runs) {
		model->cancelled = true;
		model->again = false;
	}
	return is_wanted(m, key);
}

static void visited(timerthread_id id, timerthread_fn *fn, void *key, void *ctx)
{
	struct list *l = &model->pending;
	struct matching *m = ctx;
	size_t i = list_find_id(l, id);

	if (i == l->n) {
		l = &model->unarmed;
		i = list_find_id(l, id);
	}
	agree(i < l->n && l->item[i].key == key && fn == property_fired);
	agree(is_wanted(m, key));
	list_take(l, i);
	model_cancelled(id);
	m->visited++;
}

static uint64_t count_wanted(const struct matching *m, const struct list *l)
{
	uint64_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += is_wanted(m, l->item[i].key);
	return n;
}

/*
 * All are shown, the one that is running too, unless it was cancelled; those
 * that match are taken.
 */
void do_cancel_matching(void)
{
	struct matching m = {.divisor = choose(64)};
	uint64_t wanted, all = model_timers();
	bool ends = model->calling && model->cancelled;

	if (m.divisor > 0)
		m.rest = choose(64) % m.divisor;
	wanted = count_wanted(&m, &model->pending) +
		 count_wanted(&m, &model->unarmed);
	agree(timerthread_cancel_matching(model->tt, matches, visited, &m) ==
	      (int)wanted);
	agree(m.visited == wanted);
	agree(m.shown == all || (ends && m.shown == all - 1));
	agree(count_wanted(&m, &model->pending) == 0);
	agree(count_wanted(&m, &model->unarmed) == 0);
}
