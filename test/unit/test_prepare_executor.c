/* SPDX-License-Identifier: MIT */
/*
 * Timers that are armed and disarmed while an executor has them: each runs as
 * often as it was armed, however the tasks of before are called.
 */
#include "config.h"

#include "prepared.h"
#include "tasks.h"

#include <string.h>

static struct {
	timerthread_id id;
	int runs, result[2];
} it;

static void count(void *arg)
{
	(void)arg;
	it.runs++;
}

static void start_with_it(timerthread_fn *fn)
{
	start_with(VIRTUAL, keep);
	memset(&it, 0, sizeof(it));
	it.id = prepare(fn, &ran);
}

/* It is due, and a task of the executor. */
static void submit_it(void)
{
	ck_assert_int_eq(arm(it.id, now()), 0);
	ck_assert_int_eq(advance(0), 1);
	ck_assert_uint_eq(kept, called + 1);
	ck_assert_int_eq(deadline_of(it.id), now());
}

/* It has run so often; no task is left, and none comes. */
static void check_over(int n)
{
	for (int i = 0; i < 3; i++) {
		call_tasks();
		ck_assert_int_ge(advance(0), 0);
	}
	call_tasks();
	ck_assert_int_eq(it.runs, n);
	ck_assert_int_eq(advance(HOUR), 0);
	ck_assert_uint_eq(kept, called);
	check_unarmed(it.id);
	check_inside();
}

START_TEST(runs_each_time_it_is_armed)
{
	start_with_it(count);
	for (int i = 1; i <= 50; i++) {
		submit_it();
		call_tasks();
		ck_assert_int_eq(it.runs, i);
		check_unarmed(it.id);
	}
	check_over(50);
	end();
}
END_TEST

START_TEST(disarmed_while_submitted_it_does_not_run)
{
	start_with_it(count);
	for (int i = 1; i <= 50; i++) {
		submit_it();
		ck_assert_int_eq(i % 2 ? disarm(it.id) : disarm_wait(it.id), 0);
		check_unarmed(it.id);
		check_over(i - 1);
		submit_it();
		check_over(i);
	}
	end();
}
END_TEST

/* Due at once: in the task of before, or in one of its own, but once. */
START_TEST(armed_again_while_submitted_it_runs_once)
{
	start_with_it(count);
	for (int i = 1; i <= 50; i++) {
		submit_it();
		for (int k = 0; k < i % 4; k++) {
			ck_assert_int_eq(disarm(it.id), 0);
			ck_assert_int_eq(arm(it.id, now() - k), 0);
			if (i % 3 == 0)
				ck_assert_int_ge(advance(0), 0);
		}
		check_over(i);
	}
	end();
}
END_TEST

/* The task of before comes too early for it. */
START_TEST(armed_for_later_while_submitted_it_runs_then)
{
	start_with_it(count);
	for (int i = 1; i <= 50; i++) {
		int64_t later = now() + i * MS;

		submit_it();
		ck_assert_int_eq(disarm(it.id), 0);
		ck_assert_int_eq(arm(it.id, later), 0);
		if (i % 2)
			call_tasks();
		ck_assert_int_eq(advance(i * MS - 1), 0);
		call_tasks();
		ck_assert_int_eq(it.runs, i - 1);
		ck_assert_int_eq(deadline_of(it.id), later);
		ck_assert_int_eq(advance(1), 1);
		call_tasks();
		ck_assert_int_eq(it.runs, i);
		check_over(i);
	}
	end();
}
END_TEST

/* Its next time has come before the task of before is called. */
START_TEST(late_tasks)
{
	start_with_it(count);
	for (int i = 1; i <= 50; i++) {
		submit_it();
		ck_assert_int_eq(disarm(it.id), 0);
		ck_assert_int_eq(arm(it.id, now() + i), 0);
		ck_assert_int_ge(advance(2 * i), 0);
		check_over(i);
	}
	end();
}
END_TEST

START_TEST(cancelled_while_submitted)
{
	for (int i = 0; i < 4; i++) {
		start_with_it(count);
		submit_it();
		if (i % 2)
			ck_assert_int_eq(disarm(it.id), 0);
		if (i < 2)
			ck_assert_int_eq(cancel(it.id), 0);
		else
			ck_assert_int_eq(cancel_all(), 1);
		check_gone(it.id);
		check_over(0);
		ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_UNARMED), 0);
		end();
	}
}
END_TEST

/* Stopped or destroyed, whether it was disarmed or not. */
START_TEST(stopped_while_submitted)
{
	for (int i = 0; i < 4; i++) {
		start_with_it(count);
		submit_it();
		if (i % 2)
			ck_assert_int_eq(disarm(it.id), 0);
		if (i < 2) {
			ck_assert_int_eq(timerthread_stop(tt), 0);
			call_tasks();
			ck_assert_int_eq(disarm(it.id), i % 2 ? -ENOENT : 0);
			ck_assert_int_eq(cancel(it.id), 0);
		}
		end();
		call_tasks();
		ck_assert_int_eq(it.runs, 0);
	}
}
END_TEST

/*
 * Several threads call tasks.
 */
static atom32 inside, together;

static void hold_and_count(void *arg)
{
	if (atom32_load(&inside))
		atom32_store(&together, 1);
	atom32_store(&inside, 1);
	it.runs++;
	if (it.runs == 1)
		hold(arg);
	atom32_store(&inside, 0);
}

/* It runs again after that, and not beside it. */
START_TEST(armed_while_it_runs)
{
	struct caller c;

	for (int i = 0; i < 4; i++) {
		start_with_it(hold_and_count);
		submit_it();
		start_call(&c, called++);
		wait_for(&ran);
		ck_assert_int_eq(arm(it.id, now()), 0);
		ck_assert_int_ge(advance(i % 2), 0);
		if (i < 2)
			call_tasks();
		ck_assert_int_eq(deadline_of(it.id), now() - i % 2);
		sem_post(&go);
		end_call(&c);
		check_over(2);
		ck_assert_uint_eq(atom32_load(&together), 0);
		end();
	}
}
END_TEST

START_TEST(disarmed_while_it_runs)
{
	struct caller c;

	for (int i = 0; i < 4; i++) {
		start_with_it(hold_and_count);
		submit_it();
		start_call(&c, called++);
		wait_for(&ran);
		if (i % 2)
			ck_assert_int_eq(arm(it.id, now()), 0);
		if (i < 2)
			ck_assert_int_ge(advance(1), 0);
		ck_assert_int_eq(disarm(it.id), 1);
		ck_assert_int_ge(advance(1), 0);
		sem_post(&go);
		end_call(&c);
		check_over(1);
		end();
	}
}
END_TEST

/*
 * At random: tasks are called in any order, late or at once.
 */
enum { TIMERS = 60, STEPS = 40000 };

static struct known {
	timerthread_id id;
	int64_t deadline;
	bool armed;
	int runs;
} known[TIMERS];

static uint64_t rng;

static void run(void *arg)
{
	struct known *k = arg;

	must(k->armed);
	must(k->deadline <= now());
	k->armed = false;
	k->runs++;
}

static void arm_or_disarm(struct known *k)
{
	int r;

	if (random_below(&rng, 2)) {
		r = disarm(k->id);
		must(r == (k->armed ? 0 : -ENOENT));
		k->armed = false;
		return;
	}
	k->deadline = now() + (int64_t)random_below(&rng, 100) - 20;
	k->armed = true;
	must(arm(k->id, k->deadline) == 0);
}

static void call_some_task(void)
{
	if (kept > called)
		call_task(called + random_below(&rng, kept - called));
	while (called < kept && !tasks[called].run)
		called++;
}

static void random_step(void)
{
	switch (random_below(&rng, 8)) {
	case 0:
		must(advance((int64_t)random_below(&rng, 20)) >= 0);
		break;
	case 1:
	case 2:
		call_some_task();
		break;
	default:
		arm_or_disarm(&known[random_below(&rng, TIMERS)]);
		break;
	}
}

START_TEST(random_against_a_model)
{
	int all = 0;

	rng = test_seed();
	start_with(VIRTUAL, keep);
	for (int i = 0; i < TIMERS; i++)
		known[i].id = prepare(run, &known[i]);
	for (int i = 0; i < STEPS; i++)
		random_step();
	for (int i = 0; i < 5; i++) {
		call_tasks();
		ck_assert_int_ge(advance(100), 0);
	}
	call_tasks();
	for (int i = 0; i < TIMERS; i++) {
		ck_assert(!known[i].armed);
		check_unarmed(known[i].id);
		all += known[i].runs;
	}
	ck_assert_int_gt(all, STEPS / 100);
	ck_assert_int_eq(cancel_all(), TIMERS);
	check_inside();
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		runs_each_time_it_is_armed,
		disarmed_while_submitted_it_does_not_run,
		armed_again_while_submitted_it_runs_once,
		armed_for_later_while_submitted_it_runs_then,
		late_tasks,
		cancelled_while_submitted,
		stopped_while_submitted,
		armed_while_it_runs,
		disarmed_while_it_runs,
		random_against_a_model,
	};

	return RUN_TESTS("prepare_executor", tests);
}
