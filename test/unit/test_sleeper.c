/* SPDX-License-Identifier: MIT */
/*
 * The sleep on each clock, without an instance.
 */
#include "config.h"

#include "clocks.h"
#include "harness.h"
#include "os/clock.h"
#include "os/sleeper.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <time.h>

#define MS   INT64_C(1000000)
#define S    INT64_C(1000000000)
#define HOUR (3600 * S)

static struct sleeper sleeper;
static atom32 word, asleep, awake;

static void *sleep_for_ever(void *arg)
{
	(void)arg;
	atom32_store_release(&asleep, 1);
	/* It may end early for no reason, but not change the word. */
	while (atom32_load_acquire(&word) == 0)
		sleeper_sleep(&sleeper, &word, 0, INT64_MAX);
	atom32_store_release(&awake, 1);
	return NULL;
}

static void open_sleeper(clockid_t clock)
{
	ck_assert_int_eq(sleeper_open(&sleeper, clock, false), 0);
	atom32_store(&word, 0);
	atom32_store(&asleep, 0);
	atom32_store(&awake, 0);
}

static void wake(void)
{
	atom32_store_release(&word, 1);
	sleeper_wake(&sleeper, &word);
}

START_TEST(sleeper_clocks)
{
	ck_assert_ptr_nonnull(clock_name(CLOCK_MONOTONIC));
	ck_assert_ptr_nonnull(clock_name(CLOCK_REALTIME));
	ck_assert_ptr_nonnull(clock_name(CLOCK_BOOTTIME));
	for (int i = 0; i < OTHER_CLOCKS; i++)
		ck_assert_ptr_null(clock_name(other_clocks[i]));
}
END_TEST

START_TEST(a_wake_before_the_sleep_ends_it)
{
	for (int i = 0; i < CLOCKS; i++) {
		open_sleeper(clocks[i]);
		wake();
		sleeper_sleep(&sleeper, &word, 0, INT64_MAX);
		sleeper_sleep(&sleeper, &word, 0, clock_now(clocks[i]) + HOUR);
		sleeper_close(&sleeper, false);
	}
}
END_TEST

/* At all moments around the way to sleep. */
START_TEST(a_wake_ends_the_sleep)
{
	enum { ROUNDS = 200 };

	for (int i = 0; i < CLOCKS * ROUNDS; i++) {
		pthread_t t;

		open_sleeper(clocks[i % CLOCKS]);
		ck_assert_int_eq(pthread_create(&t, NULL, sleep_for_ever, NULL),
				 0);
		while (!atom32_load_acquire(&asleep))
			sched_yield();
		for (volatile int spin = 0; spin < i * 20; spin++)
			;
		ck_assert_uint_eq(atom32_load(&awake), 0);
		wake();
		pthread_join(t, NULL);
		sleeper_close(&sleeper, false);
	}
}
END_TEST

START_TEST(sleeps_time_out)
{
	for (int i = 0; i < CLOCKS; i++) {
		int64_t then = clock_now(clocks[i]) + 3 * MS;

		open_sleeper(clocks[i]);
		while (clock_now(clocks[i]) < then)
			sleeper_sleep(&sleeper, &word, 0, then);
		sleeper_close(&sleeper, false);
	}
}
END_TEST

START_TEST(past_deadlines_do_not_sleep)
{
	static const int64_t past[] = {
		INT64_MIN, INT64_MIN + 1, -S, -1, 0, 1, 999999999, S,
	};

	for (int i = 0; i < CLOCKS; i++) {
		open_sleeper(clocks[i]);
		for (int j = 0; j < 8; j++)
			sleeper_sleep(&sleeper, &word, 0, past[j]);
		sleeper_sleep(&sleeper, &word, 0, clock_now(clocks[i]));
		sleeper_close(&sleeper, false);
	}
}
END_TEST

/* What the sleep before left behind does not keep the next one from it. */
START_TEST(a_sleep_after_a_wake_waits)
{
	for (int i = 0; i < CLOCKS; i++) {
		int64_t then;
		int sleeps = 0;

		open_sleeper(clocks[i]);
		sleeper_wake(&sleeper, &word);
		sleeper_sleep(&sleeper, &word, 0, 1);
		then = clock_now(clocks[i]) + 20 * MS;
		while (clock_now(clocks[i]) < then) {
			sleeper_sleep(&sleeper, &word, 0, then);
			sleeps++;
		}
		/* A stop by a debugger, say, ends it, but not often. */
		ck_assert_int_le(sleeps, 10);
		sleeper_close(&sleeper, false);
	}
}
END_TEST

START_TEST(errno_is_left_alone)
{
	for (int i = 0; i < CLOCKS; i++) {
		errno = E2BIG;
		open_sleeper(clocks[i]);
		sleeper_sleep(&sleeper, &word, 0, 1);
		sleeper_sleep(&sleeper, &word, 1, INT64_MAX);
		sleeper_wake(&sleeper, &word);
		sleeper_close(&sleeper, false);
		ck_assert_int_eq(errno, E2BIG);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		sleeper_clocks,
		a_wake_before_the_sleep_ends_it,
		a_wake_ends_the_sleep,
		sleeps_time_out,
		past_deadlines_do_not_sleep,
		a_sleep_after_a_wake_waits,
		errno_is_left_alone,
	};

	return RUN_TESTS("sleeper", tests);
}
