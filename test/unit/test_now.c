/* SPDX-License-Identifier: MIT */
/*
 * The time that an instance tells, on each clock, and what a program can make
 * of it.
 */
#include "config.h"

#include "on_clock.h"
#include "os/clock.h"
#include "shifted.h"

#include <time.h>

static void check_now(clockid_t clock)
{
	int64_t before = clock_now(clock), now = timerthread_now(tt);

	ck_assert_int_le(before, now);
	ck_assert_int_le(now, clock_now(clock));
}

/* Of the shifted one too, so that none can be taken for another. */
START_TEST(now_is_of_the_clock)
{
	setup();
	check_now(CLOCK_MONOTONIC);
	timerthread_destroy(tt);
	step(CLOCK_BOOTTIME, 1000);
	for (int i = 0; i < CLOCKS; i++) {
		setup();
		ck_assert_int_eq(timerthread_set_clock(tt, clocks[i]), 0);
		check_now(clocks[i]);
		ck_assert_int_eq(timerthread_start(tt, NULL), 0);
		check_now(clocks[i]);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		check_now(clocks[i]);
		timerthread_destroy(tt);
	}
}
END_TEST

/* Another thread chooses the clock meanwhile: it is one or the other. */
static const clockid_t two_clocks[] = {CLOCK_BOOTTIME, CLOCK_MONOTONIC};
static atom32 chosen;

static void *choose_in_thread(void *arg)
{
	for (int i = 0; i < 2000; i++) {
		if (timerthread_set_clock(tt, two_clocks[i % 2]) != 0)
			return arg;
	}
	atom32_store(&chosen, 1);
	return NULL;
}

static void *look_in_thread(void *arg)
{
	while (!atom32_load(&chosen)) {
		int64_t low = clock_now(CLOCK_MONOTONIC);
		int64_t now = timerthread_now(tt);

		/* The clocks are 1000 hours and more apart. */
		if (now < low || (now > clock_now(CLOCK_MONOTONIC) &&
				  now < low + 1000 * HOUR))
			return arg;
	}
	return NULL;
}

static void *choose_or_look(void *arg)
{
	return arg == (void *)1 ? choose_in_thread(arg) : look_in_thread(arg);
}

START_TEST(now_while_another_thread_sets_the_clock)
{
	step(CLOCK_BOOTTIME, 1000);
	setup();
	run_threads(choose_or_look, 3);
	check_now(CLOCK_MONOTONIC);
	timerthread_destroy(tt);
}
END_TEST

/* NULL is no instance of another clock. */
START_TEST(now_without_an_instance)
{
	struct timerthread *one = NULL;

	step(CLOCK_BOOTTIME, 1000);
	begin(CLOCK_BOOTTIME);
	ck_assert_int_lt(timerthread_now(one), timerthread_now(tt));
	timerthread_destroy(tt);
	tt = NULL;
	check_now(CLOCK_MONOTONIC);
}
END_TEST

static void check_timespec(int64_t s, int64_t ns, int64_t expected)
{
	ck_assert_int_eq(timerthread_from_timespec(s, ns), expected);
}

/* Of all times in the range, it has the most zeros at its end. */
static void check_round(int64_t deadline, int64_t slack)
{
	int64_t last = clock_add(deadline, slack), best = deadline;
	int64_t r = timerthread_round(deadline, slack);

	for (int i = 0; i < 63; i++) {
		int64_t step = (int64_t)(UINT64_C(1) << i);
		int64_t t = last - (last % step + step) % step;

		if (t >= deadline && t < TIMERTHREAD_NEVER)
			best = t;
	}
	ck_assert_int_eq(r, deadline <= 0 && last >= 0 ? 0 : best);
}

START_TEST(rounded)
{
	uint64_t rng = test_seed();

	ck_assert_int_eq(timerthread_round(5, 0), 5);
	ck_assert_int_eq(timerthread_round(5, -1), 5);
	ck_assert_int_eq(timerthread_round(5, 2), 6);
	ck_assert_int_eq(timerthread_round(5, 3), 8);
	ck_assert_int_eq(timerthread_round(-5, 3), -4);
	ck_assert_int_eq(timerthread_round(-5, 10), 0);
	ck_assert_int_eq(timerthread_round(INT64_MIN, 10), INT64_MIN);
	ck_assert_int_eq(timerthread_round(INT64_MAX, 10), INT64_MAX);
	ck_assert_int_eq(timerthread_round(INT64_MAX - 1, 10), INT64_MAX - 1);
	ck_assert_int_eq(timerthread_round(1, INT64_MAX), INT64_C(1) << 62);
	for (int i = 0; i < 100000; i++)
		check_round((int64_t)next_random(&rng) >>
				    (1 + random_below(&rng, 61)),
			    (int64_t)(next_random(&rng) >>
				      (1 + random_below(&rng, 62))));
	/* Two whose ranges meet often get the same. */
	ck_assert_int_eq(timerthread_round(1000000, 100000),
			 timerthread_round(1040000, 100000));
}
END_TEST

START_TEST(timespecs)
{
	/* The last second that is whole, and what is left of the next. */
	const int64_t last = INT64_MAX / S, rest = INT64_MAX % S;
	static const int64_t in[][3] = {
		{0, 0, 0},
		{0, 1, 1},
		{0, -1, -1},
		{1, 0, S},
		{1, 999999999, 2 * S - 1},
		{1, -1, S - 1},
		{1, S, 2 * S},
		{1, -S, 0},
		{1, -S - 1, -1},
		{-1, 0, -S},
		{-1, 1, -S + 1},
		{-1, 999999999, -1},
		{-1, S + 1, 1},
		{-2, -5, -2 * S - 5},
		{0, INT64_MAX, INT64_MAX},
		{0, INT64_MIN, INT64_MIN},
		{-1, INT64_MAX, INT64_MAX - S},
		{1, INT64_MIN, INT64_MIN + S},
		{1, INT64_MAX, INT64_MAX},
		{-1, INT64_MIN, INT64_MIN},
		{INT64_MAX, 0, INT64_MAX},
		{INT64_MIN, 0, INT64_MIN},
		{INT64_MAX, INT64_MAX, INT64_MAX},
		{INT64_MIN, INT64_MIN, INT64_MIN},
		{INT64_MAX, INT64_MIN, INT64_MAX},
		{INT64_MIN, INT64_MAX, INT64_MIN},
		{INT64_MAX, -1, INT64_MAX},
		{INT64_MIN, 1, INT64_MIN},
		{9223372037, -999999999, INT64_C(9223372036000000001)},
		{-9223372037, 999999999, INT64_C(-9223372036000000001)},
		{9223372037, 0, INT64_MAX},
		{-9223372037, 0, INT64_MIN},
		{9223372037, -145224193, INT64_MAX},
		{9223372037, -145224194, INT64_MAX - 1},
		{-9223372037, 145224192, INT64_MIN},
		{-9223372037, 145224193, INT64_MIN + 1},
		{18446744073, INT64_MIN, INT64_C(9223372036145224192)},
		{-18446744073, INT64_MAX, INT64_C(-9223372036145224193)},
	};

	for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++)
		check_timespec(in[i][0], in[i][1], in[i][2]);
	for (int64_t i = -3; i <= 3; i++) {
		check_timespec(last, rest + i,
			       i > 0 ? INT64_MAX : INT64_MAX + i);
		check_timespec(-last, -rest + i,
			       i < -1 ? INT64_MIN : -INT64_MAX + i);
	}
}
END_TEST

#ifdef __SIZEOF_INT128__
START_TEST(random_timespecs)
{
	uint64_t rng = test_seed();

	for (int i = 0; i < 1000000; i++) {
		int64_t s =
			(int64_t)next_random(&rng) >> random_below(&rng, 64);
		int64_t ns =
			(int64_t)next_random(&rng) >> random_below(&rng, 64);
		__extension__ __int128 sum;

		/* Around where it begins to be too much. */
		if (i % 4 == 0)
			s = (s & 1 ? 1 : -1) * (INT64_MAX / S) + s % 4;
		/* Where the two are nearly the same, with the sign changed. */
		if (i % 16 == 1)
			s = -(ns / S) + s % 3;
		sum = s;
		sum = sum * S + ns;
		if (sum > INT64_MAX)
			sum = INT64_MAX;
		if (sum < INT64_MIN)
			sum = INT64_MIN;
		check_timespec(s, ns, (int64_t)sum);
	}
}
END_TEST
#endif

int main(void)
{
	const TTest *const tests[] = {
		now_is_of_the_clock,
		now_while_another_thread_sets_the_clock,
		now_without_an_instance,
		rounded,
		timespecs,
#ifdef __SIZEOF_INT128__
		random_timespecs,
#endif
	};

	return RUN_TESTS("now", tests);
}
