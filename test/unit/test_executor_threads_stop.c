/* SPDX-License-Identifier: MIT */
/*
 * Stop and destroy, while threads of an executor run callbacks: what waits for
 * these, and who frees the instance.
 */
#include "config.h"

#include "cancellers.h"
#include "task_pool.h"

START_TEST(stop_waits)
{
	for (int d = 0; d < DRIVERS; d++) {
		struct canceller w[2];
		struct caller c[2];
		timerthread_id left;

		start_with(d, keep);
		schedule(-3, hold_and_write, &ran);
		schedule(-2, hold, &ran);
		left = schedule(-1, never, NULL);
		submit_due(3);
		written = 0;
		for (int i = 0; i < 2; i++) {
			start_call(&c[i], called++);
			wait_for(&ran);
		}
		for (int i = 0; i < 2; i++)
			start_waiter(&w[i], stop_in_thread);
		wait_for_joiners(2);
		/* After stop no callback begins. */
		call_tasks();
		for (int i = 0; i < 2; i++)
			sem_post(&go);
		for (int i = 0; i < 2; i++)
			check_waiter(&w[i], 0, 1);
		for (int i = 0; i < 2; i++)
			end_call(&c[i]);
		ck_assert_int_eq(timerthread_cancel(tt, left), 0);
		end();
	}
}
END_TEST

static int stopped;

static void stop_inside(void *arg)
{
	hold(arg);
	stopped = timerthread_stop(tt);
	sem_post(arg);
}

static int drained;

static void count_drained(timerthread_id id, timerthread_fn *fn, void *arg,
			  void *ctx)
{
	(void)id;
	(void)arg;
	(void)ctx;
	drained += fn == never;
}

static void check_drained(int n)
{
	drained = 0;
	ck_assert_int_eq(timerthread_cancel_all(tt, count_drained, NULL), n);
	ck_assert_int_eq(drained, n);
}

START_TEST(stopped_from_a_callback)
{
	for (int d = 0; d < DRIVERS; d++) {
		struct caller c;

		start_with(d, keep);
		schedule(-3, stop_inside, &ran);
		schedule(-2, never, NULL);
		submit_due(2);
		stopped = -77;
		start_call(&c, called++);
		wait_for(&ran);
		sem_post(&go);
		wait_for(&ran);
		call_tasks();
		ck_assert_int_eq(timerthread_stop(tt), 0);
		ck_assert_int_eq(stopped, 1);
		end_call(&c);
		check_drained(1);
		end();
	}
}
END_TEST

/* The timer thread waits for room meanwhile. */
START_TEST(stopped_from_a_callback_while_submit_blocks)
{
	for (int i = 0; i < 20; i++) {
		start_pool(1, 1);
		start_with(OWN_THREAD, submit_to_pool);
		schedule(-3, stop_inside, &ran);
		wait_for(&ran);
		for (int k = 0; k < 5; k++)
			schedule(k, never, NULL);
		while (!submit_blocks())
			sched_yield();
		stopped = -77;
		sem_post(&go);
		wait_for(&ran);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		ck_assert_int_eq(stopped, 1);
		check_drained(5);
		end();
		end_pool();
	}
}
END_TEST

/* And another thread stops: it is let go when the pool has room. */
START_TEST(stopped_while_submit_blocks)
{
	for (int i = 0; i < 20; i++) {
		struct canceller w;

		start_pool(1, 1);
		start_with(OWN_THREAD, submit_to_pool);
		schedule(-3, hold_and_write, &ran);
		wait_for(&ran);
		for (int k = 0; k < 5; k++)
			schedule(k, never, NULL);
		while (!submit_blocks())
			sched_yield();
		written = 0;
		start_waiter(&w, stop_in_thread);
		wait_for_joiners(1);
		sem_post(&go);
		check_waiter(&w, 0, 1);
		check_drained(5);
		end();
		end_pool();
	}
}
END_TEST

/* A callback that destroys, once it is let go; and so does the test wait. */
static bool stops_first;

static void destroy_inside(void *arg)
{
	hold(arg);
	if (stops_first) {
		if (timerthread_stop(tt) != 1)
			abort();
		wait_for_driver();
	}
	timerthread_destroy(tt);
	written++;
	sem_post(arg);
}

/* With runs outstanding, or none; before the driver has ended, or after. */
START_TEST(destroyed_from_a_callback)
{
	for (int i = 0; i < 4 * DRIVERS; i++) {
		bool outstanding = i / DRIVERS % 2;
		struct caller c;

		start_with(i % DRIVERS, keep);
		stops_first = i / DRIVERS / 2;
		schedule(-3, destroy_inside, &ran);
		if (outstanding) {
			schedule(-2, never, NULL);
			every(-1, 1, never, NULL);
		}
		schedule(TIMERTHREAD_NEVER, never, NULL);
		submit_due(outstanding ? 3 : 1);
		start_call(&c, called++);
		wait_for(&ran);
		sem_post(&go);
		wait_for(&ran);
		tt = NULL;
		call_tasks();
		end_call(&c);
	}
}
END_TEST

START_TEST(destroyed_while_submit_blocks)
{
	for (int i = 0; i < 50; i++) {
		start_pool(1, 1);
		start_with(OWN_THREAD, submit_to_pool);
		stops_first = false;
		schedule(-3, destroy_inside, &ran);
		wait_for(&ran);
		for (int k = 0; k < 5; k++)
			schedule(k, never, NULL);
		while (!submit_blocks())
			sched_yield();
		sem_post(&go);
		wait_for(&ran);
		end_pool();
		tt = NULL;
	}
}
END_TEST

/* Those who wait, and another callback, have done with it first. */
START_TEST(destroyed_while_others_wait)
{
	for (int i = 0; i < 20 * DRIVERS; i++) {
		struct canceller w[3];
		bool outstanding = i / 2 % 2;
		struct caller c[2];

		start_with(i % DRIVERS, keep);
		stops_first = false;
		w[0].id = schedule(-3, destroy_inside, &ran);
		w[1].id = schedule(-2, hold, &ran);
		if (outstanding)
			schedule(-1, never, NULL);
		submit_due(2 + outstanding);
		written = 0;
		for (int k = 0; k < 2; k++) {
			start_call(&c[k], called++);
			wait_for(&ran);
		}
		start_waiter(&w[0], wait_in_thread);
		start_waiter(&w[1], only_wait);
		wait_for_cancellers(2);
		if (i % 2) {
			start_waiter(&w[2], stop_in_thread);
			wait_for_joiners(1);
		}
		sem_post(&go);
		sem_post(&go);
		wait_for(&ran);
		for (int k = 0; k < 2 + i % 2; k++)
			pthread_join(w[k].thread, NULL);
		ck_assert_int_eq(w[0].result, 1);
		ck_assert_int_eq(w[1].result, 1);
		ck_assert_int_eq(w[0].seen, 1);
		ck_assert(i % 2 == 0 || w[2].seen == 1);
		call_tasks();
		for (int k = 0; k < 2; k++)
			end_call(&c[k]);
		tt = NULL;
	}
}
END_TEST

/* One stops, one destroys, and meanwhile the runs are called. */
START_TEST(stop_and_destroy_at_once)
{
	for (int i = 0; i < 50 * DRIVERS; i++) {
		struct canceller w[2];
		struct caller c, outstanding[4];

		start_with(i % DRIVERS, keep);
		schedule(-9, hold_and_write, &ran);
		for (int k = 0; k < 4; k++)
			schedule(k - 4, never, NULL);
		submit_due(5);
		written = 0;
		start_call(&c, called++);
		wait_for(&ran);
		start_waiter(&w[0], stop_in_thread);
		wait_for_joiners(1);
		start_waiter(&w[1], destroy_in_thread);
		if (i % 2)
			wait_for_joiners(2);
		sem_post(&go);
		for (int k = 0; k < 4; k++)
			start_call(&outstanding[k], called++);
		check_waiter(&w[0], 0, 1);
		pthread_join(w[1].thread, NULL);
		ck_assert_int_eq(w[1].seen, 1);
		end_call(&c);
		for (int k = 0; k < 4; k++)
			end_call(&outstanding[k]);
		tt = NULL;
	}
}
END_TEST

/* Which comes last is open: the destroy, or a run. */
START_TEST(destroyed_while_runs_are_called)
{
	for (int i = 0; i < 300; i++) {
		start_pool(POOL, ROOM_MAX);
		start_with(OWN_THREAD, submit_to_pool);
		for (int k = 0; k < i % 40; k++)
			schedule(k, post, &ran);
		for (int k = 0; k < i % 17; k++)
			sched_yield();
		timerthread_destroy(tt);
		tt = NULL;
		end_pool();
		sem_destroy(&ran);
	}
}
END_TEST

/* Each runs, or is taken back, or cancelled: while its run is called. */
START_TEST(drained_while_runs_are_called)
{
	enum { N = 200 };
	timerthread_id id[N];

	for (int i = 0; i < 100; i++) {
		int sum = 0, ended;

		start_pool(POOL, ROOM_MAX);
		start_with(OWN_THREAD, submit_to_pool);
		for (int k = 0; k < N; k++)
			id[k] = schedule(k, post, &ran);
		for (int k = 0; k < i; k++)
			sched_yield();
		ck_assert_int_eq(timerthread_stop(tt), 0);
		for (int k = 0; k < N / 2; k++)
			sum += timerthread_cancel(tt, id[k]) == 0;
		sum += timerthread_cancel_all(tt, count_drained, NULL);
		sem_getvalue(&ran, &ended);
		ck_assert_int_eq(sum + ended, N);
		end();
		end_pool();
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		stop_waits,
		stopped_from_a_callback,
		stopped_from_a_callback_while_submit_blocks,
		stopped_while_submit_blocks,
		destroyed_from_a_callback,
		destroyed_while_submit_blocks,
		destroyed_while_others_wait,
		stop_and_destroy_at_once,
		destroyed_while_runs_are_called,
		drained_while_runs_are_called,
	};

	return RUN_TESTS("executor_threads_stop", tests);
}
