/* SPDX-License-Identifier: MIT */
/*
 * What an executor may do when it is given a run: call it at once, refuse it,
 * schedule, cancel, move.
 */
#include "config.h"

#include "jobs.h"

static void work_and_arm(void *arg)
{
	struct job *j = arg;

	work(arg);
	if (j->runs < 5)
		reschedule(j->id, j->at - 1);
}

START_TEST(called_within_submit)
{
	for (int d = POLLED; d < DRIVERS; d++) {
		struct job j = {0}, again = {0}, repeats = {0};
		int more = d == VIRTUAL ? 4 : 0;

		start_with(d, call_inside);
		plan(&j, -1);
		again.id = schedule(-2, work_and_arm, &again);
		repeats.id = every(-20, HOUR, work, &repeats);
		submit_due(3 + more);
		ck_assert_int_eq(j.runs, 1);
		ck_assert(pthread_equal(j.on, pthread_self()));
		ck_assert_int_eq(again.runs, 1 + more);
		ck_assert_int_eq(repeats.runs, 1);
		/* A dispatch leaves it to the next one. */
		for (int i = more; i < 4; i++) {
			ck_assert(readable());
			submit_due(1);
		}
		ck_assert_int_eq(again.runs, 5);
		submit_due(0);
		check_over(again.id);
		end();
	}
}
END_TEST

/* While the callback runs inside, the clock shows its deadline. */
START_TEST(called_within_submit_on_time)
{
	struct job j[5] = {{0}};

	start_with(VIRTUAL, call_inside);
	for (int i = 0; i < 5; i++)
		plan(&j[i], 10 * i);
	ck_assert_int_eq(advance(1000), 5);
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(j[i].at, 10 * i);
	end();
}
END_TEST

START_TEST(refused)
{
	for (int d = 0; d < DRIVERS; d++) {
		struct job j = {0}, repeats = {0};
		pthread_t on = pthread_self();

		start_with(d, refuse);
		if (d == OWN_THREAD)
			ck_assert_int_eq(timerthread_get_pthread(tt, &on), 0);
		plan(&j, 0);
		repeats.id = every(1, HOUR, work, &repeats);
		if (d == VIRTUAL)
			ck_assert_int_eq(advance(1), 2);
		else if (d == POLLED)
			ck_assert_int_eq(timerthread_dispatch(tt), 2);
		else
			settle();
		ck_assert_int_eq(timerthread_cancel_wait(tt, repeats.id), 0);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		ck_assert_int_eq(j.runs, 1);
		ck_assert_int_eq(repeats.runs, 1);
		ck_assert(pthread_equal(j.on, on));
		ck_assert(pthread_equal(repeats.on, on));
		end();
	}
}
END_TEST

static int keep_every_second(void *ctx, timerthread_fn *run, void *arg)
{
	static int offers;

	return ++offers % 2 ? -1 : keep(ctx, run, arg);
}

START_TEST(refused_now_and_then)
{
	enum { N = 300 };
	static struct job j[N];

	start_with(VIRTUAL, keep_every_second);
	for (int i = 0; i < N; i++)
		plan(&j[i], i);
	ck_assert_int_eq(advance(N), N);
	ck_assert_uint_eq(kept, N / 2);
	for (int i = 0; i < N; i += 2)
		ck_assert_int_eq(j[i].at, i);
	call_tasks();
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(j[i].runs, 1);
	check_inside();
	end();
}
END_TEST

static void schedule_within(void)
{
	plan(&within.target, -5);
}

START_TEST(submit_schedules)
{
	struct job j = {0};

	for (int keeps = 0; keeps < 2; keeps++) {
		start_within(VIRTUAL, schedule_within, keeps);
		plan(&j, 0);
		submit_due(2);
		call_tasks();
		ck_assert_int_eq(within.target.runs, 1);
		end();
		start_within(POLLED, schedule_within, keeps);
		plan(&j, 0);
		submit_due(1);
		ck_assert(readable());
		submit_due(1);
		call_tasks();
		ck_assert_int_eq(within.target.runs, 1);
		end();
	}
	ck_assert_int_eq(j.runs, 4);
}
END_TEST

static void cancel_within(void)
{
	within.result = timerthread_cancel_wait(tt, within.target.id);
}

static void move_within(void)
{
	within.result = reschedule(within.target.id, 50);
}

/* What it is just given is pending as ever. */
START_TEST(submit_cancels_or_moves)
{
	for (int i = 0; i < 4; i++) {
		bool moves = i / 2;

		start_within(VIRTUAL, moves ? move_within : cancel_within,
			     i % 2);
		plan(&within.target, 0);
		ck_assert_int_eq(advance(0), 1);
		call_tasks();
		ck_assert_int_eq(within.result, 0);
		ck_assert_int_eq(within.target.runs, 0);
		ck_assert_int_eq(advance(100), moves);
		call_tasks();
		ck_assert_int_eq(within.target.runs, moves);
		check_over(within.target.id);
		check_inside();
		end();
	}
}
END_TEST

static int turns[2];

static void turn_within(void)
{
	turns[0] = timerthread_dispatch(tt);
	turns[1] = timerthread_advance(tt, 0);
}

static void turn_inside(void *arg)
{
	(void)arg;
	turn_within();
}

/* Neither from submit nor from a callback, though none is in it. */
START_TEST(no_turn_within)
{
	for (int i = 0; i < 4; i++) {
		int d = i % 2 ? POLLED : VIRTUAL;

		start_within(d, i < 2 ? turn_within : NULL, true);
		schedule(0, turn_inside, NULL);
		submit_due(1);
		if (i >= 2)
			call_tasks();
		ck_assert_int_eq(turns[d == VIRTUAL], -EBUSY);
		ck_assert_int_eq(turns[d != VIRTUAL], -EINVAL);
		call_tasks();
		end();
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		called_within_submit,
		called_within_submit_on_time,
		refused,
		refused_now_and_then,
		submit_schedules,
		submit_cancels_or_moves,
		no_turn_within,
	};

	return RUN_TESTS("submit", tests);
}
