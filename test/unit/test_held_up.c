/* SPDX-License-Identifier: MIT */
/*
 * A thread that has announced the earliest timer is held up before it wakes the
 * driver, for as long as the test likes.  Nobody else's timer waits for that.
 */
#include "config.h"

#include "intake/schedule.h"
#include "sleeper_calls.h"
#include "tasks.h"

/* This thread stays in its next call that wakes the driver. */
static _Thread_local bool to_be_held;
static sem_t is_held, let_go;

static void stay(void)
{
	if (!to_be_held)
		return;
	to_be_held = false;
	sem_post(&is_held);
	wait_for(&let_go);
}

static void before_call(void)
{
	stay();
}

static void after_call(int64_t t)
{
	(void)t;
}

static struct bucket *bucket_number(uint32_t i)
{
	struct bucket *b = &tt->engine.intake->bucket[i];

	ck_assert(intake_use(tt->engine.intake, b));
	return b;
}

/* A timer in this bucket, whatever CPU this thread runs on. */
static uint64_t add(struct bucket *b, int64_t deadline)
{
	uint64_t id;

	ck_assert_int_eq(
		bucket_schedule(b, &tt->engine.wakeup,
				&(struct timer){deadline, 0, post, &ran, 0},
				&id),
		0);
	return id;
}

static struct held {
	pthread_t thread;
	struct bucket *bucket;
	int64_t deadline;
	bool missed; /* the driver was awake: it needs no call */
} held;

static void *add_and_stay(void *arg)
{
	to_be_held = true;
	add(held.bucket, held.deadline);
	if (to_be_held) {
		held.missed = true;
		sem_post(&is_held);
	}
	return arg;
}

/* The driver sleeps longer.  False: it was awake, and nobody is held up. */
static bool hold_up(struct bucket *b, int64_t deadline)
{
	held.bucket = b;
	held.deadline = deadline;
	held.missed = false;
	ck_assert_int_eq(pthread_create(&held.thread, NULL, add_and_stay, NULL),
			 0);
	wait_for(&is_held);
	if (held.missed)
		ck_assert_int_eq(pthread_join(held.thread, NULL), 0);
	return !held.missed;
}

static void release(void)
{
	sem_post(&let_go);
	ck_assert_int_eq(pthread_join(held.thread, NULL), 0);
}

/* How the other thread's timer comes to be due after the one that is held. */
enum { SCHEDULED, BY_A_CALL, MOVED_EARLIER, WAYS };

/* False: nobody was held up. */
static bool check_other(enum drivers on, clockid_t clock, int way,
			uint32_t bucket)
{
	uint64_t id = 0;
	bool holds;
	int64_t t;

	setup();
	/* A program's call has the bucket of its CPU. */
	ck_assert_int_eq(timerthread_set_buckets(tt, way == BY_A_CALL ? 1 : 2),
			 0);
	ck_assert_int_eq(timerthread_set_clock(tt, clock), 0);
	ck_assert_int_eq(driver_start_on(tt, on, 0), 0);
	if (way == MOVED_EARLIER)
		id = add(bucket_number(bucket), timerthread_now(tt) + HOUR);
	wait_for_sleep();
	/* A call takes the short way if its deadline cannot have passed. */
	t = timerthread_now(tt) + (way == BY_A_CALL ? 4 * NEAR_NS : MS);
	holds = hold_up(bucket_number(0), t);
	if (way == MOVED_EARLIER)
		ck_assert_int_eq(timerthread_reschedule(tt, id, t + 1), 0);
	else if (way == BY_A_CALL)
		ck_assert_int_eq(
			timerthread_schedule(tt, t + 1, post, &ran, NULL), 0);
	else
		add(bucket_number(bucket), t + 1);
	/* Both run. */
	wait_for(&ran);
	wait_for(&ran);
	if (holds)
		release();
	end();
	return holds;
}

/* A driver that was not asleep yet needs no call: once more. */
enum { TIMES = 5 };

static void check_others(enum drivers on, clockid_t clock)
{
	int held_up[WAYS] = {0};

	for (int i = 0; i < TIMES; i++) {
		for (int way = SCHEDULED; way < WAYS; way++) {
			held_up[way] += check_other(on, clock, way, 0);
			if (way != BY_A_CALL)
				held_up[way] += check_other(on, clock, way, 1);
		}
	}
	for (int way = SCHEDULED; way < WAYS; way++)
		ck_assert_int_gt(held_up[way], 0);
}

START_TEST(on_the_timer_thread)
{
	check_others(ON_THREAD, CLOCK_MONOTONIC);
}
END_TEST

START_TEST(on_the_timer_thread_with_another_clock)
{
	check_others(ON_THREAD, CLOCK_BOOTTIME);
}
END_TEST

START_TEST(in_a_loop)
{
	check_others(ON_POLLED, CLOCK_MONOTONIC);
}
END_TEST

/* One that helps is held up in its turn. */
START_TEST(who_helps_may_be_held_up_too)
{
	pthread_t first;
	int64_t t;

	setup();
	ck_assert_int_eq(timerthread_set_buckets(tt, 2), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	wait_for_sleep();
	t = timerthread_now(tt) + MS;
	ck_assert(hold_up(bucket_number(0), t));
	first = held.thread;
	ck_assert(hold_up(bucket_number(1), t + 1));
	add(bucket_number(1), t + 2);
	for (int i = 0; i < 3; i++)
		wait_for(&ran);
	sem_post(&let_go);
	release();
	ck_assert_int_eq(pthread_join(first, NULL), 0);
	end();
}
END_TEST

static void nothing(void *arg)
{
	(void)arg;
}

/* Its next deadline is filed by the thread that has run it. */
static void check_periodic(void)
{
	int64_t first, period = 5 * MS;
	uint64_t id;

	begin_with(keep);
	start_driver(OWN_THREAD);
	first = timerthread_now(tt);
	id = every(first, period, nothing, NULL);
	wait_for(&came);
	wait_for_sleep();
	ck_assert(hold_up(
		intake_bucket(tt->engine.intake,
			      intake_slot(tt->engine.intake, id)->index),
		first + period - 1));
	call_task(called++);
	/* Both are handed over. */
	wait_for(&came);
	wait_for(&came);
	release();
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	call_tasks();
	sem_destroy(&came);
	end();
}

START_TEST(what_an_executor_files)
{
	for (int i = 0; i < TIMES; i++)
		check_periodic();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		on_the_timer_thread,
		on_the_timer_thread_with_another_clock,
		in_a_loop,
		who_helps_may_be_held_up_too,
		what_an_executor_files,
	};

	sem_init(&is_held, 0, 0);
	sem_init(&let_go, 0, 0);
	return RUN_TESTS("held_up", tests);
}
