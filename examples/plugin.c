/* SPDX-License-Identifier: MIT */
#include "plugin.h"
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TASKS_OF_A_KIND = 10, KINDS = 4, TASKS = KINDS * TASKS_OF_A_KIND };
enum { NOBODY = -1 };

/*
 * A task is the argument of its timer, and owns a text.  Who frees the text:
 *
 *  - the visit, if the timer was pending or unarmed;
 *  - else the callback of a timer that runs once;
 *  - else, of a timer that runs more than once, the plugin, when no callback
 *    runs any more.
 */
struct task {
	struct plugin *plugin;
	char *text;
	timerthread_id prepared; /* of a timer from timerthread_prepare */
};

struct plugin {
	struct timerthread *tt;
	struct plugin_ledger *ledger;
	atomic_bool leaving; /* nothing more is scheduled or armed */
	struct task task[TASKS];
	int cancelled; /* counted in the visits */

	atomic_int held; /* a kind, for plugin_hold, or NOBODY */
	sem_t holds;
};

static char *text_new(struct plugin *p)
{
	char *text = strdup("what a timer owns");

	if (text)
		p->ledger->made++;
	return text;
}

/* Returns whether there was one. */
static bool text_free(struct task *t)
{
	if (!t->text)
		return false;
	free(t->text);
	t->text = NULL;
	t->plugin->ledger->freed++;
	return true;
}

/* The callbacks. */

static void hold(struct plugin *p)
{
	const struct timespec longer = {0, 2 * TIMERTHREAD_MSEC};

	p->held = NOBODY;
	sem_post(&p->holds);
	while (!p->leaving)
		sched_yield();
	nanosleep(&longer, NULL);
}

static void work(struct plugin *p, enum plugin_kind kind)
{
	p->ledger->runs++;
	if (p->held == (int)kind)
		hold(p);
}

static void run_once(void *arg)
{
	struct task *t = arg;

	t->plugin->ledger->runs++;
	text_free(t);
}

/*
 * Each run schedules the next one as another timer.  Then the text is that
 * one's: this callback must not touch it any more.
 */
static void run_chain(void *arg)
{
	struct task *t = arg;
	struct plugin *p = t->plugin;

	work(p, PLUGIN_CHAIN);
	if (p->leaving || timerthread_schedule_after(p->tt, TIMERTHREAD_MSEC,
						     run_chain, t, NULL) < 0)
		text_free(t);
}

static void run_periodic(void *arg)
{
	struct task *t = arg;

	work(t->plugin, PLUGIN_PERIODIC);
}

/* Arms itself again.  -ENOENT: it was cancelled while it was running. */
static void run_prepared(void *arg)
{
	struct task *t = arg;
	struct plugin *p = t->plugin;

	work(p, PLUGIN_PREPARED);
	if (!p->leaving)
		timerthread_reschedule_after(p->tt, t->prepared,
					     TIMERTHREAD_MSEC);
}

void plugin_hold(struct plugin *p, enum plugin_kind kind)
{
	p->held = (int)kind;
	while (sem_wait(&p->holds) < 0 && errno == EINTR)
		continue; /* a signal handler ran */
}

/* To leave. */

/* The timer may be running and its text gone: only the address counts. */
static int is_of_plugin(timerthread_id id, timerthread_fn *fn, void *arg,
			void *ctx)
{
	uintptr_t from, to;

	(void)id;
	(void)fn;
	plugin_get_range(ctx, &from, &to);
	return (uintptr_t)arg >= from && (uintptr_t)arg < to;
}

static void take_back(timerthread_id id, timerthread_fn *fn, void *arg,
		      void *ctx)
{
	struct plugin *p = ctx;

	(void)id;
	(void)fn;
	text_free(arg);
	p->cancelled++;
}

/*
 * A callback that had not seen that the plugin leaves may have scheduled a
 * timer during the first call.  When that has returned, the callback has too;
 * all others see it.  So the second call finds what is left, and a third would
 * find nothing.
 */
static void end_timers(struct plugin *p)
{
	p->leaving = true;
	timerthread_cancel_matching(p->tt, is_of_plugin, take_back, p);
	timerthread_cancel_matching(p->tt, is_of_plugin, take_back, p);
}

void plugin_leave(struct plugin *p, struct plugin_report *ret_report)
{
	int left_over = 0;

	end_timers(p);
	for (int i = 0; i < TASKS; i++)
		left_over += text_free(&p->task[i]);
	*ret_report = (struct plugin_report){p->cancelled, left_over};
	sem_destroy(&p->holds);
	free(p);
}

/* To come. */

/* Some expire at once and again and again, others in an hour or never. */
static int begin_task(struct task *t, int i)
{
	struct timerthread *tt = t->plugin->tt;
	int64_t delay = i / KINDS % 2 == 0 ? 0 : 3600 * TIMERTHREAD_SEC;
	int r;

	switch (i % KINDS) {
	case 0:
		return timerthread_schedule_after(tt, delay, run_once, t, NULL);
	case 1:
		return timerthread_schedule_after(tt, delay, run_chain, t,
						  NULL);
	case 2:
		return timerthread_schedule_every(
			tt, timerthread_now(tt) + delay, TIMERTHREAD_MSEC,
			run_periodic, t, NULL);
	default:
		r = timerthread_prepare(tt, run_prepared, t, &t->prepared);
		if (r == 0 && delay == 0)
			r = timerthread_reschedule_after(tt, t->prepared,
							 delay);
		return r;
	}
}

/* If no timer has come of it, the text is not a timer's. */
static int begin_tasks(struct plugin *p)
{
	for (int i = 0; i < TASKS; i++) {
		struct task *t = &p->task[i];
		int r;

		t->plugin = p;
		t->text = text_new(p);
		r = t->text ? begin_task(t, i) : -ENOMEM;
		if (r < 0) {
			text_free(t);
			return r;
		}
	}
	return 0;
}

int plugin_come(struct plugin_ledger *ledger, struct plugin **ret_p)
{
	struct plugin *p = calloc(1, sizeof(*p));
	struct plugin_report unused;
	int r;

	if (!p)
		return -ENOMEM;
	p->ledger = ledger;
	p->held = NOBODY;
	sem_init(&p->holds, 0, 0);
	for (int i = 0; i < TASKS; i++)
		p->task[i].plugin = p;
	r = timerthread_default(&p->tt);
	if (r == 0)
		r = begin_tasks(p);
	if (r < 0)
		plugin_leave(p, &unused);
	else
		*ret_p = p;
	return r;
}

void plugin_get_range(const struct plugin *p, uintptr_t *ret_from,
		      uintptr_t *ret_to)
{
	*ret_from = (uintptr_t)p->task;
	*ret_to = (uintptr_t)(p->task + TASKS);
}
