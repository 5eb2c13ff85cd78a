/* SPDX-License-Identifier: MIT */
/*
 * The functions that a program hands in, each called in each way: its thread
 * cannot be cancelled in it, errno is kept, and a child that it makes finds
 * that the instance is its parent's.
 */
#include "config.h"

#include "child.h"
#include "prepared.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

/* What each function does, and what is seen of it. */
static void (*body)(void);
static int calls, cancel_state;

static void do_body(void)
{
	calls++;
	body();
}

/*
 * The functions.
 */
static void callback(void *arg)
{
	(void)arg;
	do_body();
}

/* Long enough for any threshold that is 0. */
static void long_callback(void *arg)
{
	int64_t begun = timerthread_now(NULL);

	(void)arg;
	while (timerthread_now(NULL) == begun)
		;
}

static void slow_hook(timerthread_id id, timerthread_fn *fn, void *arg,
		      int64_t run_time, void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	(void)ctx;
	ck_assert_int_gt(run_time, 0);
	do_body();
}

static void visit_it(timerthread_id id, timerthread_fn *fn, void *arg,
		     void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	(void)ctx;
	do_body();
}

static int match_it(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	visit_it(id, fn, arg, ctx);
	return 1;
}

static void wake(void *ctx)
{
	(void)ctx;
	do_body();
}

static uintptr_t no_task(void *ctx)
{
	(void)ctx;
	return 0;
}

static uintptr_t task_id(void *ctx)
{
	(void)ctx;
	do_body();
	return 0;
}

static struct {
	timerthread_fn *run;
	void *arg;
} submitted;

static int submit(void *ctx, timerthread_fn *run, void *arg)
{
	submitted.run = run;
	submitted.arg = arg;
	if (ctx)
		do_body();
	return 0;
}

/*
 * The calls that call them.
 */
static timerthread_id id;
static int visited; /* the result of visit_running */

static void start_loop(void)
{
	int fd;

	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
}

static void with_callback(void)
{
	start_loop();
	schedule(0, callback, NULL);
}

static void on_virtual_clock(void)
{
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	schedule(0, callback, NULL);
}

static void with_slow_hook(void)
{
	ck_assert_int_eq(timerthread_set_slow_hook(tt, 0, slow_hook, NULL), 0);
	start_loop();
	schedule(0, long_callback, NULL);
}

static void with_submit(void)
{
	ck_assert_int_eq(timerthread_set_executor(tt, submit, tt), 0);
	with_callback();
}

static void with_run(void)
{
	ck_assert_int_eq(timerthread_set_executor(tt, submit, NULL), 0);
	with_callback();
	ck_assert_int_eq(timerthread_dispatch(tt), 1);
}

static void with_timer(void)
{
	start_loop();
	schedule(TIMERTHREAD_NEVER, never, NULL);
}

static void visit_all(void *arg)
{
	(void)arg;
	visited = timerthread_visit_running(tt, 0, slow_hook, NULL);
}

static void with_visitor(void)
{
	start_loop();
	schedule(0, visit_all, NULL);
}

/* A loop that sleeps for an hour; id is for later than that. */
static void with_wake(void)
{
	int64_t t;

	ck_assert_int_eq(timerthread_set_wake(tt, wake, NULL), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, NULL), 0);
	id = prepare(never, NULL);
	ck_assert_int_eq(arm(id, TIMERTHREAD_NEVER), 0);
	ck_assert_int_eq(timerthread_dispatch(tt), 0);
	ck_assert_int_eq(timerthread_get_next_deadline(tt, &t), 0);
}

static void with_task_id(void)
{
	ck_assert_int_eq(timerthread_set_task_id(tt, task_id, NULL), 0);
	start_loop();
}

static int call_dispatch(void)
{
	return timerthread_dispatch(tt);
}

static int call_advance(void)
{
	return timerthread_advance(tt, 1);
}

static int call_run(void)
{
	submitted.run(submitted.arg);
	submitted.run = NULL;
	return 1;
}

static int call_match(void)
{
	return timerthread_cancel_matching(tt, match_it, NULL, NULL);
}

static int match_any(timerthread_id i, timerthread_fn *fn, void *arg, void *ctx)
{
	(void)i;
	(void)fn;
	(void)arg;
	(void)ctx;
	return 1;
}

static int call_visit(void)
{
	return timerthread_cancel_matching(tt, match_any, visit_it, NULL);
}

static int call_cancel_all(void)
{
	return timerthread_cancel_all(tt, visit_it, NULL);
}

static int call_schedule(void)
{
	return timerthread_schedule_after(tt, HOUR, never, NULL, NULL);
}

static int call_every(void)
{
	return timerthread_schedule_every(tt, now() + HOUR, 1, never, NULL,
					  NULL);
}

static int call_reschedule(void)
{
	return timerthread_reschedule_after(tt, id, HOUR);
}

static int call_stop(void)
{
	return timerthread_stop(tt);
}

static const struct way {
	const char *name;
	void (*prepare)(void);
	int (*call)(void);
	int result;
	int in_child; /* the result in a child that the function has made */
} ways[] = {
	{"task id", with_task_id, call_dispatch, 0, 0},
	/* From here on, the function may fork. */
	{"dispatch", with_callback, call_dispatch, 1, -ECHILD},
	{"advance", on_virtual_clock, call_advance, 1, -ECHILD},
	{"slow hook", with_slow_hook, call_dispatch, 1, -ECHILD},
	{"submit", with_submit, call_dispatch, 1, -ECHILD},
	{"run", with_run, call_run, 1, 1},
	{"match", with_timer, call_match, 1, -ECHILD},
	{"visit", with_timer, call_visit, 1, -ECHILD},
	{"cancel_all", with_timer, call_cancel_all, 1, -ECHILD},
	{"visit running", with_visitor, call_dispatch, 1, -ECHILD},
	{"wake, schedule", with_wake, call_schedule, 0, -ECHILD},
	{"wake, every", with_wake, call_every, 0, -ECHILD},
	{"wake, reschedule", with_wake, call_reschedule, 0, -ECHILD},
	{"wake, stop", with_wake, call_stop, 0, -ECHILD},
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]), FORKS = 1 };

static void nothing(void)
{
}

static const struct way *begin_way(int i, void (*does)(void))
{
	body = nothing;
	setup();
	ways[i].prepare();
	body = does;
	calls = 0;
	return &ways[i];
}

/* Runs what is submitted, which a destroy waits for. */
static void end_way(void)
{
	body = nothing;
	if (submitted.run)
		call_run();
	end();
}

/*
 * Cancellation, and errno.
 */
static void look_at_cancellation(void)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_setcancelstate(cancel_state, NULL);
	errno = 77;
}

static void be_cancelled(void)
{
	look_at_cancellation();
	/* The call goes on, and does all that it should. */
	pthread_testcancel();
}

static const struct way *current_way;

static void *call_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	errno = 5;
	*(int *)arg = current_way->call();
	if (errno == 5)
		pthread_testcancel();
	return NULL;
}

START_TEST(is_not_cancelled)
{
	int r = -1;
	void *end_of_thread;

	current_way = begin_way(_i, be_cancelled);
	cancel_state = -1;
	pthread_join(start_thread(call_cancelled, &r), &end_of_thread);
	ck_assert_msg(r == current_way->result, "%s: %d", current_way->name, r);
	ck_assert_int_ge(calls, 1);
	ck_assert_int_eq(cancel_state, PTHREAD_CANCEL_DISABLE);
	/* It is cancelled after that, and errno was kept until then. */
	ck_assert_ptr_eq(end_of_thread, PTHREAD_CANCELED);
	end_way();
}
END_TEST

/* A thread that has it off finds it so, whatever was done meanwhile. */
static void turn_on(void)
{
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
}

START_TEST(cancellation_is_as_before)
{
	int state, before;

	for (int i = 0; i < 2; i++) {
		const struct way *w = begin_way(_i, turn_on);

		before = i ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
		pthread_setcancelstate(before, NULL);
		ck_assert_int_eq(w->call(), w->result);
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
		ck_assert_msg(state == before, "%s", w->name);
		end_way();
	}
}
END_TEST

/* If it may change its thread, each thread's setting is its own. */
START_TEST(tasks_keep_their_threads_as_they_are)
{
	body = nothing;
	setup();
	ck_assert_int_eq(timerthread_set_task_id(tt, no_task, NULL), 0);
	with_callback();
	body = look_at_cancellation;
	cancel_state = -1;
	errno = 5;
	ck_assert_int_eq(timerthread_dispatch(tt), 1);
	ck_assert_int_eq(errno, 5);
	ck_assert_int_eq(cancel_state, PTHREAD_CANCEL_ENABLE);
	body = nothing;
	end();
}
END_TEST

static void *dump_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	*(int *)arg = timerthread_dump(tt, *(int *)arg);
	pthread_testcancel();
	return NULL;
}

/* It writes, which is a point of cancellation. */
START_TEST(a_report_is_not_cancelled)
{
	int r = open("/dev/null", O_WRONLY);
	void *end_of_thread;

	ck_assert_int_ge(r, 0);
	start_virtual();
	pthread_join(start_thread(dump_cancelled, &r), &end_of_thread);
	ck_assert_ptr_eq(end_of_thread, PTHREAD_CANCELED);
	ck_assert_int_gt(r, 100);
	end();
}
END_TEST

/*
 * A child.
 */
static pid_t child; /* 0: this is it */

static void make_child(void)
{
	if (calls > 1)
		return;
	child = fork();
	if (child == 0)
		limit_child();
}

static void check_child(void)
{
	const int64_t t = 0;

	NEED(timerthread_schedule(tt, t, never, NULL, NULL) == -ECHILD);
	NEED(timerthread_cancel_all(tt, visit_it, NULL) == -ECHILD);
	NEED(timerthread_stop(tt) == -ECHILD);
	timerthread_destroy(tt);
}

START_TEST(a_child_returns_at_once)
{
	const struct way *w = begin_way(FORKS + _i, make_child);
	int r;

	visited = -1;
	r = w->call();
	if (child == 0) {
		NEED(r == w->in_child);
		NEED(w->prepare != with_visitor || visited == -ECHILD);
		check_child();
		_exit(EXIT_SUCCESS);
	}
	ck_assert_int_eq(end_of(child), EXIT_SUCCESS);
	ck_assert_msg(r == w->result, "%s: %d", w->name, r);
	end_way();
}
END_TEST

/* The instance is freed in both. */
START_TEST(a_child_made_in_a_destroy)
{
	body = nothing;
	setup();
	with_wake();
	body = make_child;
	calls = 0;
	end();
	if (child == 0)
		_exit(EXIT_SUCCESS);
	ck_assert_int_eq(calls, 1);
	ck_assert_int_eq(end_of(child), EXIT_SUCCESS);
}
END_TEST

/*
 * No lock is held.
 */
static void look_at_lock(void)
{
	ck_assert_int_eq(pthread_mutex_trylock(&tt->mutex), 0);
	pthread_mutex_unlock(&tt->mutex);
	for (uint32_t i = 0; i < tt->engine.intake->n; i++)
		ck_assert(!lock_is_held(&tt->engine.intake->bucket[i].lock));
	ck_assert(!lock_is_held(&tt->engine.wakeup.lock));
}

START_TEST(no_lock_is_held)
{
	const struct way *w = begin_way(_i, look_at_lock);

	ck_assert_int_eq(w->call(), w->result);
	end_way();
}
END_TEST

int main(void)
{
	const TTest *const each[] = {
		is_not_cancelled,
		cancellation_is_as_before,
		no_lock_is_held,
	};
	const TTest *const forking[] = {
		a_child_returns_at_once,
	};
	const TTest *const once[] = {
		tasks_keep_their_threads_as_they_are,
		a_report_is_not_cancelled,
		a_child_made_in_a_destroy,
	};
	TCase *tcase = tcase_create("handed");

	ADD_LOOP_TESTS(tcase, each, WAYS);
	ADD_LOOP_TESTS(tcase, forking, WAYS - FORKS);
	ADD_TESTS(tcase, once);
	return run_case("handed", tcase);
}
