/* SPDX-License-Identifier: MIT */
/*
 * Deadlines that have passed when a timer is scheduled or moved.
 */
#include "config.h"

#include "intake/arrival.h"
#include "one_bucket.h"

#include <errno.h>

/* The only entry there is. */
static struct entry take_one(void)
{
	ck_assert_uint_eq(take(INT64_MAX - 1), 1);
	return taken[0];
}

/* Whatever the bucket has seen before. */
static void check_passed(clockid_t clock, int64_t deadline, bool visited)
{
	struct entry e;
	int64_t before, shown;
	uint64_t id;

	begin_on(clock);
	if (visited)
		take(watch_now(&watch));
	before = watch_now(&watch);
	id = schedule(deadline);
	ck_assert_int_ge(announced(), before);
	ck_assert_int_le(announced(), watch_now(&watch));
	e = take_one();
	ck_assert_int_ge(e.deadline, before);
	ck_assert_int_eq(e.deadline, slot_of(id)->due);
	ck_assert_int_eq(bucket_get_deadline(bucket, slot_of(id), id, &shown),
			 0);
	ck_assert_int_eq(shown, deadline);
	ck_assert(run(e, watch_now(&watch)));
	end();
}

static void check_all_passed(clockid_t clock, bool visited)
{
	check_passed(clock, INT64_MIN, visited);
	check_passed(clock, -1, visited);
	check_passed(clock, 0, visited);
	check_passed(clock, 1, visited);
	check_passed(clock, NEAR_NS - 1, visited);
	check_passed(clock, clock_now(clock) - SECOND, visited);
	check_passed(clock, clock_now(clock) - 1, visited);
}

/* Nobody gains by asking for what is long ago. */
START_TEST(what_has_passed_is_due_now)
{
	for (int visited = 0; visited < 2; visited++) {
		check_all_passed(CLOCK_MONOTONIC, visited);
		check_all_passed(CLOCK_BOOTTIME, visited);
	}
}
END_TEST

/* Also where another one is due in a moment, and not yet. */
START_TEST(what_has_just_passed_is_due_now)
{
	const int64_t moment = 100000;

	for (int i = 0; i < 20; i++) {
		int64_t before, after;
		uint64_t id;

		begin_on(CLOCK_MONOTONIC);
		schedule(watch_now(&watch) + HOUR);
		before = watch_now(&watch);
		schedule(before + moment);
		id = schedule(before - 1000);
		after = watch_now(&watch);
		/* This thread was not interrupted. */
		if (after < before + moment)
			ck_assert_int_ge(slot_of(id)->due, before);
		end();
	}
}
END_TEST

/* It was to come when the clock was read last; and another one came before. */
START_TEST(what_has_passed_since_is_due_now)
{
	const int64_t moment = 100000;

	for (int i = 0; i < 20; i++) {
		int64_t soon, before;
		uint64_t id;

		begin_on(CLOCK_MONOTONIC);
		soon = watch_now(&watch) + moment;
		schedule(soon);
		do
			before = watch_now(&watch);
		while (before <= soon + moment);
		id = schedule(soon + moment);
		ck_assert_int_ge(slot_of(id)->due, before);
		end();
	}
}
END_TEST

/* It is due now, and the driver does not sleep on for the slack. */
static void check_at_once(int64_t deadline)
{
	int64_t before = watch_now(&watch), due;
	uint64_t id = schedule(deadline);

	due = slot_of(id)->due;
	ck_assert_int_ge(due, before);
	ck_assert_int_le(due, watch_now(&watch));
	ck_assert_int_le(announced(), due - wakeup.slack);
}

/* Something that has expired waits in its lane for the slack. */
static uint64_t wait_for_one_to_expire(void)
{
	int64_t soon = watch_now(&watch) + 1000;
	uint64_t id = schedule(soon);

	while (watch_now(&watch) <= soon)
		;
	return id;
}

START_TEST(what_has_passed_does_not_wait_for_the_slack)
{
	begin_on(CLOCK_MONOTONIC);
	wakeup.slack = HOUR;
	for (int i = 1; i < 100; i++) {
		int64_t t = watch_now(&watch);

		/* Also one that is later than what waits. */
		wait_for_one_to_expire();
		check_at_once(watch_now(&watch));
		check_at_once(t - i * HOUR / 50);
		check_at_once(i % 2 ? INT64_MIN : t - i * SECOND);
		run_due(watch_now(&watch));
	}
	end();
}
END_TEST

/* The same for a slack that is short, and lanes that are far. */
START_TEST(what_has_passed_goes_to_no_other_lane)
{
	begin_on(CLOCK_MONOTONIC);
	wakeup.slack = 50 * MS;
	wait_for_one_to_expire();
	/* As if the clock had not been read for long. */
	bucket->base -= distance_base(HOUR);
	bucket->now -= HOUR;
	bucket_set_doubtful(bucket, &wakeup);
	check_at_once(watch_now(&watch));
	end();
}
END_TEST

static void move_to_what_has_passed(clockid_t clock)
{
	int64_t before;
	uint64_t id;

	begin_on(clock);
	wakeup.slack = HOUR;
	id = wait_for_one_to_expire();
	before = watch_now(&watch);
	ck_assert_int_eq(reschedule(id, before), 0);
	ck_assert_int_ge(slot_of(id)->due, before);
	ck_assert_int_le(announced(), slot_of(id)->due - HOUR);
	ck_assert_uint_eq(run_due(watch_now(&watch)), 1);
	end();
}

START_TEST(moved_to_what_has_passed_it_does_not_wait)
{
	move_to_what_has_passed(CLOCK_MONOTONIC);
	move_to_what_has_passed(CLOCK_REALTIME);
	move_to_what_has_passed(CLOCK_BOOTTIME);
}
END_TEST

/* What was announced last is the same, and nobody has woken the driver. */
static void hold_up_a_caller(int64_t deadline)
{
	/* A row of wake-ups would shorten its sleep. */
	wakeup.woken = 0;
	wakeup_begin_sleep(&wakeup, INT64_MAX);
	ck_assert(arrival_announce(bucket, &wakeup, deadline));
	ck_assert(wakeup_owes_kick(&wakeup));
}

START_TEST(others_wake_the_driver_for_one_that_is_held_up)
{
	int64_t far;
	uint64_t id;

	begin_on(CLOCK_MONOTONIC);
	ck_assert_int_eq(sleeper_open(&wakeup.sleeper, CLOCK_MONOTONIC, true),
			 0);
	far = watch_now(&watch) + HOUR;
	hold_up_a_caller(far);
	id = schedule(far + 1);
	ck_assert(!wakeup_owes_kick(&wakeup));
	schedule(far + 2);
	ck_assert_int_eq(bucket->state, BUCKET_OPEN);

	wakeup_end_sleep(&wakeup);
	hold_up_a_caller(far - MS);
	ck_assert_int_eq(reschedule(id, far), 0);
	ck_assert(!wakeup_owes_kick(&wakeup));

	/* A driver that is awake needs no call. */
	wakeup_end_sleep(&wakeup);
	hold_up_a_caller(far - 2 * MS);
	wakeup_end_sleep(&wakeup);
	schedule(far + 3);
	ck_assert_int_eq(bucket->state, BUCKET_OPEN);

	/* Also who finds no room, and leaves its timer unqueued. */
	wakeup_end_sleep(&wakeup);
	hold_up_a_caller(far - 2 * MS - 1);
	ck_assert_int_eq(arrival_without_room(bucket, &wakeup, false, -ENOMEM),
			 ARRIVAL_NO_ROOM);
	lock_release(&bucket->lock);
	ck_assert(!wakeup_owes_kick(&wakeup));

	/* And who moves one, which may be unqueued. */
	wakeup_end_sleep(&wakeup);
	hold_up_a_caller(far - 2 * MS - 2);
	ck_assert_int_eq(reschedule(id, far + 4), 0);
	ck_assert(!wakeup_owes_kick(&wakeup));

	/* Nor does this open a bucket that is shut. */
	hold_up_a_caller(far - 3 * MS);
	bucket_set_open(bucket, false);
	ck_assert_int_eq(try_to_schedule(far, NULL), -ESHUTDOWN);
	ck_assert_int_eq(arrival_without_room(bucket, &wakeup, false, -ENOMEM),
			 -ESHUTDOWN);
	ck_assert_int_eq(reschedule(id, far + 5), -ESHUTDOWN);
	ck_assert(arrival_announce(bucket, &wakeup, far - 4 * MS));
	ck_assert_int_eq(bucket->state, BUCKET_SHUT);
	sleeper_close(&wakeup.sleeper, false);
	end();
}
END_TEST

/* Again and again: none comes before those before it. */
START_TEST(what_has_passed_keeps_its_turn)
{
	enum { N = 1000 };
	int64_t last = INT64_MIN;
	uint64_t id;

	begin_on(CLOCK_MONOTONIC);
	for (int i = 0; i < N; i++) {
		id = schedule(watch_now(&watch));
		must(slot_of(id)->due >= last);
		last = slot_of(id)->due;
		id = schedule(i % 2 ? 0 : -i);
		ck_assert_int_ge(announced(), NEAR_NS);
	}
	ck_assert_uint_eq(run_due(watch_now(&watch)), 2 * N);
	end();
}
END_TEST

START_TEST(rescheduled_to_what_has_passed)
{
	int64_t before, shown;
	uint64_t id;

	begin_on(CLOCK_MONOTONIC);
	before = watch_now(&watch);
	id = schedule(before + HOUR);
	ck_assert_int_eq(reschedule(id, -5), 0);
	ck_assert_int_ge(announced(), before);
	ck_assert_int_ge(slot_of(id)->due, before);
	ck_assert_int_eq(bucket_get_deadline(bucket, slot_of(id), id, &shown),
			 0);
	ck_assert_int_eq(shown, -5);
	ck_assert_uint_eq(run_due(watch_now(&watch)), 1);
	end();
}
END_TEST

/* The wall clock may be set back, and a virtual one stands still. */
START_TEST(on_some_clocks_it_keeps_its_deadline)
{
	for (int i = 0; i < 2; i++) {
		if (i == 0)
			begin_on(CLOCK_REALTIME);
		else
			begin();
		schedule(-5);
		ck_assert_int_eq(announced(), -5);
		schedule(-6);
		ck_assert_int_eq(announced(), -6);
		ck_assert_uint_eq(take(INT64_MAX - 1), 2);
		ck_assert_int_eq(taken[0].deadline + taken[1].deadline, -11);
		end();
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		what_has_passed_is_due_now,
		what_has_just_passed_is_due_now,
		what_has_passed_since_is_due_now,
		what_has_passed_does_not_wait_for_the_slack,
		what_has_passed_goes_to_no_other_lane,
		moved_to_what_has_passed_it_does_not_wait,
		others_wake_the_driver_for_one_that_is_held_up,
		what_has_passed_keeps_its_turn,
		rescheduled_to_what_has_passed,
		on_some_clocks_it_keeps_its_deadline,
	};

	return RUN_TESTS("passed", tests);
}
