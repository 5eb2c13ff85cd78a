/* SPDX-License-Identifier: MIT */
/*
 * Deadlines after a time span, where they need not be exact.
 *
 * Which clock was read is seen by what it shows: the CPU's time of the process
 * stands here for the one that is cheap.
 */
#include "config.h"

#include "api/instance.h"
#include "os/coarse.h"

#include "fixture.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

static int64_t tick_of(clockid_t clock)
{
	struct timespec t;

	ck_assert_int_eq(clock_getres(clock, &t), 0);
	return clock_from_timespec(t.tv_sec, t.tv_nsec);
}

static int64_t behind(clockid_t clock, int64_t error)
{
	struct coarse c;

	coarse_init(&c, clock, error);
	ck_assert_int_eq(coarse_is_there(&c), c.behind > 0);
	return c.behind;
}

static void check_bounds(clockid_t clock, clockid_t coarse)
{
	int64_t tick = tick_of(coarse), least = 5 * (tick / 2);

	ck_assert_int_eq(behind(clock, 0), 0);
	ck_assert_int_eq(behind(clock, least - 1), 0);
	ck_assert_int_eq(behind(clock, least), least);
	ck_assert_int_eq(behind(clock, 3 * tick), 3 * tick);
	ck_assert_int_eq(behind(clock, 8 * tick + 1), 8 * tick);
	ck_assert_int_eq(behind(clock, INT64_MAX), 8 * tick);
}

START_TEST(as_much_behind_as_is_permitted)
{
	check_bounds(CLOCK_MONOTONIC, CLOCK_MONOTONIC_COARSE);
	check_bounds(CLOCK_REALTIME, CLOCK_REALTIME_COARSE);
	ck_assert_int_eq(behind(CLOCK_BOOTTIME, INT64_MAX), 0);
}
END_TEST

static struct coarse coarse_of(clockid_t clock, int64_t slack, bool is_virtual)
{
	struct coarse c;

	setup();
	ck_assert_int_eq(timerthread_set_clock(tt, clock), 0);
	ck_assert_int_eq(timerthread_set_slack(tt, slack), 0);
	ck_assert_int_eq(is_virtual ? timerthread_start_virtual(tt, 0)
				    : timerthread_start(tt, NULL),
			 0);
	c = tt->engine.watch.coarse;
	timerthread_destroy(tt);
	return c;
}

START_TEST(the_slack_permits_it)
{
	struct coarse c;

	c = coarse_of(CLOCK_MONOTONIC, S, false);
	ck_assert(coarse_is_there(&c));
	ck_assert_int_eq(c.clock, CLOCK_MONOTONIC_COARSE);
	c = coarse_of(CLOCK_REALTIME, S, false);
	ck_assert(coarse_is_there(&c));
	ck_assert_int_eq(c.clock, CLOCK_REALTIME_COARSE);
	c = coarse_of(CLOCK_BOOTTIME, S, false);
	ck_assert(!coarse_is_there(&c));
	c = coarse_of(CLOCK_MONOTONIC, 0, false);
	ck_assert(!coarse_is_there(&c));
	c = coarse_of(CLOCK_MONOTONIC, S, true);
	ck_assert(!coarse_is_there(&c));
}
END_TEST

static void ignore(void *arg)
{
	(void)arg;
}

/* What schedule_after, or reschedule_after, makes of it; nothing runs. */
static int64_t deadline_after(int64_t delay, bool again)
{
	timerthread_id id;
	int64_t deadline;
	int r;

	r = timerthread_schedule_after(tt, again ? 1000 * S : delay, ignore,
				       NULL, &id);
	ck_assert_int_eq(r, 0);
	if (again)
		ck_assert_int_eq(timerthread_reschedule_after(tt, id, delay),
				 0);
	ck_assert_int_eq(timerthread_get_deadline(tt, id, &deadline), 0);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	return deadline;
}

/* It is delay and more after what the clock shows. */
static void check_after(clockid_t clock, int64_t delay, int64_t more)
{
	for (int again = 0; again < 2; again++) {
		int64_t before = clock_now(clock);
		int64_t deadline = deadline_after(delay, again);
		int64_t after = clock_now(clock);

		ck_assert_int_ge(deadline, clock_add(before, delay) + more);
		ck_assert_int_le(deadline, clock_add(after, delay) + more);
	}
}

START_TEST(deadlines_come_of_it)
{
	int fd;

	setup();
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	check_after(CLOCK_MONOTONIC, 500 * S, 0);

	tt->engine.watch.coarse =
		(struct coarse){CLOCK_PROCESS_CPUTIME_ID, 7000 * S};
	check_after(CLOCK_PROCESS_CPUTIME_ID, 500 * S, 7000 * S);
	ck_assert_int_eq(deadline_after(INT64_MAX, false), TIMERTHREAD_NEVER);
	ck_assert_int_eq(deadline_after(INT64_MAX, true), TIMERTHREAD_NEVER);
	timerthread_destroy(tt);
}
END_TEST

/* "As soon as possible" is not a moment later. */
START_TEST(no_time_span_is_exact)
{
	int fd;

	setup();
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	tt->engine.watch.coarse =
		(struct coarse){CLOCK_PROCESS_CPUTIME_ID, 7000 * S};
	check_after(CLOCK_MONOTONIC, 0, 0);
	check_after(CLOCK_MONOTONIC, -S, 0);
	timerthread_destroy(tt);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		as_much_behind_as_is_permitted,
		the_slack_permits_it,
		deadlines_come_of_it,
		no_time_span_is_exact,
	};

	return RUN_TESTS("coarse", tests);
}
