/* SPDX-License-Identifier: MIT */
/*
 * Stop and destroy, one step after another, where an executor has runs or is
 * given one.
 */
#include "config.h"

#include "jobs.h"

#include <fcntl.h>
#include <sched.h>

/* What is taken back, each once. */
static void count_drained(timerthread_id id, timerthread_fn *fn, void *arg,
			  void *ctx)
{
	struct job *j = arg;

	ck_assert_ptr_eq((void *)fn, (void *)work);
	ck_assert_uint_eq(id, j->id);
	j->runs -= 1000;
	(void)ctx;
}

static int cancel_all(void)
{
	return timerthread_cancel_all(tt, count_drained, NULL);
}

static void stop_within(void)
{
	within.result = timerthread_stop(tt);
}

START_TEST(submit_stops)
{
	for (int i = 0; i < 2 * DRIVERS; i++) {
		struct job j[3] = {{0}};

		begin_with(do_within);
		memset(&within, 0, sizeof(within));
		within.what = stop_within;
		within.keeps = i < DRIVERS;
		within.answer = -1;
		within.result = -77;
		start_driver(i % DRIVERS);
		for (int k = 0; k < 3; k++)
			plan(&j[k], TIMERTHREAD_NEVER - 3 + k);
		/* The thread stops as soon as one is due. */
		for (int k = 0; k < (driver == OWN_THREAD ? 1 : 3); k++)
			ck_assert_int_eq(reschedule(j[k].id, -3 + k), 0);
		if (driver == POLLED)
			ck_assert_int_eq(timerthread_dispatch(tt), 1);
		if (driver == VIRTUAL)
			ck_assert_int_eq(advance(10), 1);
		while (driver == OWN_THREAD &&
		       reschedule(j[2].id, TIMERTHREAD_NEVER) != -ESHUTDOWN)
			sched_yield();
		ck_assert_int_eq(timerthread_stop(tt), 0);
		ck_assert_int_eq(within.result, 1);
		ck_assert_uint_eq(kept, within.keeps);
		call_tasks();
		ck_assert_int_eq(cancel_all(), 3);
		for (int k = 0; k < 3; k++)
			ck_assert_int_eq(j[k].runs, -1000);
		end();
	}
}
END_TEST

static void destroy_within(void)
{
	timerthread_destroy(tt);
	tt = NULL;
	if (driver == OWN_THREAD)
		sem_post(&ran);
}

static void check_closed(void)
{
	if (driver == POLLED)
		ck_assert_int_eq(fcntl(polled_fd, F_GETFD), -1);
}

/*
 * The instance is gone with the last run that is outstanding, or at once.  No
 * call of the test's may go on then: what is submitted has come back.
 */
START_TEST(submit_destroys)
{
	for (int i = 0; i < 2 * DRIVERS; i++) {
		start_within(i % DRIVERS, NULL, true);
		every(0, 1, post, &ran);
		schedule(TIMERTHREAD_NEVER, never, NULL);
		submit_due(1);
		within.keeps = i < DRIVERS;
		within.what = destroy_within;
		call_task(called++);
		if (driver == POLLED)
			ck_assert_int_eq(timerthread_dispatch(tt), 1);
		else if (driver == VIRTUAL)
			ck_assert_int_eq(advance(10), 1);
		wait_for(&ran);
		if (driver == OWN_THREAD)
			wait_for(&ran);
		if (driver == OWN_THREAD && i < DRIVERS)
			wait_for(&came);
		call_tasks();
		check_closed();
	}
}
END_TEST

/* Stopped with runs outstanding: some are called before cancel_all. */
START_TEST(stopped_with_runs_outstanding)
{
	for (int i = 0; i < 2 * DRIVERS; i++) {
		struct job j[8] = {{0}};
		bool at_once = i < DRIVERS;

		start_with(i % DRIVERS, keep);
		for (int k = 0; k < 8; k++)
			plan(&j[k], -8 + k);
		submit_due(8);
		ck_assert_int_eq(reschedule(j[1].id, TIMERTHREAD_NEVER), 0);
		call_task(1);
		ck_assert_int_eq(reschedule(j[3].id, 77), 0);
		ck_assert_int_eq(cancel(j[5].id), 0);
		call_task(6);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		if (at_once)
			call_tasks();
		ck_assert_int_eq(deadline_of(j[0].id), -8);
		ck_assert_int_eq(cancel(j[0].id), 0);
		ck_assert_int_eq(timerthread_cancel_wait(tt, j[3].id), 0);
		ck_assert_int_eq(cancel_all(), 4);
		call_tasks();
		ck_assert_int_eq(cancel_all(), 0);
		for (int k = 0; k < 8; k++) {
			bool is_drained = k == 1 || k == 2 || k == 4 || k == 7;

			ck_assert_int_eq(j[k].runs,
					 k == 6 ? 1 : -1000 * is_drained);
			check_not_pending(j[k].id);
			ck_assert_int_eq(cancel(j[k].id), -ENOENT);
		}
		end();
	}
}
END_TEST

/* Runs may be called when the instance is destroyed, and its args freed. */
START_TEST(destroyed_with_runs_outstanding)
{
	for (int i = 0; i < 2 * DRIVERS; i++) {
		start_with(i % DRIVERS, keep);
		for (int k = 0; k < 200; k++)
			schedule(0, never, NULL);
		every(0, 1, never, NULL);
		schedule(TIMERTHREAD_NEVER, never, NULL);
		submit_due(201);
		if (i >= DRIVERS)
			ck_assert_int_eq(timerthread_stop(tt), 0);
		timerthread_destroy(tt);
		tt = NULL;
		call_tasks();
		check_closed();
	}
}
END_TEST

/* A callback that destroys, called by hand. */
static void destroy_inside(void *arg)
{
	(void)arg;
	destroy_within();
}

START_TEST(destroyed_by_a_callback)
{
	for (int i = 0; i < 2 * DRIVERS; i++) {
		start_with(i % DRIVERS, keep);
		/* As the first or the last of those that are called. */
		if (i < DRIVERS)
			schedule(-9, destroy_inside, NULL);
		schedule(TIMERTHREAD_NEVER, never, NULL);
		for (int k = 0; k < 4; k++)
			schedule(-8 + k, i < DRIVERS ? never : post, &ran);
		if (i >= DRIVERS)
			schedule(0, destroy_inside, NULL);
		submit_due(5);
		call_tasks();
		ck_assert_ptr_null(tt);
		check_closed();
	}
}
END_TEST

/* In an advance or a dispatch, which goes on to say how many there were. */
START_TEST(destroyed_by_a_callback_within_submit)
{
	for (int i = 0; i < 4; i++) {
		start_with(i % 2 ? POLLED : VIRTUAL,
			   i < 2 ? call_inside : refuse);
		schedule(-2, post, &ran);
		schedule(-1, destroy_inside, NULL);
		schedule(0, never, NULL);
		submit_due(2);
		ck_assert_ptr_null(tt);
		check_closed();
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		submit_stops,
		submit_destroys,
		stopped_with_runs_outstanding,
		destroyed_with_runs_outstanding,
		destroyed_by_a_callback,
		destroyed_by_a_callback_within_submit,
	};

	return RUN_TESTS("executor_stop", tests);
}
