/* SPDX-License-Identifier: MIT */
/*
 * Executors, one step after another: mostly on a virtual clock, and with runs
 * that the test calls.
 */
#include "config.h"

#include "fail_alloc.h"
#include "jobs.h"

#include <sched.h>

START_TEST(option)
{
	struct timerthread *shared;
	struct job j = {0};

	ck_assert_int_eq(timerthread_set_executor(NULL, keep, NULL), -EINVAL);
	ck_assert_int_eq(timerthread_set_executor(NULL, NULL, NULL), -EINVAL);
	ck_assert_int_eq(timerthread_default(&shared), 0);
	ck_assert_int_eq(timerthread_set_executor(shared, keep, NULL), -EBUSY);
	/* The last one counts; NULL removes it. */
	begin_with(keep);
	ck_assert_int_eq(timerthread_set_executor(tt, NULL, NULL), 0);
	start_driver(VIRTUAL);
	plan(&j, 5);
	ck_assert_int_eq(advance(5), 1);
	ck_assert_int_eq(j.runs, 1);
	ck_assert_uint_eq(kept, 0);
	ck_assert_int_eq(timerthread_set_executor(tt, keep, NULL), -EBUSY);
	plan(&j, 6);
	ck_assert_int_eq(advance(5), 1);
	ck_assert_uint_eq(kept, 0);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_set_executor(tt, keep, NULL), -EBUSY);
	end();

	begin_with(keep);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_set_executor(tt, NULL, NULL), -EBUSY);
	end();
}
END_TEST

static int context;
static bool wrong_context;

static int keep_in_context(void *ctx, timerthread_fn *run, void *arg)
{
	wrong_context |= ctx != &context;
	return keep(NULL, run, arg);
}

/* The instance is this thread's alone meanwhile. */
START_TEST(on_each_driver)
{
	for (int d = 0; d < DRIVERS; d++) {
		struct job j[3] = {{0}};

		begin_with(keep);
		ck_assert_int_eq(
			timerthread_set_executor(tt, keep_in_context, &context),
			0);
		start_driver(d);
		for (int i = 0; i < 3; i++)
			plan(&j[i], -i);
		submit_due(3);
		ck_assert_uint_eq(kept, 3);
		ck_assert(!wrong_context);
		for (int i = 0; i < 3; i++) {
			ck_assert_int_eq(j[i].runs, 0);
			ck_assert_int_eq(deadline_of(j[i].id), -i);
		}
		call_tasks();
		for (int i = 0; i < 3; i++) {
			ck_assert_int_eq(j[i].runs, 1);
			ck_assert(pthread_equal(j[i].on, pthread_self()));
			check_over(j[i].id);
		}
		end();
	}
}
END_TEST

static int sequence[1000], noted;

static void note(void *arg)
{
	sequence[noted++] = (int)(intptr_t)arg;
}

/* False: the machine was too busy, and a deadline may have passed before. */
static bool schedule_from(int64_t soon, int64_t *at, int n)
{
	uint64_t rng = test_seed();

	for (int i = 0; i < n; i++) {
		at[i] = soon + (int64_t)random_below(&rng, 700);
		schedule(at[i], note, (void *)(intptr_t)i);
	}
	return timerthread_now(tt) < soon;
}

/* Equal deadlines come in any order. */
START_TEST(in_order_of_deadlines)
{
	enum { N = 1000 };
	static int64_t at[N];

	for (int d = POLLED; d < DRIVERS; d++) {
		int64_t soon, ahead = 10 * MS;

		start_with(d, keep);
		noted = 0;
		soon = d == VIRTUAL ? -700 : timerthread_now(tt) + ahead;
		while (!schedule_from(soon, at, N) && d != VIRTUAL) {
			end();
			start_with(d, keep);
			ahead *= 2;
			soon = timerthread_now(tt) + ahead;
		}
		while (timerthread_now(tt) < soon + 700)
			sched_yield();
		submit_due(N);
		call_tasks();
		ck_assert_int_eq(noted, N);
		for (int i = 1; i < N; i++)
			ck_assert_int_le(at[sequence[i - 1]], at[sequence[i]]);
		end();
	}
}
END_TEST

START_TEST(counts_what_is_submitted)
{
	struct job j[6] = {{0}};

	start_with(VIRTUAL, keep);
	for (int i = 0; i < 6; i++)
		plan(&j[i], 10 + i);
	ck_assert_int_eq(cancel(j[0].id), 0);
	ck_assert_int_eq(advance(9), 0);
	ck_assert_int_eq(advance(3), 2);
	/* Again when it is submitted again; not for what is cancelled. */
	ck_assert_int_eq(reschedule(j[1].id, 15), 0);
	ck_assert_int_eq(cancel(j[2].id), 0);
	call_tasks();
	ck_assert_int_eq(j[1].runs + j[2].runs, 0);
	ck_assert_int_eq(advance(100), 4);
	call_tasks();
	ck_assert_int_eq(advance(100), 0);
	ck_assert_uint_eq(kept, 6);
	for (int i = 0; i < 6; i++)
		ck_assert_int_eq(j[i].runs, i != 0 && i != 2);
	end();
}
END_TEST

/*
 * Submitted, and moved or not: who cancels owns the argument at once, and the
 * run that is outstanding does nothing.
 */
static void cancel_submitted(int64_t move, bool wait)
{
	struct job *j = calloc(1, sizeof(*j));

	j->id = schedule(timerthread_now(tt) + 10, never, j);
	ck_assert_int_eq(advance(20), 1);
	if (move)
		ck_assert_int_eq(reschedule(j->id, timerthread_now(tt) + move),
				 0);
	ck_assert_int_eq(
		wait ? timerthread_cancel_wait(tt, j->id) : cancel(j->id), 0);
	check_over(j->id);
	free(j);
	call_tasks();
	ck_assert_int_eq(advance(1000), 0);
	check_inside();
}

START_TEST(cancelled_before_its_run)
{
	static const int64_t moves[] = {0,   5,      -1,
					-15, 100000, TIMERTHREAD_NEVER / 2};

	start_with(VIRTUAL, keep);
	for (int i = 0; i < 60; i++)
		cancel_submitted(moves[i % 6], i / 6 % 2);
	/* Not one slot for each. */
	ck_assert_uint_le(slots_in_use(), 4);
	end();
}
END_TEST

/* The same timer's place may have the next one by then. */
START_TEST(cancelled_and_called_much_later)
{
	enum { N = 500 };
	static struct job j[N];

	start_with(VIRTUAL, keep);
	for (int i = 0; i < N; i++) {
		plan(&j[i], i);
		ck_assert_int_eq(advance(1), 1);
		ck_assert_int_eq(cancel(j[i].id), 0);
	}
	for (int i = 0; i < N; i++) {
		plan(&j[i], 2 * N);
		call_task((size_t)(i * 7 % N));
	}
	called = kept;
	ck_assert_int_eq(advance(2 * N), N);
	call_tasks();
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(j[i].runs, 1);
	check_inside();
	end();
}
END_TEST

static struct {
	int inside[2];
	timerthread_id id;
} places;

static int take_place(timerthread_id *ret_id)
{
	return timerthread_schedule(tt, TIMERTHREAD_NEVER, never, NULL, ret_id);
}

static void take_inside(void *arg)
{
	places.inside[0] = take_place(NULL);
	if (arg)
		places.inside[1] = cancel(places.id);
}

/* A place is taken until the callback has returned, or a cancel returned 0. */
START_TEST(places_are_exact)
{
	timerthread_id id;

	begin_with(keep);
	ck_assert_int_eq(timerthread_set_max_timers(tt, 2), 0);
	start_driver(VIRTUAL);
	schedule(TIMERTHREAD_NEVER, never, NULL);
	for (int i = 0; i < 50; i++) {
		id = schedule(0, take_inside, NULL);
		ck_assert_int_eq(take_place(&id), -EAGAIN);
		ck_assert_int_eq(advance(0), 1);
		ck_assert_int_eq(take_place(&id), -EAGAIN);
		if (i % 2) {
			ck_assert_int_eq(cancel(id), 0);
		} else {
			call_tasks();
			ck_assert_int_eq(places.inside[0], -EAGAIN);
		}
		ck_assert_int_eq(take_place(&id), 0);
		ck_assert_int_eq(take_place(NULL), -EAGAIN);
		/* The run of the one that was cancelled gives none back. */
		call_tasks();
		ck_assert_int_eq(take_place(NULL), -EAGAIN);
		ck_assert_int_eq(cancel(id), 0);
	}
	end();
}
END_TEST

START_TEST(places_of_the_rearmed)
{
	begin_with(keep);
	ck_assert_int_eq(timerthread_set_max_timers(tt, 1), 0);
	start_driver(VIRTUAL);
	places.id = every(0, 10, take_inside, NULL);
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(advance(10), 1);
		if (i % 2)
			send_back(places.id, timerthread_now(tt) + 3);
		else
			call_tasks();
		ck_assert_int_eq(take_place(NULL), -EAGAIN);
	}
	ck_assert_int_eq(cancel(places.id), 0);
	/* Cancelled inside: until it has returned. */
	places.id = every(0, 10, take_inside, &places);
	ck_assert_int_eq(take_place(NULL), -EAGAIN);
	advance(10);
	call_tasks();
	ck_assert_int_eq(places.inside[0], -EAGAIN);
	ck_assert_int_eq(places.inside[1], 1);
	ck_assert_int_eq(take_place(&places.id), 0);
	ck_assert_int_eq(take_place(NULL), -EAGAIN);
	end();
}
END_TEST

/*
 * Very many.
 */
enum { CROWD = 100000 };

static struct job crowd[CROWD];

START_TEST(crowd_comes_back)
{
	start_with(VIRTUAL, keep);
	for (int i = 0; i < CROWD; i++)
		plan(&crowd[i], i % 100);
	ck_assert_int_eq(advance(100), CROWD);
	check_inside();
	for (int i = 0; i < CROWD; i++)
		ck_assert_int_eq(reschedule(crowd[i].id, 1000 - i % 500), 0);
	call_tasks();
	check_inside();
	/* New ones come in between. */
	for (int i = 0; i < CROWD / 10; i++)
		schedule(500 + i % 500, post, &ran);
	ck_assert_int_eq(advance(399), 0);
	check_inside();
	ck_assert_int_eq(advance(501), CROWD + CROWD / 10);
	check_inside();
	call_tasks();
	for (int i = 0; i < CROWD; i++)
		ck_assert_int_eq(crowd[i].runs, 1);
	ck_assert_int_eq(advance(1), 0);
	check_inside();
	end();
}
END_TEST

/* When all are over, their slots are free. */
START_TEST(crowd_is_over)
{
	for (int i = 0; i < 2; i++) {
		start_with(VIRTUAL, keep);
		for (int k = 0; k < CROWD; k++)
			plan(&crowd[k], 0);
		ck_assert_int_eq(advance(0), CROWD);
		for (int k = 0; i && k < CROWD; k++)
			ck_assert_int_eq(cancel(crowd[k].id), 0);
		call_tasks();
		for (int k = 0; k < 3; k++) {
			schedule(1, post, &ran);
			ck_assert_int_eq(advance(20 * MS), 1);
			call_tasks();
			check_inside();
		}
		end();
	}
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

static int repeats_left;

static void repeat(void *arg)
{
	struct job *j = arg;

	work(arg);
	if (--repeats_left < 0)
		abort();
	if (j->runs == 3)
		ck_assert_int_eq(cancel(j->id), 1);
}

/* What could be scheduled before memory ran out. */
static void plan_for_want(int n)
{
	for (int i = 0; i < n; i++) {
		crowd[i] = (struct job){0};
		if (i % 3)
			plan(&crowd[i], 1 + i % 7);
		else
			crowd[i].id = every(1 + i % 7, 10, repeat, &crowd[i]);
	}
	repeats_left = (n + 2) / 3 * 3;
}

/* From the first, the second ... allocation on; in steps, or all at once. */
static void live_without_memory(int n, uint32_t from, bool growing)
{
	start_with(VIRTUAL, keep);
	if (!growing)
		plan_for_want(n);
	fail_arm(from, growing ? 0 : UINT32_MAX);
	if (growing) {
		plan_for_want(n);
		fail_arm(0, UINT32_MAX);
	}
	for (int i = 0; i < 60; i++) {
		advance(1);
		if (from % 2 || i % 4 == 0)
			call_tasks();
		check_inside();
	}
	call_tasks();
	ck_assert_int_eq(advance(10), 0);
	fail_disarm();
	for (int i = 0; i < n; i++) {
		ck_assert_int_eq(crowd[i].runs, i % 3 ? 1 : 3);
		check_over(crowd[i].id);
	}
	check_inside();
	end();
}

START_TEST(without_memory)
{
	static const int some[] = {10, 1000, 1030, 5000};

	for (int i = 0; i < 4; i++) {
		for (uint32_t from = 0; from < 6; from++)
			live_without_memory(some[i], from, false);
		live_without_memory(some[i], 0, true);
		live_without_memory(some[i], 1, true);
	}
}
END_TEST

/* They are handed over when it runs out, and are moved: all are rearmed. */
START_TEST(back_without_memory)
{
	enum { N = 4000 };

	for (int i = 0; i < 2; i++) {
		start_with(VIRTUAL, keep);
		for (int k = 0; k < N; k++) {
			crowd[k].runs = 0;
			plan(&crowd[k], 0);
		}
		ck_assert_int_eq(advance(0), N);
		for (int k = 0; k < N; k++)
			ck_assert_int_eq(reschedule(crowd[k].id, 5 + k % 9), 0);
		fail_arm(0, UINT32_MAX);
		call_tasks();
		for (int k = 0; k < 20; k++) {
			advance(1);
			check_inside();
			if (i)
				call_tasks();
		}
		fail_disarm();
		call_tasks();
		for (int k = 0; k < N; k++)
			ck_assert_int_eq(crowd[k].runs, 1);
		end();
	}
}
END_TEST

#endif

int main(void)
{
	const TTest *const tests[] = {
		option,
		on_each_driver,
		in_order_of_deadlines,
		counts_what_is_submitted,
		cancelled_before_its_run,
		cancelled_and_called_much_later,
		places_are_exact,
		places_of_the_rearmed,
		crowd_comes_back,
		crowd_is_over,
#ifndef FAIL_ALLOC_UNAVAILABLE
		without_memory,
		back_without_memory,
#endif
	};

	return RUN_TESTS("executor", tests);
}
