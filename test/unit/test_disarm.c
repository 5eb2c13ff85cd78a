/* SPDX-License-Identifier: MIT */
/*
 * Timers that are disarmed, prepared or not; as callers see them.
 */
#include "config.h"

#include "timer_under_test.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

/*
 * Disarming what is armed.
 */
static int64_t next_deadline(void)
{
	int64_t t = 0;

	ck_assert_int_eq(timerthread_get_next_deadline(tt, &t), 0);
	return t;
}

static void check_disarm(timerthread_id id, bool waits)
{
	ck_assert_int_eq(waits ? disarm_wait(id) : disarm(id), 0);
	check_unarmed(id);
	ck_assert_int_eq(next_deadline(), TIMERTHREAD_NEVER);
	check_counts(0, 1);
}

static const int64_t distances[] = {0,       1,        1000,       MS,
				    20 * MS, 500 * MS, HOUR,       100 * HOUR,
				    -1,      -HOUR,    5000 * HOUR};

enum { DISTANCES = sizeof(distances) / sizeof(distances[0]) };

START_TEST(what_was_disarmed_does_not_run)
{
	timerthread_id id;

	start_virtual();
	id = prepare(never, NULL);
	ck_assert_int_eq(next_deadline(), TIMERTHREAD_NEVER);
	for (int i = 0; i < 2 * DISTANCES; i++) {
		int64_t d = distances[i / 2];

		ck_assert_int_eq(arm(id, now() + d), 0);
		check_counts(1, 0);
		if (d > 1 && i % 2)
			ck_assert_int_eq(timerthread_advance(tt, d / 2), 0);
		check_disarm(id, i % 2);
		ck_assert_int_eq(timerthread_advance(tt, 2 * HOUR), 0);
	}
	ck_assert_int_eq(timerthread_advance(tt, INT64_MAX), 0);
	check_unarmed(id);
	end();
}
END_TEST

START_TEST(what_was_disarmed_in_time_does_not_run)
{
	timerthread_id id;

	start();
	id = prepare(never, NULL);
	for (int i = 0; i < 50; i++) {
		ck_assert_int_eq(arm(id, now() + (i % 5 + 1) * HOUR), 0);
		if (i % 2)
			wait_for_sleep();
		ck_assert_int_eq(i % 3 ? disarm(id) : disarm_wait(id), 0);
		check_unarmed(id);
		settle();
	}
	check_counts(0, 1);
	end();
}
END_TEST

/* Due already, while another callback keeps it from its turn. */
START_TEST(what_was_disarmed_when_due_does_not_run)
{
	timerthread_id id;

	start();
	id = prepare(never, NULL);
	add_it(count);
	for (int i = 1; i <= 100; i++) {
		hold_thread();
		ck_assert_int_eq(arm(id, i % 2 ? 0 : now()), 0);
		ck_assert_int_eq(arm(it.id, 1), 0);
		for (int k = 0; k < i; k++)
			sched_yield();
		ck_assert_int_eq(disarm(id), 0);
		ck_assert_int_eq(disarm(it.id), 0);
		ck_assert_int_eq(arm(it.id, 2), 0);
		check_unarmed(id);
		sem_post(&go);
		wait_for(&ran);
		check_runs(i);
	}
	end();
}
END_TEST

/* From where it was to where it goes, with a step of the clock in between. */
static void disarm_and_arm(int64_t from, int64_t to, int64_t step)
{
	int64_t base;

	start_virtual();
	memset(&it, 0, sizeof(it));
	it.id = prepare(count, NULL);
	ck_assert_int_eq(arm(it.id, from), 0);
	if (step > 0)
		ck_assert_int_eq(timerthread_advance(tt, step), 0);
	ck_assert_int_eq(disarm(it.id), 0);
	ck_assert_int_eq(arm(it.id, to), 0);
	ck_assert_int_eq(deadline_of(it.id), to);
	base = to > step ? to : step;
	ck_assert_int_eq(next_deadline(), base);
	if (to > step)
		ck_assert_int_eq(timerthread_advance(tt, to - step - 1), 0);
	ck_assert_int_eq(timerthread_advance(tt, to > step), 1);
	ck_assert_int_eq(it.runs, 1);
	check_unarmed(it.id);
	ck_assert_int_eq(timerthread_advance(tt, INT64_MAX), 0);
	ck_assert_int_eq(it.runs, 1);
	end();
}

/* To the same deadline, to earlier ones, and to later ones. */
START_TEST(disarmed_and_armed_again)
{
	for (int i = 0; i < DISTANCES; i++) {
		for (int k = 0; k < DISTANCES; k++) {
			int64_t from = distances[i], to = distances[k];

			disarm_and_arm(from, to, 0);
			if (from > 1)
				disarm_and_arm(from, to, from / 2);
			if (from > 1)
				disarm_and_arm(from, to, from - 1);
		}
	}
}
END_TEST

START_TEST(disarmed_and_armed_again_in_time)
{
	int64_t base;

	start();
	add_it(count);
	base = now() + HOUR;
	for (int i = 1; i <= 100; i++) {
		ck_assert_int_eq(arm(it.id, base), 0);
		if (i % 4 == 0)
			wait_for_sleep();
		ck_assert_int_eq(disarm(it.id), 0);
		ck_assert_int_eq(arm(it.id, base + i % 3 - 1), 0);
		ck_assert_int_eq(deadline_of(it.id), base + i % 3 - 1);
		ck_assert_int_eq(disarm(it.id), 0);
		ck_assert_int_eq(arm(it.id, i % 2 ? 0 : now() + 1000), 0);
		wait_for(&ran);
		check_runs(i);
	}
	end();
}
END_TEST

/*
 * While the callback runs.
 */
START_TEST(disarmed_while_it_runs)
{
	start();
	add_it(hold_and_count);
	run_it();
	ck_assert_int_eq(disarm(it.id), 1);
	ck_assert_int_eq(arm(it.id, 0), 0);
	ck_assert_int_eq(disarm(it.id), 1);
	check_not_pending(it.id);
	ck_assert_int_eq(disarm(it.id), 1);
	let_it_end();
	check_runs(1);
	check_unarmed(it.id);
	check_counts(0, 1);
	/* Armed once more after it was disarmed. */
	run_it();
	ck_assert_int_eq(arm(it.id, TIMERTHREAD_NEVER), 0);
	ck_assert_int_eq(disarm(it.id), 1);
	ck_assert_int_eq(arm(it.id, 0), 0);
	sem_post(&go);
	wait_for(&ran);
	let_it_end();
	check_runs(3);
	check_unarmed(it.id);
	end();
}
END_TEST

static void disarm_itself(void *arg)
{
	int64_t deadline;

	it.runs++;
	it.result[0] = disarm(it.id);
	it.result[1] = arm(it.id, 0);
	it.result[2] = disarm(it.id);
	it.result[3] = timerthread_get_deadline(tt, it.id, &deadline);
	sem_post(arg);
}

static void check_disarmed_itself(void)
{
	wait_for(&ran);
	ck_assert_int_eq(it.result[0], 1);
	ck_assert_int_eq(it.result[1], 0);
	ck_assert_int_eq(it.result[2], 1);
	ck_assert_int_eq(it.result[3], -ENOENT);
	check_runs(1);
}

START_TEST(disarmed_in_its_callback)
{
	start();
	add_it(disarm_itself);
	ck_assert_int_eq(arm(it.id, 0), 0);
	check_disarmed_itself();
	check_unarmed(it.id);
	ck_assert_int_eq(cancel(it.id), 0);
	/* One that neither was prepared nor repeats ends. */
	memset(&it, 0, sizeof(it));
	ck_assert_int_eq(
		timerthread_schedule(tt, 0, disarm_itself, &ran, &it.id), 0);
	check_disarmed_itself();
	check_gone(it.id);
	/* One that repeats does not. */
	memset(&it, 0, sizeof(it));
	ck_assert_int_eq(timerthread_schedule_every(tt, 0, 1, disarm_itself,
						    &ran, &it.id),
			 0);
	check_disarmed_itself();
	check_unarmed(it.id);
	ck_assert_int_eq(cancel(it.id), 0);
	end();
}
END_TEST

static void wait_in_itself(void *arg)
{
	it.runs++;
	it.result[0] = disarm_wait(it.id);
	it.result[1] = arm(it.id, TIMERTHREAD_NEVER - 5);
	it.result[2] = disarm_wait(it.id);
	it.result[3] = timerthread_get_deadline(tt, it.id, &it.deadline);
	sem_post(arg);
}

static void check_waited_in_itself(void)
{
	wait_for(&ran);
	ck_assert_int_eq(it.result[0], -EDEADLK);
	ck_assert_int_eq(it.result[1], 0);
	ck_assert_int_eq(it.result[2], -EDEADLK);
	ck_assert_int_eq(it.result[3], 0);
	ck_assert_int_eq(it.deadline, TIMERTHREAD_NEVER - 5);
	check_runs(1);
	ck_assert_int_eq(deadline_of(it.id), TIMERTHREAD_NEVER - 5);
	ck_assert_int_eq(cancel(it.id), 0);
}

START_TEST(disarm_wait_in_its_callback_changes_nothing)
{
	start();
	add_it(wait_in_itself);
	ck_assert_int_eq(arm(it.id, 0), 0);
	check_waited_in_itself();
	memset(&it, 0, sizeof(it));
	ck_assert_int_eq(
		timerthread_schedule(tt, 0, wait_in_itself, &ran, &it.id), 0);
	check_waited_in_itself();
	memset(&it, 0, sizeof(it));
	ck_assert_int_eq(timerthread_schedule_every(tt, 0, HOUR, wait_in_itself,
						    &ran, &it.id),
			 0);
	check_waited_in_itself();
	end();
}
END_TEST

/* From the callback of another timer: this one is not running. */
static void disarm_other(void *arg)
{
	it.result[0] = disarm_wait(it.id);
	it.result[1] = disarm_wait(it.id);
	it.result[2] = arm(it.id, TIMERTHREAD_NEVER);
	it.result[3] = disarm(it.id);
	sem_post(arg);
}

START_TEST(disarmed_in_another_callback)
{
	start();
	add_it(count);
	ck_assert_int_eq(arm(it.id, TIMERTHREAD_NEVER), 0);
	schedule(0, disarm_other, &ran);
	wait_for(&ran);
	ck_assert_int_eq(it.result[0], 0);
	ck_assert_int_eq(it.result[1], -ENOENT);
	ck_assert_int_eq(it.result[2], 0);
	ck_assert_int_eq(it.result[3], 0);
	check_runs(0);
	check_unarmed(it.id);
	end();
}
END_TEST

/*
 * A thread that waits in disarm_wait.
 */
static int written; /* by callbacks, with no lock */

static struct waiter {
	pthread_t thread;
	timerthread_id id;
	int result;
	int seen;
	atom32 returned;
} waiter;

static void hold_and_write(void *arg)
{
	it.runs++;
	hold(arg);
	written++;
}

static void arm_hold_and_write(void *arg)
{
	it.result[0] = arm(it.id, TIMERTHREAD_NEVER);
	hold_and_write(arg);
}

static void *disarm_in_thread(void *arg)
{
	struct waiter *w = arg;

	w->result = disarm_wait(w->id);
	w->seen = written;
	atom32_store(&w->returned, 1);
	return NULL;
}

/*
 * Its callback is held, and it is armed for after that: when it is not any
 * more, the thread is where it waits.
 */
static void start_waiter(void)
{
	int64_t deadline;

	memset(&waiter, 0, sizeof(waiter));
	waiter.id = it.id;
	waiter.thread = start_thread(disarm_in_thread, &waiter);
	while (timerthread_get_deadline(tt, it.id, &deadline) == 0)
		sched_yield();
}

static void check_waiter(int value)
{
	for (int i = 0; i < 50; i++)
		sched_yield();
	ck_assert_uint_eq(atom32_load(&waiter.returned), 0);
	sem_post(&go);
	pthread_join(waiter.thread, NULL);
	ck_assert_int_eq(waiter.result, 1);
	ck_assert_int_eq(waiter.seen, value);
}

START_TEST(disarm_wait_waits)
{
	start();
	add_it(hold_and_write);
	for (int i = 1; i <= 50; i++) {
		run_it();
		ck_assert_int_eq(arm(it.id, 0), 0);
		start_waiter();
		check_waiter(i);
		check_unarmed(it.id);
		check_runs(i);
	}
	end();
}
END_TEST

START_TEST(disarm_wait_waits_for_one_that_repeats)
{
	start();
	memset(&it, 0, sizeof(it));
	it.id = every(0, 1, hold_and_write, &ran);
	for (int i = 1; i <= 20; i++) {
		wait_for(&ran);
		start_waiter();
		check_waiter(i);
		check_unarmed(it.id);
		check_runs(i);
		ck_assert_int_eq(arm(it.id, i % 2 ? 0 : now()), 0);
	}
	wait_for(&ran);
	ck_assert_int_eq(cancel(it.id), 1);
	let_it_end();
	check_gone(it.id);
	end();
}
END_TEST

START_TEST(disarm_wait_waits_for_one_that_runs_once)
{
	start();
	for (int i = 1; i <= 20; i++) {
		memset(&it, 0, sizeof(it));
		ck_assert_int_eq(timerthread_schedule(tt, 0, arm_hold_and_write,
						      &ran, &it.id),
				 0);
		wait_for(&ran);
		ck_assert_int_eq(it.result[0], 0);
		start_waiter();
		check_waiter(i);
		check_gone(it.id);
		check_runs(1);
	}
	end();
}
END_TEST

/* Waiting does not cancel it, nor keep others from arming it. */
START_TEST(armed_while_a_thread_waits)
{
	start();
	add_it(hold_and_write);
	run_it();
	ck_assert_int_eq(arm(it.id, 0), 0);
	start_waiter();
	ck_assert_int_eq(arm(it.id, TIMERTHREAD_NEVER), 0);
	check_waiter(1);
	ck_assert_int_eq(disarm_wait(it.id), 0);
	check_unarmed(it.id);
	check_runs(1);
	end();
}
END_TEST

/*
 * Timers that were not prepared.
 */
START_TEST(one_that_runs_once_can_be_disarmed)
{
	timerthread_id id;

	start_virtual();
	for (int i = 0; i < 2; i++) {
		int64_t base = now();

		id = schedule(base + 10, note, NULL);
		check_disarm(id, i);
		ck_assert_int_eq(timerthread_advance(tt, 20), 0);
		ck_assert_int_eq(arm(id, base + (i ? 30 : 5)), 0);
		ck_assert_int_eq(timerthread_advance(tt, i ? 9 : 0), !i);
		ck_assert_int_eq(timerthread_advance(tt, 1), i);
		ck_assert_int_eq(runs, i + 1);
		check_gone(id);
		check_counts(0, 0);
	}
	id = schedule(now() + 10, never, NULL);
	ck_assert_int_eq(disarm(id), 0);
	ck_assert_int_eq(cancel(id), 0);
	check_gone(id);
	ck_assert_int_eq(timerthread_advance(tt, INT64_MAX), 0);
	end();
}
END_TEST

START_TEST(one_that_runs_once_runs_once_after_it)
{
	start();
	memset(&it, 0, sizeof(it));
	it.id = schedule(now() + HOUR, count, &ran);
	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(disarm(it.id), 0);
		check_runs(0);
		check_unarmed(it.id);
		ck_assert_int_eq(arm(it.id, now() + HOUR - i * MS), 0);
	}
	ck_assert_int_eq(disarm(it.id), 0);
	ck_assert_int_eq(timerthread_reschedule_after(tt, it.id, 1), 0);
	wait_for(&ran);
	check_runs(1);
	check_gone(it.id);
	end();
}
END_TEST

START_TEST(one_that_repeats_goes_on_with_its_period)
{
	timerthread_id id;

	start_virtual();
	id = every(10, 10, note, NULL);
	ck_assert_int_eq(timerthread_advance(tt, 25), 2);
	check_disarm(id, false);
	ck_assert_int_eq(timerthread_advance(tt, 100), 0);
	ck_assert_int_eq(arm(id, 133), 0);
	ck_assert_int_eq(deadline_of(id), 133);
	ck_assert_int_eq(timerthread_advance(tt, 8), 1);
	ck_assert_int_eq(deadline_of(id), 143);
	ck_assert_int_eq(timerthread_advance(tt, 9), 0);
	ck_assert_int_eq(timerthread_advance(tt, 21), 3);
	check_disarm(id, true);
	ck_assert_int_eq(arm(id, now()), 0);
	ck_assert_int_eq(timerthread_advance(tt, 0), 1);
	ck_assert_int_eq(deadline_of(id), now() + 10);
	ck_assert_int_eq(cancel(id), 0);
	check_gone(id);
	end();
}
END_TEST

START_TEST(one_that_runs_once_ends_if_disarmed_meanwhile)
{
	start();
	memset(&it, 0, sizeof(it));
	it.id = schedule(0, hold_and_count, &ran);
	wait_for(&ran);
	ck_assert_int_eq(disarm(it.id), 1);
	ck_assert_int_eq(disarm(it.id), 1);
	let_it_end();
	check_runs(1);
	check_gone(it.id);
	/* One that has armed itself again. */
	memset(&it, 0, sizeof(it));
	ck_assert_int_eq(
		timerthread_schedule(tt, 0, arm_hold_and_write, &ran, &it.id),
		0);
	wait_for(&ran);
	ck_assert_int_eq(arm(it.id, 0), 0);
	ck_assert_int_eq(disarm(it.id), 1);
	check_not_pending(it.id);
	let_it_end();
	check_runs(1);
	check_gone(it.id);
	check_counts(0, 0);
	end();
}
END_TEST

static void disarm_and_arm_itself(void *arg)
{
	it.result[0] = disarm(it.id);
	it.result[1] = it.runs++ < 2 ? arm(it.id, 0) : 0;
	if (it.runs == 3)
		sem_post(arg);
}

/* Its callback disarms it and then arms it: the last word counts. */
START_TEST(one_that_runs_once_can_be_armed_after_it_was_disarmed)
{
	start();
	memset(&it, 0, sizeof(it));
	ck_assert_int_eq(timerthread_schedule(tt, 0, disarm_and_arm_itself,
					      &ran, &it.id),
			 0);
	wait_for(&ran);
	ck_assert_int_eq(it.result[0], 1);
	ck_assert_int_eq(it.result[1], 0);
	check_runs(3);
	check_gone(it.id);
	end();
}
END_TEST

START_TEST(one_that_repeats_stays_if_disarmed_meanwhile)
{
	start();
	memset(&it, 0, sizeof(it));
	it.id = every(0, HOUR, hold_and_count, &ran);
	wait_for(&ran);
	ck_assert_int_gt(deadline_of(it.id), 0);
	ck_assert_int_eq(disarm(it.id), 1);
	check_not_pending(it.id);
	let_it_end();
	check_unarmed(it.id);
	check_counts(0, 1);
	run_it();
	/* Disarmed, and armed after that, while it runs. */
	ck_assert_int_eq(disarm(it.id), 1);
	ck_assert_int_eq(arm(it.id, 0), 0);
	sem_post(&go);
	wait_for(&ran);
	let_it_end();
	check_runs(3);
	ck_assert_int_gt(deadline_of(it.id), now());
	ck_assert_int_le(deadline_of(it.id), now() + HOUR);
	ck_assert_int_eq(cancel(it.id), 0);
	check_gone(it.id);
	end();
}
END_TEST

/*
 * Against the driver, and against another thread.
 */
static int rounds(void)
{
	return is_slow() ? 1000 : 5000;
}

static void count_only(void *arg)
{
	(void)arg;
	it.runs++;
}

/* It has run, or it was disarmed; the number of runs is there to be read. */
START_TEST(race_with_the_driver)
{
	int n = 0;

	start();
	add_it(count_only);
	for (int i = 0; i < rounds(); i++) {
		int r;

		ck_assert_int_eq(arm(it.id, now() + i % 100 * 100), 0);
		for (int k = i % 7; k > 0; k--)
			sched_yield();
		r = disarm_wait(it.id);
		n += r != 0;
		if (it.runs != n)
			ck_abort_msg("round %d: %d, %d runs, not %d", i, r,
				     it.runs, n);
	}
	check_unarmed(it.id);
	check_runs(n);
	end();
}
END_TEST

/* Likewise, where the caller does not wait but asks until it is over. */
START_TEST(what_a_callback_wrote_is_visible)
{
	start();
	add_it(hold_and_write);
	for (int i = 1; i <= 200; i++) {
		run_it();
		sem_post(&go);
		while (disarm(it.id) == 1)
			sched_yield();
		ck_assert_int_eq(written, i);
		check_unarmed(it.id);
	}
	end();
}
END_TEST

static atom32 ran_now, taken, enough;

static void count_run(void *arg)
{
	(void)arg;
	atom32_add(&ran_now, 1);
}

static void *disarm_often(void *arg)
{
	void *wrong = NULL;

	while (!atom32_load(&enough)) {
		int r = disarm(it.id);

		if (r == 0)
			atom32_add(&taken, 1);
		else if (r != 1 && r != -ENOENT)
			wrong = arg;
		sched_yield();
	}
	return wrong;
}

/* Each time it is armed it runs, or it was disarmed once: never both. */
START_TEST(race_with_another_thread)
{
	pthread_t t;
	void *wrong;

	start();
	add_it(count_run);
	t = start_thread(disarm_often, &it);
	for (int i = 1; i <= rounds(); i++) {
		ck_assert_int_eq(arm(it.id, i % 2 ? 0 : now() + 1000), 0);
		while (atom32_load(&ran_now) + atom32_load(&taken) <
		       (uint32_t)i)
			sched_yield();
		ck_assert_int_ne(disarm_wait(it.id), 0);
		ck_assert_uint_eq(atom32_load(&ran_now) + atom32_load(&taken),
				  i);
	}
	atom32_store(&enough, 1);
	pthread_join(t, &wrong);
	ck_assert_ptr_null(wrong);
	check_unarmed(it.id);
	end();
}
END_TEST

enum { IN_COMMON = 8, ARMERS = 3 };

static timerthread_id shared[IN_COMMON];
static atom32 shared_runs;

static void count_shared(void *arg)
{
	(void)arg;
	atom32_add(&shared_runs, 1);
}

/* Each arms and disarms what all have. */
static void *arm_and_disarm(void *arg)
{
	uint64_t rng = test_seed() + (uintptr_t)arg;
	void *wrong = NULL;

	for (int i = 0; i < rounds(); i++) {
		timerthread_id id = shared[random_below(&rng, IN_COMMON)];
		int64_t delay = (int64_t)random_below(&rng, 200000);
		int r;

		if (random_below(&rng, 2))
			r = timerthread_reschedule_after(tt, id, delay);
		else
			r = i % 2 ? disarm(id) : disarm_wait(id);
		if (r != 0 && r != 1 && r != -ENOENT)
			wrong = arg;
		if (i % 64 == 0)
			sched_yield();
	}
	return wrong;
}

/* Whatever they did, each is still one timer, which can be armed and runs. */
START_TEST(threads_share_timers)
{
	uint32_t before;

	start();
	for (int i = 0; i < IN_COMMON; i++)
		shared[i] = prepare(count_shared, NULL);
	run_threads(arm_and_disarm, ARMERS);
	for (int i = 0; i < IN_COMMON; i++) {
		disarm_wait(shared[i]);
		check_unarmed(shared[i]);
	}
	check_counts(0, IN_COMMON);
	before = atom32_load(&shared_runs);
	for (int i = 0; i < IN_COMMON; i++)
		ck_assert_int_eq(arm(shared[i], i), 0);
	while (atom32_load(&shared_runs) < before + IN_COMMON)
		sched_yield();
	settle();
	ck_assert_uint_eq(atom32_load(&shared_runs), before + IN_COMMON);
	check_counts(0, IN_COMMON);
	ck_assert_int_eq(cancel_all(), IN_COMMON);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		what_was_disarmed_does_not_run,
		what_was_disarmed_in_time_does_not_run,
		what_was_disarmed_when_due_does_not_run,
		disarmed_and_armed_again,
		disarmed_and_armed_again_in_time,
		disarmed_while_it_runs,
		disarmed_in_its_callback,
		disarm_wait_in_its_callback_changes_nothing,
		disarmed_in_another_callback,
		disarm_wait_waits,
		disarm_wait_waits_for_one_that_repeats,
		disarm_wait_waits_for_one_that_runs_once,
		armed_while_a_thread_waits,
		one_that_runs_once_can_be_disarmed,
		one_that_runs_once_runs_once_after_it,
		one_that_repeats_goes_on_with_its_period,
		one_that_runs_once_ends_if_disarmed_meanwhile,
		one_that_runs_once_can_be_armed_after_it_was_disarmed,
		one_that_repeats_stays_if_disarmed_meanwhile,
		race_with_the_driver,
		what_a_callback_wrote_is_visible,
		race_with_another_thread,
		threads_share_timers,
	};

	return RUN_TESTS("disarm", tests);
}
