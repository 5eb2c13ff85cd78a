/* SPDX-License-Identifier: MIT */
/*
 * Children of fork(2), where an executor has runs, or is given one.
 */
#include "config.h"

#include "task_pool.h"

#include "child.h"

static timerthread_id self;
static pid_t main_process, forked;

static int (*answer)(void *ctx, timerthread_fn *run, void *arg);

static bool in_the_child(void)
{
	return getpid() != main_process;
}

static void fork_here(void *arg)
{
	(void)arg;
	prepare_fork();
	forked = fork();
	if (forked != 0)
		return;
	ends_by_exit = 1;
	limit_child();
}

static int fork_in_submit(void *ctx, timerthread_fn *run, void *arg)
{
	fork_here(NULL);
	/* What another thread was in the midst of is not for the child. */
	if (forked == 0 && driver == OWN_THREAD)
		return 0;
	return answer(ctx, run, arg);
}

static void count_run(void *arg)
{
	(void)arg;
	written++;
}

/* The end of a child that has come out of the library again. */
static void end_child(int result)
{
	NEED(result == -ECHILD);
	NEED(written == 0);
	NEED(timerthread_stop(tt) == -ECHILD);
	timerthread_destroy(tt);
	_exit(EXIT_SUCCESS);
}

static int turn(void)
{
	return driver == POLLED ? timerthread_dispatch(tt) : advance(0);
}

START_TEST(fork_within_submit)
{
	int (*const answers[])(void *, timerthread_fn *,
			       void *) = {keep, refuse, call_inside};

	main_process = getpid();
	for (int i = 0; i < 6; i++) {
		int r;

		answer = answers[i % 3];
		written = 0;
		start_with(i < 3 ? VIRTUAL : POLLED, fork_in_submit);
		schedule(0, count_run, NULL);
		r = turn();
		if (in_the_child())
			end_child(r);
		ck_assert_int_eq(r, 1);
		ck_assert_int_eq(end_of(forked), EXIT_SUCCESS);
		call_tasks();
		ck_assert_int_eq(written, 1);
		end();
	}
}
END_TEST

/* On the thread that submits: nothing that is due behind it runs there. */
START_TEST(fork_in_a_refused_callback)
{
	main_process = getpid();
	for (int i = 0; i < 4; i++) {
		int r;

		start_with(i % 2 ? VIRTUAL : POLLED,
			   i < 2 ? refuse : call_inside);
		written = 0;
		schedule(-1, fork_here, NULL);
		schedule(0, count_run, NULL);
		r = turn();
		if (in_the_child())
			end_child(r);
		ck_assert_int_eq(r, 2);
		ck_assert_int_eq(end_of(forked), EXIT_SUCCESS);
		end();
	}
}
END_TEST

/* The timer thread's child ends where the submit returns. */
START_TEST(fork_within_submit_of_the_thread)
{
	answer = keep;
	start_with(OWN_THREAD, fork_in_submit);
	written = 0;
	schedule(0, count_run, NULL);
	submit_due(1);
	ck_assert_int_eq(end_of(forked), EXIT_SUCCESS);
	call_tasks();
	ck_assert_int_eq(written, 1);
	end();
}
END_TEST

static void call_in_child(void)
{
	int64_t deadline;

	call_tasks();
	NEED(timerthread_get_deadline(tt, self, &deadline) == -ECHILD);
	NEED(timerthread_cancel(tt, self) == -ECHILD);
	NEED(timerthread_cancel_wait(tt, self) == -ECHILD);
	NEED(timerthread_set_executor(tt, keep, NULL) == -ECHILD);
	NEED(written == 0);
	timerthread_destroy(tt);
}

/* In the child they do nothing; in the parent nothing has changed. */
START_TEST(runs_called_in_a_child)
{
	for (int d = 0; d < DRIVERS; d++) {
		start_with(d, keep);
		written = 0;
		for (int i = 0; i < 3; i++)
			self = schedule(i - 3, count_run, NULL);
		submit_due(3);
		ck_assert_int_eq(
			timerthread_reschedule(tt, self, TIMERTHREAD_NEVER), 0);
		in_child(call_in_child);
		call_tasks();
		ck_assert_int_eq(written, 2);
		ck_assert_int_eq(deadline_of(self), TIMERTHREAD_NEVER);
		end();
	}
}
END_TEST

static bool child_destroys;

static void fork_inside(void *arg)
{
	fork_here(arg);
	if (forked == 0 && child_destroys)
		timerthread_destroy(tt);
}

static void *call_and_end(void *arg)
{
	call_in_thread(arg);
	if (!in_the_child())
		return NULL;
	/* One that has destroyed it calls no more. */
	if (!child_destroys)
		call_in_child();
	_exit(EXIT_SUCCESS);
}

/* A callback that forks, and returns in the child too, as others do. */
START_TEST(fork_in_a_callback)
{
	main_process = getpid();
	for (int i = 0; i < 2 * DRIVERS; i++) {
		struct caller c = {.task = 0};

		start_with(i % DRIVERS, keep);
		child_destroys = i >= DRIVERS;
		written = 0;
		self = every(-2, HOUR, fork_inside, NULL);
		schedule(-1, count_run, NULL);
		submit_due(2);
		ck_assert_int_eq(
			pthread_create(&c.thread, NULL, call_and_end, &c), 0);
		end_call(&c);
		ck_assert_int_eq(end_of(forked), EXIT_SUCCESS);
		ck_assert_int_eq(timerthread_cancel(tt, self), 0);
		call_tasks();
		ck_assert_int_eq(written, 1);
		end();
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		fork_within_submit,
		fork_in_a_refused_callback,
		fork_within_submit_of_the_thread,
		runs_called_in_a_child,
		fork_in_a_callback,
	};

	return RUN_TESTS("executor_fork", tests);
}
