/* SPDX-License-Identifier: MIT */
/*
 * Calls that must fail, and change nothing: with no instance, with arguments
 * that are not valid, or when the state of the instance forbids them.
 */
#include "config.h"

#include "model.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>

static void drained(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	(void)id, (void)fn, (void)arg, (void)ctx;
	agree(false);
}

static int matched(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	drained(id, fn, arg, ctx);
	return 1;
}

static void not_woken(void *ctx)
{
	(void)ctx;
	agree(false);
}

/* No instance: all the same, whatever else is wrong. */
static void no_instance(void)
{
	timerthread_id id = model->over[0];
	struct timerthread_snapshot *s;
	uint64_t value;
	int64_t time;
	void *arg;

	agree(timerthread_create(NULL) == -EINVAL);
	agree(timerthread_set_buckets(NULL, 1) == -EINVAL);
	agree(timerthread_start_virtual(NULL, 0) == -EINVAL);
	agree(timerthread_advance(NULL, 0) == -EINVAL);
	agree(timerthread_stop(NULL) == -EINVAL);
	timerthread_destroy(NULL);
	agree(timerthread_schedule(NULL, 0, property_fired, NULL, NULL) ==
	      -EINVAL);
	agree(timerthread_schedule_after(NULL, 0, property_fired, NULL, NULL) ==
	      -EINVAL);
	agree(timerthread_schedule_every(NULL, 0, 1, property_fired, NULL,
					 NULL) == -EINVAL);
	agree(timerthread_schedule_every_after(NULL, 0, 1, property_fired, NULL,
					       NULL) == -EINVAL);
	agree(timerthread_prepare(NULL, property_fired, NULL, &id) == -EINVAL);
	agree(timerthread_disarm(NULL, id) == -EINVAL);
	agree(timerthread_disarm_wait(NULL, id) == -EINVAL);
	agree(timerthread_cancel_matching(NULL, matched, drained, NULL) ==
	      -EINVAL);
	agree(timerthread_set_wake(NULL, not_woken, NULL) == -EINVAL);
	agree(timerthread_reschedule(NULL, id, 0) == -EINVAL);
	agree(timerthread_reschedule_after(NULL, id, 0) == -EINVAL);
	agree(timerthread_cancel(NULL, id) == -EINVAL);
	agree(timerthread_cancel_take(NULL, id, &arg) == -EINVAL);
	agree(timerthread_cancel_wait(NULL, id) == -EINVAL);
	agree(timerthread_cancel_wait_until(NULL, id, 0) == -EINVAL);
	agree(timerthread_get_deadline(NULL, id, &time) == -EINVAL);
	agree(timerthread_get_next_deadline(NULL, &time) == -EINVAL);
	agree(timerthread_cancel_all(NULL, drained, NULL) == -EINVAL);
	agree(timerthread_get_stat(NULL, TIMERTHREAD_STAT_FIRED, &value) ==
	      -EINVAL);
	agree(timerthread_take_snapshot(NULL, &s) == -EINVAL);
	agree(timerthread_visit_running(NULL, 0, property_slow, NULL) ==
	      -EINVAL);
	agree(timerthread_format_metrics(NULL, 1, 2, NULL, 0) == -EINVAL);
	agree(timerthread_dump(NULL, -1) == -EINVAL);
}

/* Where a time or an id was to be stored none is. */
static void bad_timers(void)
{
	struct timerthread *tt = model->tt;
	int64_t period = -choose_distance();
	timerthread_id id = 1;

	agree(timerthread_schedule(tt, 0, NULL, NULL, &id) == -EINVAL);
	agree(timerthread_schedule_after(tt, 0, NULL, NULL, &id) == -EINVAL);
	agree(timerthread_schedule_every(tt, 0, 1, NULL, NULL, &id) == -EINVAL);
	agree(timerthread_prepare(tt, NULL, NULL, &id) == -EINVAL);
	agree(timerthread_prepare(tt, property_fired, NULL, NULL) == -EINVAL);
	agree(timerthread_cancel_matching(tt, NULL, drained, NULL) == -EINVAL);
	agree(timerthread_schedule_every(tt, 0, period, property_fired, NULL,
					 &id) == -EINVAL);
	agree(id == 1);
	agree(timerthread_advance(tt, period - 1) == -EINVAL);
	if (model->pending.n > 0)
		id = model->pending.item[0].id;
	agree(timerthread_cancel_take(tt, id, NULL) == -EINVAL);
	agree(timerthread_get_deadline(tt, id, NULL) == -EINVAL);
	agree(timerthread_get_next_deadline(tt, NULL) == -EINVAL);
	agree(timerthread_cancel_all(tt, NULL, NULL) == -EINVAL);
}

/* The numbers between those that mean something, and beyond. */
static void bad_stat(void)
{
	unsigned which = choose(256);
	uint64_t value = 1;

	if (which <= 3 || (which >= 10 && which <= 13) ||
	    (which >= 20 && which <= 23) || which == 30 || which == 31 ||
	    which == 40 || which == 41 || (which >= 50 && which <= 53))
		return;
	agree(timerthread_get_stat(model->tt, (enum timerthread_stat)which,
				   &value) == -EINVAL);
	agree(value == 1);
}

static void bad_questions(void)
{
	struct timerthread_snapshot *s = NULL;
	struct timerthread *tt = model->tt;
	int64_t value = 1;

	agree(timerthread_get_stat(tt, TIMERTHREAD_STAT_FIRED, NULL) ==
	      -EINVAL);
	agree(timerthread_take_snapshot(tt, NULL) == -EINVAL);
	agree(timerthread_get_quantile(NULL, NULL, 0, 0, &value) == -EINVAL);
	agree(timerthread_take_snapshot(tt, &s) == 0);
	agree(timerthread_get_quantile(s, NULL, 0, 0, NULL) == -EINVAL);
	agree(timerthread_get_quantile(s, NULL, 0, NAN, &value) == -EINVAL);
	agree(timerthread_get_quantile(
		      s, NULL, (enum timerthread_histogram)(2 + choose(200)), 0,
		      &value) == -EINVAL);
	agree(value == 1);
	timerthread_free_snapshot(s);
	timerthread_free_snapshot(NULL);
	agree(timerthread_visit_running(tt, 0, NULL, NULL) == -EINVAL);
	agree(timerthread_visit_running(tt, -1 - choose_distance(),
					property_slow, NULL) == -EINVAL);
	agree(timerthread_format_metrics(&tt, 1, choose(2), NULL,
					 1 + choose(256)) == -EINVAL);
	agree(timerthread_dump(tt, INT_MAX) == -EBADF);
	agree(timerthread_dump(tt, -1) == -EBADF);
}

/* First what is not valid, then that it is too late. */
static void bad_options(void)
{
	struct timerthread *tt = model->tt;
	int64_t negative = -1 - choose_distance();

	agree(timerthread_set_name(tt, NULL) == -EINVAL);
	agree(timerthread_set_name(tt, "") == -EINVAL);
	agree(timerthread_set_name(tt, "sixteen letters.") == -EINVAL);
	agree(timerthread_set_buckets(tt, 0) == -EINVAL);
	agree(timerthread_set_buckets(tt, 1025 + choose(256)) == -EINVAL);
	agree(timerthread_set_clock(tt, CLOCK_PROCESS_CPUTIME_ID) == -EINVAL);
	agree(timerthread_set_slack(tt, negative) == -EINVAL);
	agree(timerthread_set_spin(tt, negative) == -EINVAL);
	agree(timerthread_set_spin(tt, 200001) == -EINVAL);
	agree(timerthread_set_reserve(tt, ((size_t)1 << 30) + 1) == -EINVAL);
	agree(timerthread_set_slow_hook(tt, negative, NULL, NULL) == -EINVAL);
}

static void late_options(void)
{
	struct timerthread *tt = model->tt;

	agree(timerthread_set_name(tt, "late") == -EBUSY);
	agree(timerthread_set_buckets(tt, 1) == -EBUSY);
	agree(timerthread_set_clock(tt, CLOCK_MONOTONIC) == -EBUSY);
	agree(timerthread_set_slack(tt, 0) == -EBUSY);
	agree(timerthread_set_spin(tt, 0) == -EBUSY);
	agree(timerthread_set_max_timers(tt, 1) == -EBUSY);
	agree(timerthread_set_reserve(tt, 1) == -EBUSY);
	agree(timerthread_set_executor(tt, NULL, NULL) == -EBUSY);
	agree(timerthread_set_wake(tt, not_woken, NULL) == -EBUSY);
	agree(timerthread_set_task_id(tt, NULL, NULL) == -EBUSY);
	agree(timerthread_set_thread_hooks(tt, NULL, NULL, NULL) == -EBUSY);
	agree(timerthread_set_slow_hook(tt, 0, property_slow, NULL) == -EBUSY);
}

/* It has another driver, and has had its start. */
static void bad_life(void)
{
	int again = model->stopped ? -ESHUTDOWN : -EBUSY;
	struct timerthread *tt = model->tt;
	pthread_t thread;
	int fd = -1;

	if (!model->started && !model->stopped)
		return;
	agree(timerthread_start_virtual(tt, 0) == again);
	agree(timerthread_start_polled(tt, &fd) == again);
	agree(timerthread_start_polled(tt, NULL) == -EINVAL);
	agree(timerthread_start(tt, NULL) == again && fd == -1);
	agree(timerthread_get_pthread(tt, NULL) == -EINVAL);
	agree(timerthread_get_pthread(tt, &thread) ==
	      (model->stopped ? -ESHUTDOWN : -EINVAL));
	if (model->started)
		agree(timerthread_dispatch(tt) == -EINVAL);
	late_options();
}

void do_wrong(void)
{
	switch (choose(6)) {
	case 0:
		no_instance();
		break;
	case 1:
		bad_timers();
		break;
	case 2:
		bad_stat();
		break;
	case 3:
		bad_questions();
		break;
	case 4:
		bad_options();
		break;
	default:
		bad_life();
		break;
	}
}
