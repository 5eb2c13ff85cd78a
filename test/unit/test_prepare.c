/* SPDX-License-Identifier: MIT */
/*
 * Timers that are prepared: how they are armed, cancelled and counted; as
 * callers see them.
 */
#include "config.h"

/* Has a parameter with the name of a function of the others. */
#include "fail_alloc.h"

#include "timer_under_test.h"

#include <sched.h>
#include <string.h>

/*
 * Arguments, and the life of the instance.
 */
static void check_no_add(int result)
{
	timerthread_id id = 5;

	ck_assert_int_eq(timerthread_prepare(NULL, never, NULL, &id), -EINVAL);
	ck_assert_int_eq(timerthread_prepare(tt, NULL, NULL, &id), -EINVAL);
	ck_assert_int_eq(timerthread_prepare(tt, never, NULL, NULL), -EINVAL);
	ck_assert_int_eq(timerthread_prepare(tt, never, NULL, &id), result);
	ck_assert_uint_eq(id, 5);
}

START_TEST(arguments)
{
	ck_assert_int_eq(timerthread_disarm(NULL, 1), -EINVAL);
	ck_assert_int_eq(timerthread_disarm_wait(NULL, 1), -EINVAL);
	setup();
	check_no_add(-EINVAL);
	check_unarmed(0);
	check_unarmed(1);
	ck_assert_int_eq(driver_start(tt), 0);
	check_gone(0);
	check_gone(UINT64_MAX);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	check_no_add(-ESHUTDOWN);
	check_gone_or(0, -ESHUTDOWN);
	end();

	setup();
	ck_assert_int_eq(timerthread_stop(tt), 0);
	check_no_add(-ESHUTDOWN);
	check_unarmed(1);
	end();
}
END_TEST

/* Ids that differ from one in a bit, and such as were cancelled. */
START_TEST(ids_that_name_nothing)
{
	timerthread_id live, old;

	start();
	old = prepare(never, NULL);
	ck_assert_int_eq(cancel(old), 0);
	live = prepare(never, NULL);
	ck_assert_uint_ne(live, old);
	for (int bit = 0; bit < 64; bit++)
		check_gone(live ^ UINT64_C(1) << bit);
	/* Other timers come to be in the same slots, armed or not. */
	for (int i = 0; i < 1000; i++) {
		timerthread_id id = prepare(never, NULL);

		if (i % 2)
			ck_assert_int_eq(arm(id, TIMERTHREAD_NEVER), 0);
		check_gone(old);
		ck_assert_int_eq(cancel(id), 0);
		check_gone(id);
	}
	check_unarmed(live);
	ck_assert_int_eq(cancel(live), 0);
	end();
}
END_TEST

START_TEST(after_stop)
{
	timerthread_id unarmed, armed, once, periodic;

	start();
	unarmed = prepare(never, NULL);
	armed = prepare(never, NULL);
	ck_assert_int_eq(arm(armed, TIMERTHREAD_NEVER), 0);
	once = schedule(TIMERTHREAD_NEVER, never, NULL);
	periodic = every(TIMERTHREAD_NEVER, 1, never, NULL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	check_counts(3, 1);
	check_no_add(-ESHUTDOWN);
	ck_assert_int_eq(arm(unarmed, 0), -ESHUTDOWN);
	ck_assert_int_eq(arm(armed, 0), -ESHUTDOWN);
	ck_assert_int_eq(deadline_of(armed), TIMERTHREAD_NEVER);
	ck_assert_int_eq(disarm(armed), 0);
	ck_assert_int_eq(disarm_wait(once), 0);
	ck_assert_int_eq(disarm(periodic), 0);
	check_counts(0, 4);
	check_unarmed(unarmed);
	check_unarmed(armed);
	check_unarmed(once);
	check_unarmed(periodic);
	ck_assert_int_eq(cancel(unarmed), 0);
	ck_assert_int_eq(timerthread_cancel_wait(tt, armed), 0);
	ck_assert_int_eq(cancel(once), 0);
	check_gone_or(unarmed, -ESHUTDOWN);
	check_gone_or(armed, -ESHUTDOWN);
	check_gone_or(once, -ESHUTDOWN);
	ck_assert_int_eq(cancel_all(), 1);
	check_gone_or(periodic, -ESHUTDOWN);
	check_counts(0, 0);
	end();
}
END_TEST

static void refused_in_child(void)
{
	timerthread_id id = 5;

	NEED(timerthread_prepare(tt, never, NULL, &id) == -ECHILD && id == 5);
	NEED(arm(it.id, 0) == -ECHILD);
	NEED(disarm(it.id) == -ECHILD);
	NEED(disarm_wait(it.id) == -ECHILD);
	NEED(disarm(0) == -ECHILD);
	NEED(cancel(it.id) == -ECHILD);
	timerthread_destroy(tt);
}

START_TEST(in_a_child)
{
	start();
	add_it(count);
	in_child(refused_in_child);
	ck_assert_int_eq(arm(it.id, TIMERTHREAD_NEVER), 0);
	in_child(refused_in_child);
	ck_assert_int_eq(disarm(it.id), 0);
	run_it();
	check_runs(1);
	end();
}
END_TEST

/*
 * Arming.
 */
START_TEST(nothing_runs_until_it_is_armed)
{
	start();
	for (int i = 0; i < 100; i++)
		check_unarmed(prepare(never, NULL));
	for (int i = 0; i < 10; i++)
		settle();
	check_counts(0, 100);
	ck_assert_uint_eq(STAT(DEAD), 0);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	end();
}
END_TEST

START_TEST(runs_once_each_time_it_is_armed)
{
	start();
	add_it(count);
	for (int i = 1; i <= 100; i++) {
		ck_assert_int_eq(arm(it.id, i % 3 ? now() + i : -i), 0);
		wait_for(&ran);
		check_runs(i);
		check_counts(0, 1);
		check_unarmed(it.id);
	}
	for (int i = 101; i <= 200; i++) {
		ck_assert_int_eq(
			timerthread_reschedule_after(tt, it.id, i % 7 * 1000),
			0);
		wait_for(&ran);
	}
	check_runs(200);
	check_unarmed(it.id);
	ck_assert_int_eq(cancel(it.id), 0);
	check_gone(it.id);
	end();
}
END_TEST

/* It sleeps for an hour, or for ever; were it not woken, this would hang. */
START_TEST(arming_wakes_the_driver)
{
	start();
	add_it(count);
	for (int i = 1; i <= 200; i++) {
		if (i == 100)
			schedule(now() + HOUR, never, NULL);
		wait_for_sleep();
		ck_assert_int_eq(arm(it.id, now() + i * 1000), 0);
		wait_for(&ran);
		check_runs(i);
	}
	end();
}
END_TEST

START_TEST(one_that_is_armed_can_be_moved)
{
	int64_t base;

	start();
	add_it(count);
	base = now() + HOUR;
	for (int i = 0; i < 20; i++) {
		int64_t to = i % 2 ? base + i : base - i;

		ck_assert_int_eq(arm(it.id, to), 0);
		ck_assert_int_eq(deadline_of(it.id), to);
	}
	check_counts(1, 0);
	check_runs(0);
	ck_assert_int_eq(arm(it.id, 0), 0);
	wait_for(&ran);
	check_runs(1);
	check_unarmed(it.id);
	end();
}
END_TEST

/* At its last deadline, to the nanosecond, and at no other. */
START_TEST(moved_exactly)
{
	start_virtual();
	memset(&it, 0, sizeof(it));
	it.id = prepare(count, NULL);
	ck_assert_int_eq(arm(it.id, 100), 0);
	ck_assert_int_eq(arm(it.id, 200), 0);
	ck_assert_int_eq(timerthread_advance(tt, 199), 0);
	ck_assert_int_eq(timerthread_advance(tt, 1), 1);
	ck_assert_int_eq(arm(it.id, 300), 0);
	ck_assert_int_eq(arm(it.id, 250), 0);
	ck_assert_int_eq(timerthread_advance(tt, 49), 0);
	ck_assert_int_eq(timerthread_advance(tt, 1), 1);
	ck_assert_int_eq(timerthread_advance(tt, HOUR), 0);
	ck_assert_int_eq(it.runs, 2);
	end();
}
END_TEST

/*
 * While the callback runs.
 */
START_TEST(armed_while_it_runs_it_runs_again)
{
	start();
	add_it(hold_and_count);
	run_it();
	ck_assert_uint_eq(STAT(RUNNING), 1);
	check_counts(0, 0);
	check_not_pending(it.id);
	ck_assert_int_eq(arm(it.id, TIMERTHREAD_NEVER), 0);
	ck_assert_int_eq(deadline_of(it.id), TIMERTHREAD_NEVER);
	ck_assert_int_eq(arm(it.id, 0), 0);
	ck_assert_int_eq(deadline_of(it.id), 0);
	sem_post(&go);
	wait_for(&ran);
	ck_assert_int_eq(it.runs, 2);
	/* For later, and it stays so. */
	ck_assert_int_eq(arm(it.id, TIMERTHREAD_NEVER - 1), 0);
	let_it_end();
	ck_assert_int_eq(deadline_of(it.id), TIMERTHREAD_NEVER - 1);
	check_counts(1, 0);
	ck_assert_int_eq(disarm(it.id), 0);
	check_runs(2);
	check_unarmed(it.id);
	end();
}
END_TEST

static void arm_itself(void *arg)
{
	it.result[0] |= arm(it.id, it.runs % 2 ? 0 : TIMERTHREAD_NEVER);
	it.result[0] |= arm(it.id, it.runs % 2 ? now() + 1000 : 0);
	if (++it.runs == 50) {
		it.result[1] = disarm(it.id);
		sem_post(arg);
	}
}

START_TEST(armed_by_its_callback)
{
	start();
	add_it(arm_itself);
	run_it();
	check_runs(50);
	ck_assert_int_eq(it.result[0], 0);
	ck_assert_int_eq(it.result[1], 1);
	check_unarmed(it.id);
	end();
}
END_TEST

/*
 * Cancelling.
 */
START_TEST(one_that_is_not_armed_can_be_cancelled)
{
	timerthread_id id;
	void *arg = NULL;

	start();
	for (int i = 0; i < 30; i++) {
		id = prepare(count, &it);
		if (i % 2) {
			ck_assert_int_eq(arm(id, TIMERTHREAD_NEVER), 0);
			ck_assert_int_eq(disarm(id), 0);
		}
		if (i % 3 == 0)
			ck_assert_int_eq(cancel(id), 0);
		else if (i % 3 == 1)
			ck_assert_int_eq(timerthread_cancel_wait(tt, id), 0);
		else
			ck_assert_int_eq(timerthread_cancel_take(tt, id, &arg),
					 0);
		check_gone(id);
	}
	ck_assert_ptr_eq(arg, &it);
	ck_assert_uint_eq(STAT(CANCELLED), 30);
	check_counts(0, 0);
	end();
}
END_TEST

START_TEST(one_that_is_armed_can_be_cancelled)
{
	timerthread_id id;

	start();
	id = prepare(never, NULL);
	ck_assert_int_eq(arm(id, now() + HOUR), 0);
	ck_assert_int_eq(cancel(id), 0);
	check_gone(id);
	settle();
	check_gone(id);
	end();
}
END_TEST

/* Armed for after that, or not. */
START_TEST(cancelled_while_it_runs_it_ends)
{
	start();
	for (int i = 0; i < 20; i++) {
		add_it(hold_and_count);
		run_it();
		if (i % 2)
			ck_assert_int_eq(arm(it.id, 0), 0);
		ck_assert_int_eq(cancel(it.id), 1);
		ck_assert_int_eq(arm(it.id, 0), -ENOENT);
		check_not_pending(it.id);
		let_it_end();
		check_runs(1);
		check_gone(it.id);
	}
	check_counts(0, 0);
	end();
}
END_TEST

/*
 * What counts.
 */
static void check_full(void)
{
	timerthread_id id = 5;

	ck_assert_int_eq(timerthread_prepare(tt, never, NULL, &id), -EAGAIN);
	ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, &id),
			 -EAGAIN);
	ck_assert_uint_eq(id, 5);
}

/* A timer has its place, armed or not, until it is cancelled. */
START_TEST(the_cap_counts_them)
{
	timerthread_id other;

	setup();
	ck_assert_int_eq(timerthread_set_max_timers(tt, 2), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	add_it(hold_and_count);
	other = prepare(never, NULL);
	check_full();
	ck_assert_uint_eq(STAT(CAPPED), 2);
	ck_assert_int_eq(arm(other, TIMERTHREAD_NEVER), 0);
	check_full();
	ck_assert_int_eq(disarm(other), 0);
	check_full();
	for (int i = 0; i < 10; i++) {
		run_it();
		check_full();
		sem_post(&go);
		ck_assert_int_ne(disarm_wait(it.id), 0);
		check_full();
	}
	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(cancel(other), 0);
		wait_for_places(1);
		other = prepare(never, NULL);
		check_full();
	}
	/* That of one that is running comes back when it is over. */
	run_it();
	ck_assert_int_eq(cancel(it.id), 1);
	check_full();
	sem_post(&go);
	wait_for_places(1);
	add_it(count);
	check_full();
	ck_assert_int_eq(cancel_all(), 2);
	wait_for_places(2);
	end();
}
END_TEST

START_TEST(they_are_counted)
{
	start();
	add_it(count);
	ck_assert_uint_eq(STAT(SCHEDULED), 1);
	ck_assert_uint_eq(STAT(RESCHEDULED), 0);
	ck_assert_int_eq(arm(it.id, TIMERTHREAD_NEVER), 0);
	check_counts(1, 0);
	ck_assert_int_eq(disarm(it.id), 0);
	ck_assert_int_eq(disarm(it.id), -ENOENT);
	check_counts(0, 1);
	ck_assert_uint_eq(STAT(RESCHEDULED), 1);
	run_it();
	while (STAT(FIRED) < 1)
		sched_yield();
	ck_assert_int_ne(disarm_wait(it.id), 0);
	ck_assert_uint_eq(STAT(RESCHEDULED), 2);
	ck_assert_uint_eq(STAT(FIRED), 1);
	check_counts(0, 1);
	ck_assert_uint_eq(STAT(SCHEDULED), 1);
	ck_assert_uint_eq(STAT(CANCELLED), 0);
	ck_assert_int_eq(cancel(it.id), 0);
	ck_assert_uint_eq(STAT(CANCELLED), 1);
	ck_assert_uint_eq(STAT(DEAD) + STAT(RECYCLED), 1);
	check_counts(0, 0);
	end();
}
END_TEST

static int visited;

static void check_visit(timerthread_id id, timerthread_fn *fn, void *arg,
			void *ctx)
{
	const timerthread_id *ids = ctx;

	ck_assert_ptr_eq(arg, &ids[visited]);
	ck_assert_ptr_eq(fn, count);
	ck_assert_uint_eq(id, ids[visited]);
	check_gone(id);
	visited++;
}

/* One at a time, so that their order is known. */
static void check_drained(timerthread_id *ids)
{
	visited = 0;
	ck_assert_int_eq(timerthread_cancel_all(tt, check_visit, ids), 1);
	ck_assert_int_eq(visited, 1);
	check_gone(ids[0]);
}

START_TEST(cancel_all_takes_them)
{
	timerthread_id id;

	start();
	id = prepare(count, &id);
	check_drained(&id);
	id = prepare(count, &id);
	ck_assert_int_eq(arm(id, now() + HOUR), 0);
	check_drained(&id);
	id = schedule(now() + HOUR, count, &id);
	ck_assert_int_eq(disarm(id), 0);
	check_drained(&id);
	id = every(now() + HOUR, 1, count, &id);
	ck_assert_int_eq(disarm(id), 0);
	check_drained(&id);
	ck_assert_uint_eq(STAT(DRAINED), 4);
	ck_assert_uint_eq(STAT(CANCELLED), 4);
	check_counts(0, 0);
	/* Not one that is running; it is not pending, nor unarmed. */
	add_it(hold_and_count);
	run_it();
	ck_assert_int_eq(cancel_all(), 0);
	ck_assert_int_eq(arm(it.id, TIMERTHREAD_NEVER), 0);
	let_it_end();
	ck_assert_int_eq(cancel_all(), 1);
	check_gone(it.id);
	end();
}
END_TEST

/*
 * Memory.
 */
START_TEST(arming_leaves_nothing_behind)
{
	uint64_t before;
	timerthread_id id;

	start();
	id = prepare(never, NULL);
	settle();
	before = STAT(BYTES);
	for (int i = 0; i < 100000; i++) {
		int64_t far = (i % 1000 + 1) * HOUR;

		must(arm(id, i % 2 ? now() + far : now() + 1001 * HOUR - far) ==
		     0);
		must(disarm(id) == 0);
	}
	ck_assert_uint_le(STAT(BYTES), before + (1 << 20));
	check_unarmed(id);
	end();
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

/* With a reserve and a cap there is never a need for more. */
START_TEST(a_reserve_is_enough)
{
	enum { N = 10 };
	uint64_t rng = test_seed();
	timerthread_id id[N];

	setup();
	ck_assert_int_eq(timerthread_set_reserve(tt, N), 0);
	ck_assert_int_eq(timerthread_set_max_timers(tt, N), 0);
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	fail_arm(0, UINT32_MAX);
	for (int i = 0; i < N; i++)
		id[i] = prepare(note, NULL);
	for (int i = 0; i < 100000; i++) {
		int k = (int)random_below(&rng, N);
		int64_t far = INT64_C(1) << random_below(&rng, 50);

		switch (random_below(&rng, 8)) {
		case 0:
			must(timerthread_advance(tt, far >> 20) >= 0);
			break;
		case 1:
			must(cancel(id[k]) == 0);
			id[k] = prepare(note, NULL);
			break;
		case 2:
		case 3:
			disarm(id[k]);
			break;
		default:
			must(arm(id[k], now() + far) == 0);
			break;
		}
	}
	ck_assert_uint_eq(fail_disarm(), 0);
	ck_assert_uint_eq(STAT(NO_MEMORY), 0);
	check_counts(STAT(PENDING), N - STAT(PENDING));
	end();
}
END_TEST

#endif

int main(void)
{
	const TTest *const tests[] = {
		arguments,
		ids_that_name_nothing,
		after_stop,
		in_a_child,
		nothing_runs_until_it_is_armed,
		runs_once_each_time_it_is_armed,
		arming_wakes_the_driver,
		one_that_is_armed_can_be_moved,
		moved_exactly,
		armed_while_it_runs_it_runs_again,
		armed_by_its_callback,
		one_that_is_not_armed_can_be_cancelled,
		one_that_is_armed_can_be_cancelled,
		cancelled_while_it_runs_it_ends,
		the_cap_counts_them,
		they_are_counted,
		cancel_all_takes_them,
		arming_leaves_nothing_behind,
#ifndef FAIL_ALLOC_UNAVAILABLE
		a_reserve_is_enough,
#endif
	};

	return RUN_TESTS("prepare", tests);
}
