/* SPDX-License-Identifier: MIT */
/*
 * What becomes of timers when the wall clock is stepped, or when the machine
 * comes back from being suspended.
 *
 * What the kernel does then, it must do itself: that it ends the thread's sleep
 * when the clock is set passes a deadline, or moves its end when the clock is
 * set back, is not shown.  A wake-up by hand stands for it here.
 */
#include "config.h"

#include "bare.h"
#include "on_clock.h"
#include "os/clock.h"
#include "owing.h"
#include "shifted.h"

#include <sched.h>
#include <time.h>

static int runs;

/*
 * Steps, with the engine turned by hand.
 */
static void engine_begin(clockid_t clock)
{
	step(CLOCK_MONOTONIC, 0);
	bare_begin(1, clock);
	runs = 0;
}

static void count(void *arg)
{
	(void)arg;
	runs++;
}

/* Also CLOCK_BOOTTIME, when the machine was suspended. */
static void step_forward(clockid_t clock)
{
	int64_t now;

	engine_begin(clock);
	now = clock_now(clock);
	bare_schedule(0, now + HOUR, count, NULL);
	bare_schedule(0, now + 2 * HOUR, count, NULL);
	bare_schedule(0, now + 4 * HOUR, never, NULL);
	ck_assert_int_eq(bare_turn(), now + HOUR);
	ck_assert_int_eq(runs, 0);
	step(clock, 3);
	ck_assert_int_eq(bare_turn(), now + 4 * HOUR);
	ck_assert_int_eq(runs, 2);
	bare_end();
}

START_TEST(realtime_stepped_forward)
{
	step_forward(CLOCK_REALTIME);
}
END_TEST

START_TEST(boottime_stepped_forward)
{
	if (HAS_BOOTTIME)
		step_forward(CLOCK_BOOTTIME);
}
END_TEST

/* What was due, or all but, has to wait again. */
START_TEST(realtime_stepped_back)
{
	int64_t now;

	engine_begin(CLOCK_REALTIME);
	step(CLOCK_REALTIME, 5);
	now = clock_now(CLOCK_REALTIME);
	/* So that the engine has seen that time. */
	bare_schedule(0, now, count, NULL);
	bare_schedule(0, now + HOUR, count, NULL);
	ck_assert_int_eq(bare_turn(), now + HOUR);
	ck_assert_int_eq(runs, 1);
	bare_schedule(0, now - HOUR, count, NULL);
	bare_schedule(0, now, count, NULL);
	step(CLOCK_REALTIME, 0);
	ck_assert_int_eq(bare_turn(), now - HOUR);
	ck_assert_int_eq(runs, 1);
	step(CLOCK_REALTIME, 4);
	ck_assert_int_eq(bare_turn(), now);
	ck_assert_int_eq(runs, 2);
	step(CLOCK_REALTIME, 3);
	ck_assert_int_eq(bare_turn(), now);
	step(CLOCK_REALTIME, 7);
	ck_assert_int_eq(bare_turn(), INT64_MAX);
	ck_assert_int_eq(runs, 4);
	bare_end();
}
END_TEST

static void count_and_step_back(void *arg)
{
	count(arg);
	step(CLOCK_REALTIME, 0);
}

/* Between two callbacks that both were due. */
START_TEST(realtime_stepped_back_by_a_callback)
{
	int64_t now;

	engine_begin(CLOCK_REALTIME);
	step(CLOCK_REALTIME, 5);
	now = clock_now(CLOCK_REALTIME);
	bare_schedule(0, now - HOUR, count_and_step_back, NULL);
	bare_schedule(0, now - HOUR + 1, count, NULL);
	ck_assert_int_eq(bare_turn(), now - HOUR + 1);
	ck_assert_int_eq(runs, 1);
	bare_end();
}
END_TEST

/* What an executor was given last. */
static timerthread_fn *given;
static void *given_arg;

static int keep(void *ctx, timerthread_fn *run, void *arg)
{
	(void)ctx;
	given = run;
	given_arg = arg;
	return 0;
}

/* Between its submission and its run; and it may be rescheduled then. */
START_TEST(realtime_stepped_back_before_an_executor_runs_it)
{
	for (int moved = 0; moved < 2; moved++) {
		timerthread_id id;
		int64_t now, deadline;
		int fd;

		step(CLOCK_REALTIME, 5);
		ck_assert_int_eq(timerthread_create(&tt), 0);
		ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_REALTIME), 0);
		ck_assert_int_eq(timerthread_set_executor(tt, keep, NULL), 0);
		ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
		now = timerthread_now(tt);
		ck_assert_int_eq(
			timerthread_schedule(tt, now, count, NULL, &id), 0);
		ck_assert_int_eq(timerthread_dispatch(tt), 1);
		step(CLOCK_REALTIME, 2);
		if (moved)
			ck_assert_int_eq(
				timerthread_reschedule(tt, id, now - HOUR), 0);
		given(given_arg);
		ck_assert_int_eq(runs, moved);
		ck_assert_int_eq(timerthread_get_deadline(tt, id, &deadline),
				 0);
		ck_assert_int_eq(deadline, moved ? now - HOUR : now);
		step(CLOCK_REALTIME, 6);
		ck_assert_int_eq(timerthread_dispatch(tt), 1);
		given(given_arg);
		ck_assert_int_eq(runs, moved + 1);
		timerthread_destroy(tt);
	}
	step(CLOCK_MONOTONIC, 0);
}
END_TEST

/* It neither catches up on what was stepped over nor loses its step. */
START_TEST(realtime_periodic)
{
	int64_t now;

	engine_begin(CLOCK_REALTIME);
	now = clock_now(CLOCK_REALTIME);
	bare_add(0, &(struct timer){now + HOUR, HOUR, count, NULL, 0});
	ck_assert_int_eq(bare_turn(), now + HOUR);
	step(CLOCK_REALTIME, 10);
	ck_assert_int_eq(bare_turn(), now + 11 * HOUR);
	ck_assert_int_eq(runs, 1);
	step(CLOCK_REALTIME, 0);
	ck_assert_int_eq(bare_turn(), now + 11 * HOUR);
	ck_assert_int_eq(runs, 1);
	bare_end();
}
END_TEST

/* Cancelled timers are still found, though the time for that was later. */
START_TEST(realtime_stepped_back_reclaims)
{
	uint64_t id[100];

	engine_begin(CLOCK_REALTIME);
	step(CLOCK_REALTIME, 5);
	bare_schedule(0, 0, count, NULL);
	bare_turn();
	step(CLOCK_REALTIME, 0);
	for (int i = 0; i < 100; i++) {
		const struct timer t = {INT64_MAX - 1, 0, never, NULL, 0};

		ck_assert_int_eq(bucket_schedule(&engine.intake->bucket[0],
						 &engine.wakeup, &t, &id[i]),
				 0);
	}
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(
			slot_cancel(intake_slot(engine.intake, id[i]), id[i]),
			0);
	owe_round(&engine);
	bare_schedule(0, 0, count, NULL);
	bare_turn();
	ck_assert_uint_eq(engine.pending.heap.n, 0);
	ck_assert_uint_eq(bucket_size(&engine.intake->bucket[0]), 0);
	bare_end();
}
END_TEST

/*
 * Steps, with a timer thread.  The kernel's part is done by hand: its own
 * clock is not stepped.
 */
static void wake_until(sem_t *done)
{
	while (sem_trywait(done) != 0) {
		wakeup_kick(&tt->engine.wakeup);
		sched_yield();
	}
}

static void thread_stepped_forward(clockid_t clock)
{
	int64_t now;

	begin(clock);
	now = timerthread_now(tt);
	schedule(now + HOUR, post, &ran);
	schedule(now + 2 * HOUR, post, &ran);
	schedule(now + 6 * HOUR, never, NULL);
	wait_until_asleep(now + HOUR);
	step(clock, 3);
	wake_until(&ran);
	wait_for(&ran);
	/* What is due at once has its turn after what has become due. */
	schedule(now + 4 * HOUR, post, &ran);
	wait_until_asleep(now + 4 * HOUR);
	step(clock, 5);
	schedule(0, post, &ran);
	wake_until(&ran);
	wait_for(&ran);
	timerthread_destroy(tt);
}

START_TEST(thread_realtime_stepped_forward)
{
	thread_stepped_forward(CLOCK_REALTIME);
}
END_TEST

START_TEST(thread_boottime_stepped_forward)
{
	if (HAS_BOOTTIME)
		thread_stepped_forward(CLOCK_BOOTTIME);
}
END_TEST

/*
 * Here the kernel ends the sleep too early, by the clock that was set: nothing
 * runs by that.
 */
START_TEST(thread_realtime_stepped_back)
{
	int64_t deadline;
	timerthread_id id;

	begin(CLOCK_REALTIME);
	deadline = timerthread_now(tt) + 20 * MS;
	schedule(0, hold, &ran);
	wait_for(&ran);
	id = schedule(deadline, never, NULL);
	step(CLOCK_REALTIME, -2);
	sem_post(&go);
	while (clock_now(CLOCK_REALTIME) + 2 * HOUR < deadline + 10 * MS)
		sched_yield();
	schedule(0, post, &ran);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	schedule(deadline, post, &ran);
	step(CLOCK_REALTIME, 0);
	wake_until(&ran);
	timerthread_destroy(tt);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		realtime_stepped_forward,
		boottime_stepped_forward,
		realtime_stepped_back,
		realtime_stepped_back_by_a_callback,
		realtime_stepped_back_before_an_executor_runs_it,
		realtime_periodic,
		realtime_stepped_back_reclaims,
		thread_realtime_stepped_forward,
		thread_boottime_stepped_forward,
		thread_realtime_stepped_back,
	};

	return RUN_TESTS("stepped", tests);
}
