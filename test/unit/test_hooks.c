/* SPDX-License-Identifier: MIT */
/*
 * The hooks of the timer thread.
 */
#include "config.h"

#include "child.h"
#include "fixture.h"
#include "mask.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

/* Written by the timer thread alone, read when that is over. */
enum event { ON_START = 1, CALLBACK, ON_EXIT };
static struct {
	enum event what;
	pthread_t thread;
	void *arg;
} events[32];
static int n_events;

static void record(enum event what, void *arg)
{
	if (n_events == 32)
		abort();
	events[n_events].what = what;
	events[n_events].thread = pthread_self();
	events[n_events].arg = arg;
	n_events++;
}

static void on_start(void *arg)
{
	record(ON_START, arg);
}

static void on_exit_(void *arg)
{
	/* Time enough for a stop that does not wait. */
	for (int i = 0; i < 100; i++)
		sched_yield();
	record(ON_EXIT, arg);
}

static void callback(void *arg)
{
	record(CALLBACK, arg);
}

static void set_hooks(timerthread_fn *first, timerthread_fn *last, void *arg)
{
	n_events = 0;
	setup();
	ck_assert_int_eq(timerthread_set_thread_hooks(tt, first, last, arg), 0);
}

static void start_with(timerthread_fn *first, timerthread_fn *last, void *arg)
{
	set_hooks(first, last, arg);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
}

/* The last three arguments are the events that there were; 0: none. */
static void stop_and_check(enum event a, enum event b, enum event c)
{
	const enum event expected[] = {a, b, c};
	int n = 0;

	ck_assert_int_eq(timerthread_stop(tt), 0);
	while (n < 3 && expected[n]) {
		ck_assert_int_lt(n, n_events);
		ck_assert_int_eq(events[n].what, expected[n]);
		n++;
	}
	ck_assert_int_eq(n_events, n);
}

START_TEST(errors)
{
	int one, two;

	ck_assert_int_eq(
		timerthread_set_thread_hooks(NULL, on_start, on_exit_, NULL),
		-EINVAL);
	start_with(on_start, on_exit_, &one);
	ck_assert_int_eq(timerthread_set_thread_hooks(tt, never, never, &two),
			 -EBUSY);
	stop_and_check(ON_START, ON_EXIT, 0);
	ck_assert_ptr_eq(events[0].arg, &one);
	ck_assert_ptr_eq(events[1].arg, &one);
	ck_assert_int_eq(timerthread_set_thread_hooks(tt, never, never, &two),
			 -EBUSY);
	timerthread_destroy(tt);

	/* Stopped without a start: there is no thread to call them. */
	set_hooks(never, never, NULL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_set_thread_hooks(tt, never, never, NULL),
			 -EBUSY);
	timerthread_destroy(tt);

	set_hooks(never, never, NULL);
	timerthread_destroy(tt);
}
END_TEST

START_TEST(what_is_set_last_counts)
{
	int arg;

	set_hooks(never, never, NULL);
	ck_assert_int_eq(
		timerthread_set_thread_hooks(tt, on_start, on_exit_, &arg), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	stop_and_check(ON_START, ON_EXIT, 0);
	ck_assert_ptr_eq(events[0].arg, &arg);
	timerthread_destroy(tt);

	set_hooks(never, never, NULL);
	ck_assert_int_eq(timerthread_set_thread_hooks(tt, NULL, NULL, NULL), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	stop_and_check(0, 0, 0);
	timerthread_destroy(tt);
}
END_TEST

static void start_late(void *arg)
{
	hold(&ran);
	record(ON_START, arg);
}

/* What is due while on_start runs waits for it. */
START_TEST(order_and_thread)
{
	pthread_t self;
	int arg, n = 0;

	start_with(start_late, on_exit_, &arg);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_schedule(tt, 0, callback, &n, NULL), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, post, &ran, NULL), 0);
	ck_assert_int_eq(
		timerthread_schedule(tt, TIMERTHREAD_NEVER, never, NULL, NULL),
		0);
	ck_assert_int_eq(timerthread_get_pthread(tt, &self), 0);
	for (int i = 0; i < 1000; i++)
		sched_yield();
	sem_post(&go);
	wait_for(&ran);
	stop_and_check(ON_START, CALLBACK, ON_EXIT);
	for (int i = 0; i < 3; i++)
		ck_assert(pthread_equal(events[i].thread, self));
	ck_assert_ptr_eq(events[0].arg, &arg);
	ck_assert_ptr_eq(events[1].arg, &n);
	ck_assert_ptr_eq(events[2].arg, &arg);
	/* Nor does a second stop, or destroy, call it again. */
	stop_and_check(ON_START, CALLBACK, ON_EXIT);
	timerthread_destroy(tt);
	ck_assert_int_eq(n_events, 3);
}
END_TEST

START_TEST(either_may_be_missing)
{
	int arg;

	start_with(on_start, NULL, &arg);
	stop_and_check(ON_START, 0, 0);
	timerthread_destroy(tt);

	start_with(NULL, on_exit_, &arg);
	stop_and_check(ON_EXIT, 0, 0);
	timerthread_destroy(tt);

	start_with(NULL, NULL, &arg);
	stop_and_check(0, 0, 0);
	timerthread_destroy(tt);
}
END_TEST

START_TEST(both_run_when_stopped_at_once)
{
	int arg;

	for (int i = 0; i < 200; i++) {
		start_with(on_start, on_exit_, &arg);
		if (i % 2) {
			stop_and_check(ON_START, ON_EXIT, 0);
			timerthread_destroy(tt);
		} else {
			timerthread_destroy(tt);
			ck_assert_int_eq(n_events, 2);
		}
	}
}
END_TEST

/* Once only, and not for a start that fails. */
START_TEST(not_for_a_failed_start)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	set_hooks(on_start, on_exit_, NULL);
	ck_assert_int_eq(timerthread_start(tt, &attr), -EINVAL);
	ck_assert_int_eq(n_events, 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), -EBUSY);
	stop_and_check(ON_START, ON_EXIT, 0);
	timerthread_destroy(tt);
	pthread_attr_destroy(&attr);
}
END_TEST

static struct {
	char name[16];
	bool mask_is_right;
} seen;

static void look(void *arg)
{
	(void)arg;
	get_thread_name(seen.name, sizeof(seen.name));
	seen.mask_is_right = mask_is_right();
}

/* As callbacks do. */
START_TEST(signals_are_blocked_and_the_name_is_set)
{
	for (int i = 0; i < 2; i++) {
		memset(&seen, 0, sizeof(seen));
		set_hooks(i ? look : NULL, i ? NULL : look, NULL);
		ck_assert_int_eq(timerthread_set_name(tt, "hooked"), 0);
		ck_assert_int_eq(timerthread_start(tt, NULL), 0);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		ck_assert_str_eq(seen.name, "hooked");
		ck_assert(seen.mask_is_right);
		timerthread_destroy(tt);
	}
}
END_TEST

/* Results of calls that a hook made. */
static int result[8];
static timerthread_id first_id;

static void use_at_start(void *arg)
{
	timerthread_id id;

	result[0] = timerthread_schedule(tt, 0, post, arg, &first_id);
	result[1] =
		timerthread_schedule(tt, TIMERTHREAD_NEVER, never, NULL, &id);
	result[2] = timerthread_reschedule(tt, id, TIMERTHREAD_NEVER - 1);
	result[3] = timerthread_cancel(tt, id);
	result[4] =
		timerthread_schedule(tt, TIMERTHREAD_NEVER, never, NULL, &id);
	result[5] = timerthread_cancel_wait(tt, id);
	result[6] = timerthread_cancel_wait(tt, id);
	result[7] = timerthread_set_slack(tt, 0);
}

/* Also before start has returned. */
START_TEST(on_start_uses_timers)
{
	for (int i = 0; i < 100; i++) {
		start_with(use_at_start, NULL, &ran);
		wait_for(&ran);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		for (int j = 0; j < 6; j++)
			ck_assert_int_eq(result[j], 0);
		ck_assert_int_eq(result[6], -ENOENT);
		ck_assert_int_eq(result[7], -EBUSY);
		ck_assert_int_eq(timerthread_cancel(tt, first_id), -ENOENT);
		timerthread_destroy(tt);
	}
}
END_TEST

static void schedule_after_at_start(void *arg)
{
	const int64_t hour = 3600 * TIMERTHREAD_SEC;
	timerthread_id id;
	int64_t before, deadline = 0;

	(void)arg;
	before = timerthread_now(tt);
	result[0] = timerthread_schedule_after(tt, hour, never, NULL, &id);
	timerthread_get_deadline(tt, id, &deadline);
	result[1] = deadline >= before + hour;
	result[2] = timerthread_reschedule_after(tt, id, 2 * hour);
	timerthread_get_deadline(tt, id, &deadline);
	result[3] = deadline >= before + 2 * hour;
	sem_post(&ran);
}

/* Some of these calls come before the instance counts as started. */
START_TEST(time_spans_at_start)
{
	for (int i = 0; i < 300; i++) {
		start_with(schedule_after_at_start, NULL, NULL);
		wait_for(&ran);
		ck_assert_int_eq(result[0], 0);
		ck_assert(result[1]);
		ck_assert_int_eq(result[2], 0);
		ck_assert(result[3]);
		timerthread_destroy(tt);
	}
}
END_TEST

static timerthread_id pending_id, past_id, drained_id;

static void visit(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	(void)fn;
	(void)arg;
	*(timerthread_id *)ctx = id;
}

static void use_at_exit(void *arg)
{
	record(ON_EXIT, arg);
	result[0] = timerthread_cancel_wait(tt, pending_id);
	result[1] = timerthread_cancel_wait(tt, past_id);
	result[2] = timerthread_schedule(tt, 0, never, NULL, NULL);
	result[3] = timerthread_reschedule(tt, pending_id, 0);
	result[4] = timerthread_stop(tt);
	result[5] = timerthread_cancel_all(tt, visit, &drained_id);
	result[6] = timerthread_start(tt, NULL);
}

START_TEST(on_exit_uses_timers)
{
	timerthread_id left;

	start_with(NULL, use_at_exit, NULL);
	ck_assert_int_eq(timerthread_schedule(tt, TIMERTHREAD_NEVER, never,
					      NULL, &pending_id),
			 0);
	ck_assert_int_eq(
		timerthread_schedule(tt, TIMERTHREAD_NEVER, never, NULL, &left),
		0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, post, &ran, &past_id), 0);
	wait_for(&ran);
	stop_and_check(ON_EXIT, 0, 0);
	ck_assert_int_eq(result[0], 0);
	ck_assert_int_eq(result[1], -ENOENT);
	ck_assert_int_eq(result[2], -ESHUTDOWN);
	ck_assert_int_eq(result[3], -ESHUTDOWN);
	ck_assert_int_eq(result[4], 1);
	ck_assert_int_eq(result[5], 1);
	ck_assert_uint_eq(drained_id, left);
	ck_assert_int_eq(result[6], -ESHUTDOWN);
	ck_assert_int_eq(timerthread_cancel(tt, pending_id), -ENOENT);
	ck_assert_int_eq(timerthread_cancel(tt, left), -ENOENT);
	timerthread_destroy(tt);
}
END_TEST

static void stop_at_start(void *arg)
{
	record(ON_START, arg);
	result[0] = timerthread_stop(tt);
	result[1] = timerthread_stop(tt);
	sem_post(&ran);
}

/* It may come before start has returned: start has then succeeded. */
START_TEST(on_start_stops)
{
	for (int i = 0; i < 100; i++) {
		start_with(stop_at_start, on_exit_, NULL);
		wait_for(&ran);
		ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, NULL),
				 -ESHUTDOWN);
		stop_and_check(ON_START, ON_EXIT, 0);
		ck_assert_int_eq(result[0], 1);
		ck_assert_int_eq(result[1], 1);
		timerthread_destroy(tt);
	}
}
END_TEST

static void destroy_after_go(void *arg)
{
	record(ON_START, arg);
	wait_for(&go);
	timerthread_destroy(tt);
}

static void tell_exit(void *arg)
{
	record(ON_EXIT, arg);
	sem_post(&ran);
}

/* What was due is discarded, and on_exit still runs. */
START_TEST(on_start_destroys)
{
	for (int i = 0; i < 50; i++) {
		start_with(destroy_after_go, tell_exit, &ran);
		ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, NULL),
				 0);
		sem_post(&go);
		wait_for(&ran);
		ck_assert_int_eq(n_events, 2);
		ck_assert_int_eq(events[1].what, ON_EXIT);
	}
}
END_TEST

static void destroy_at_exit(void *arg)
{
	record(ON_EXIT, arg);
	timerthread_destroy(tt);
}

/* The stop that ends the thread is waited for. */
START_TEST(on_exit_destroys)
{
	for (int i = 0; i < 50; i++) {
		start_with(NULL, destroy_at_exit, NULL);
		ck_assert_int_eq(timerthread_schedule(tt, TIMERTHREAD_NEVER,
						      never, NULL, NULL),
				 0);
		stop_and_check(ON_EXIT, 0, 0);
	}
}
END_TEST

static void *stopper(void *arg)
{
	return timerthread_stop(arg) == 0 ? arg : NULL;
}

/* Those in stop wait for on_start, and for on_exit. */
static void stop_while_held(timerthread_fn *first, timerthread_fn *last)
{
	enum { THREADS = 3 };
	pthread_t t[THREADS];
	void *r;

	start_with(first, last, NULL);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, stopper, tt), 0);
	wait_for(&ran);
	for (int i = 0; i < 1000; i++)
		sched_yield();
	ck_assert_int_eq(n_events, 0);
	sem_post(&go);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], &r);
		ck_assert_ptr_eq(r, tt);
	}
	ck_assert_int_eq(n_events, 1);
	timerthread_destroy(tt);
}

START_TEST(stop_waits_for_the_hooks)
{
	stop_while_held(start_late, NULL);
	stop_while_held(NULL, start_late);
}
END_TEST

/*
 * A child that is made in on_start: the instance is its parent's, even if the
 * start has not returned there.
 */
static pid_t hook_child;

static void fork_in_hook(void *arg)
{
	struct timerthread *t = *(struct timerthread **)arg;

	prepare_fork();
	hook_child = fork();
	if (hook_child != 0)
		return;
	limit_child();
	NEED(timerthread_schedule(t, 0, never, NULL, NULL) == -ECHILD);
	NEED(timerthread_set_slack(t, 0) == -ECHILD);
	NEED(timerthread_stop(t) == -ECHILD);
	timerthread_destroy(t);
	_exit(EXIT_SUCCESS);
}

/* Lets the thread go on, as if this one were preempted in the start. */
int __real_pthread_create(pthread_t *t, const pthread_attr_t *attr,
			  void *(*run)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr,
			  void *(*run)(void *), void *arg);

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr,
			  void *(*run)(void *), void *arg)
{
	int r = __real_pthread_create(t, attr, run, arg);

	for (int i = 0; i < 1000; i++)
		sched_yield();
	return r;
}

START_TEST(on_start_forks)
{
	for (int i = 0; i < 5; i++) {
		start_with(fork_in_hook, NULL, &tt);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		ck_assert_int_eq(end_of(hook_child), EXIT_SUCCESS);
		timerthread_destroy(tt);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		errors,
		what_is_set_last_counts,
		order_and_thread,
		either_may_be_missing,
		both_run_when_stopped_at_once,
		not_for_a_failed_start,
		signals_are_blocked_and_the_name_is_set,
		on_start_uses_timers,
		time_spans_at_start,
		on_exit_uses_timers,
		on_start_stops,
		on_start_destroys,
		on_exit_destroys,
		stop_waits_for_the_hooks,
		on_start_forks,
	};

	return RUN_TESTS("hooks", tests);
}
