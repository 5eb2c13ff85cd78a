/* SPDX-License-Identifier: MIT */
/*
 * What is measured of callbacks, on each driver.
 */
#include "config.h"

#include "timers.h"

static struct timerthread_snapshot *take(void)
{
	struct timerthread_snapshot *s = NULL;

	ck_assert_int_eq(timerthread_take_snapshot(tt, &s), 0);
	ck_assert_ptr_nonnull(s);
	return s;
}

static int64_t quantile(const struct timerthread_snapshot *s,
			const struct timerthread_snapshot *before,
			enum timerthread_histogram which, double part)
{
	int64_t value = -1;

	ck_assert_int_eq(
		timerthread_get_quantile(s, before, which, part, &value), 0);
	ck_assert_int_ge(value, 0);
	return value;
}

#define LATENESS TIMERTHREAD_HISTOGRAM_LATENESS
#define RUN_TIME TIMERTHREAD_HISTOGRAM_RUN_TIME

static void pass_by(timerthread_id id, timerthread_fn *fn, void *arg,
		    int64_t run_time, void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	(void)run_time;
	(void)ctx;
}

/* A callback is counted when it has returned, and the executor knows. */
static void wait_for_quiet(void)
{
	while (timerthread_visit_running(tt, 0, pass_by, NULL) > 0 ||
	       stat_of(TIMERTHREAD_STAT_RUNNING) > 0)
		sched_yield();
	ck_assert_int_eq(timerthread_stop(tt), 0);
}

START_TEST(arguments)
{
	struct timerthread_snapshot *s = NULL, *later, *other;
	int64_t value = 77;

	ck_assert_int_eq(timerthread_take_snapshot(NULL, &s), -EINVAL);
	timerthread_free_snapshot(NULL);
	setup();
	ck_assert_int_eq(timerthread_take_snapshot(tt, NULL), -EINVAL);
	s = take();
	ck_assert_int_eq(
		timerthread_get_quantile(NULL, NULL, LATENESS, 0, &value),
		-EINVAL);
	ck_assert_int_eq(timerthread_get_quantile(s, NULL, LATENESS, 0, NULL),
			 -EINVAL);
	ck_assert_int_eq(
		timerthread_get_quantile(s, NULL, LATENESS, -0.01, &value),
		-EINVAL);
	ck_assert_int_eq(
		timerthread_get_quantile(s, NULL, LATENESS, 1.01, &value),
		-EINVAL);
	ck_assert_int_eq(timerthread_get_quantile(s, NULL, LATENESS,
						  __builtin_nan(""), &value),
			 -EINVAL);
	ck_assert_int_eq(timerthread_get_quantile(s, NULL,
						  (enum timerthread_histogram)2,
						  0, &value),
			 -EINVAL);
	ck_assert_int_eq(timerthread_get_quantile(s, NULL, LATENESS, 0, &value),
			 -ENOENT);

	ck_assert_int_eq(driver_start(tt), 0);
	schedule(0, post, &ran);
	wait_for(&ran);
	wait_for_quiet();
	later = take();
	ck_assert_int_eq(
		timerthread_get_quantile(s, later, LATENESS, 0, &value),
		-EINVAL);
	ck_assert_int_eq(
		timerthread_get_quantile(later, later, LATENESS, 0, &value),
		-ENOENT);
	end();
	setup();
	other = take();
	ck_assert_int_eq(
		timerthread_get_quantile(later, other, LATENESS, 0, &value),
		-EINVAL);
	end();
	ck_assert_int_eq(value, 77);
	/* It needs no instance any more. */
	quantile(later, s, LATENESS, 1);
	timerthread_free_snapshot(s);
	timerthread_free_snapshot(later);
	timerthread_free_snapshot(other);
}
END_TEST

static int compare(const struct timerthread_snapshot *s,
		   const struct timerthread_snapshot *before)
{
	int64_t value;

	return timerthread_get_quantile(s, before, LATENESS, 0, &value);
}

/* They were made in the same place, or in the same nanosecond. */
START_TEST(of_other_instances)
{
	struct timerthread_snapshot *s[3];
	struct timerthread *first;

	setup();
	s[0] = take();
	ck_assert_int_eq(compare(s[0], s[0]), -ENOENT);
	tt->created++;
	s[1] = take();
	ck_assert_int_eq(compare(s[1], s[0]), -EINVAL);
	first = tt;
	setup();
	tt->created = first->created;
	s[2] = take();
	ck_assert_int_eq(compare(s[2], s[1]), -EINVAL);
	for (int i = 0; i < 3; i++)
		timerthread_free_snapshot(s[i]);
	timerthread_destroy(first);
	end();
}
END_TEST

static void linger(void *arg)
{
	int64_t until = clock_now(CLOCK_MONOTONIC) + 3 * MS;

	while (clock_now(CLOCK_MONOTONIC) <= until)
		sched_yield();
	sem_post(arg);
}

START_TEST(how_long_they_run)
{
	struct timerthread_snapshot *s;

	start();
	schedule(timerthread_now(tt), linger, &ran);
	wait_for(&ran);
	wait_for_quiet();
	s = take();
	ck_assert_int_gt(quantile(s, NULL, RUN_TIME, 1), 2800000);
	ck_assert_uint_gt(stat_of(TIMERTHREAD_STAT_LONGEST_RUN), 3 * MS);
	ck_assert_uint_ge(stat_of(TIMERTHREAD_STAT_RUN_TIME),
			  stat_of(TIMERTHREAD_STAT_LONGEST_RUN));
	if (driver_tested() & (ON_THREAD | ON_POLLED))
		ck_assert_uint_gt(stat_of(TIMERTHREAD_STAT_AWAKE_TIME), 3 * MS);
	if (driver_tested() & ON_VIRTUAL)
		ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_AWAKE_TIME), 0);
	timerthread_free_snapshot(s);
	end();
}
END_TEST

/* The time that it was awake is the same twice as soon as it sleeps. */
START_TEST(how_long_it_is_awake)
{
	uint64_t before, awake;

	start();
	schedule(timerthread_now(tt), post, &ran);
	wait_for(&ran);
	awake = stat_of(TIMERTHREAD_STAT_AWAKE_TIME);
	do {
		sched_yield();
		before = awake;
		awake = stat_of(TIMERTHREAD_STAT_AWAKE_TIME);
	} while (awake != before);
	end();
}
END_TEST

/* What was due while another one ran is late by that. */
START_TEST(how_late_they_begin)
{
	struct timerthread_snapshot *before, *s;
	int64_t now;

	start();
	hold_driver();
	before = take();
	/* A deadline that has passed is due when it is scheduled. */
	for (int i = 0; i < 9; i++)
		schedule(timerthread_now(tt), post, &ran);
	now = timerthread_now(tt);
	while (driver_tested() != ON_VIRTUAL && timerthread_now(tt) < now + MS)
		sched_yield();
	sem_post(&go);
	for (int i = 0; i < 9; i++)
		wait_for(&ran);
	wait_for_quiet();
	s = take();
	if (driver_tested() == ON_VIRTUAL) {
		ck_assert_int_lt(quantile(s, before, LATENESS, 0), HOUR);
	} else {
		ck_assert_int_gt(quantile(s, before, LATENESS, 0.2), MS / 2);
		ck_assert_uint_ge(stat_of(TIMERTHREAD_STAT_LARGEST_LATENESS),
				  MS);
	}
	timerthread_free_snapshot(before);
	timerthread_free_snapshot(s);
	end();
}
END_TEST

/* Also where the slack is longer than the clock has run. */
START_TEST(late_with_a_long_slack)
{
	int64_t now;

	setup();
	ck_assert_int_eq(timerthread_set_slack(tt, INT64_MAX / 2), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	hold_driver();
	schedule(0, post, &ran);
	now = timerthread_now(tt);
	while (timerthread_now(tt) < now + MS)
		sched_yield();
	sem_post(&go);
	wait_for(&ran);
	wait_for_quiet();
	ck_assert_uint_ge(stat_of(TIMERTHREAD_STAT_LARGEST_LATENESS), MS);
	end();
}
END_TEST

/* As soon as possible is not late by the age of the clock. */
START_TEST(a_deadline_of_long_ago)
{
	static const int64_t deadline[] = {INT64_MIN, -1, 0, 1};

	start();
	for (int i = 0; i < 4; i++) {
		schedule(deadline[i], post, &ran);
		wait_for(&ran);
	}
	wait_for_quiet();
	ck_assert_uint_lt(stat_of(TIMERTHREAD_STAT_LARGEST_LATENESS),
			  driver_tested() == ON_VIRTUAL ? INT64_MAX
							: 60000 * MS);
	end();
}
END_TEST

/* Nor is one that has expired, and then was rescheduled to that. */
START_TEST(rescheduled_to_long_ago)
{
	for (int moved = 0; moved < 2; moved++) {
		timerthread_id id;
		struct slot *s;

		start();
		hold_thread();
		id = schedule(timerthread_now(tt), post, &ran);
		s = intake_slot(tt->engine.intake, id);
		while (driver_tested() == ON_EXECUTOR &&
		       !slot_is_handed_over(s))
			sched_yield();
		if (moved)
			ck_assert_int_eq(timerthread_reschedule(
						 tt, id, TIMERTHREAD_NEVER),
					 0);
		ck_assert_int_eq(timerthread_reschedule(tt, id, 1), 0);
		sem_post(&go);
		wait_for(&ran);
		wait_for_quiet();
		ck_assert_uint_lt(stat_of(TIMERTHREAD_STAT_LARGEST_LATENESS),
				  60000 * MS);
		end();
	}
}
END_TEST

/* On a wall clock 0 says it, and what is late is late. */
START_TEST(on_the_wall_clock)
{
	struct timerthread_snapshot *s;

	setup();
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_REALTIME), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	schedule(0, linger, &ran);
	wait_for(&ran);
	ck_assert_uint_lt(stat_of(TIMERTHREAD_STAT_LARGEST_LATENESS), HOUR);
	schedule(timerthread_now(tt) - 2 * HOUR, post, &ran);
	wait_for(&ran);
	wait_for_quiet();
	ck_assert_uint_gt(stat_of(TIMERTHREAD_STAT_LARGEST_LATENESS), 2 * HOUR);
	s = take();
	ck_assert_int_gt(quantile(s, NULL, RUN_TIME, 1), 2800000);
	ck_assert_int_lt(quantile(s, NULL, RUN_TIME, 1), HOUR);
	timerthread_free_snapshot(s);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		arguments,           of_other_instances,
		how_long_they_run,   how_long_it_is_awake,
		how_late_they_begin, a_deadline_of_long_ago,
	};
	const TTest *const not_virtual[] = {
		late_with_a_long_slack,
		rescheduled_to_long_ago,
		on_the_wall_clock,
	};
	TCase *tcase = tcase_create("snapshot");

	ADD_TESTS(tcase, tests);
	if (driver_tested() != ON_VIRTUAL)
		ADD_TESTS(tcase, not_virtual);
	return run_case("snapshot", tcase);
}
