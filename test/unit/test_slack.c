/* SPDX-License-Identifier: MIT */
/*
 * Slack: the wake-up by hand first, then instances.
 */
#include "config.h"

#include "os/clock.h"

#include "fixture.h"
#include "whole_waits.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>

#define MS   INT64_C(1000000)
#define S    INT64_C(1000000000)
#define HOUR (3600 * S)

/* INT64_MIN: it is awake, or was called: then a thread is about to be. */
static int64_t asleep_until(struct wakeup *w)
{
	int64_t t;

	lock_acquire(&w->lock);
	t = w->kicked && !w->sleeper.polled ? INT64_MIN : w->sleep;
	lock_release(&w->lock);
	return t;
}

static const int64_t slack = 200 * MS;
static struct watch watch;
static struct wakeup wakeup;
static int64_t sleep_until;

/* Awake, with two buckets. */
static void begin_wakeup(int64_t ns)
{
	wakeup_close(&wakeup);
	watch = (struct watch){.clock = CLOCK_MONOTONIC};
	wakeup_init(&wakeup, &watch);
	wakeup.slack = ns;
	ck_assert(wakeup_open(&wakeup, 2));
}

static void *sleeper(void *arg)
{
	(void)arg;
	wakeup_sleep(&wakeup, sleep_until, clock_now(CLOCK_MONOTONIC));
	return NULL;
}

/* A thread that sleeps until then and the slack. */
static pthread_t start_sleep(int64_t until)
{
	pthread_t t;

	sleep_until = until;
	ck_assert_int_eq(pthread_create(&t, NULL, sleeper, NULL), 0);
	while (asleep_until(&wakeup) == INT64_MIN)
		sched_yield();
	return t;
}

static pthread_t start_sleeper(int64_t until, int64_t ns)
{
	begin_wakeup(ns);
	return start_sleep(until);
}

static void end_sleeper(pthread_t t)
{
	wakeup_stop(&wakeup);
	pthread_join(t, NULL);
}

START_TEST(sleeps_on_for_the_slack)
{
	int64_t far = clock_now(CLOCK_MONOTONIC) + HOUR;
	pthread_t t = start_sleeper(far, slack);

	ck_assert_int_eq(asleep_until(&wakeup), far + slack);
	/* It wakes in time for these. */
	ck_assert(!wakeup_announce(&wakeup, 0, far + slack + 1));
	ck_assert(!wakeup_announce(&wakeup, 0, far + slack));
	ck_assert(!wakeup_announce(&wakeup, 1, far + 1));
	ck_assert(!wakeup_announce(&wakeup, 0, far));
	ck_assert_int_eq(asleep_until(&wakeup), far + slack);
	/* For this one it would be a nanosecond late. */
	ck_assert(wakeup_announce(&wakeup, 0, far - 1));
	wakeup_kick(&wakeup);
	pthread_join(t, NULL);
	ck_assert_int_eq(wakeup_nearest(&wakeup), far - 1);
}
END_TEST

/*
 * As a thread leaves it that has decided to sleep until then, and was not
 * heard of since.
 */
static void fall_asleep(int64_t until, int64_t ns)
{
	begin_wakeup(ns);
	wakeup.sleep = until;
}

/* True: the driver must be woken, and was. */
static bool announce(uint32_t bucket, int64_t deadline)
{
	bool kick = wakeup_announce(&wakeup, bucket, deadline);

	if (kick)
		wakeup_kick(&wakeup);
	return kick;
}

/* Each one is sent that those before it do not stand for. */
START_TEST(kicks_where_the_slack_does_not_do)
{
	const int64_t next = 1000 * S;

	fall_asleep(next + slack, slack);
	ck_assert(!announce(0, next));
	ck_assert(announce(0, next - 1));
	ck_assert_int_eq(wakeup.sleep, next - 1 + slack);
	ck_assert(!announce(1, next - 1));
	ck_assert(announce(0, next - slack));
	ck_assert_int_eq(wakeup.sleep, next);
	ck_assert(!announce(1, next - slack + 1));
	ck_assert(announce(1, 0));
	ck_assert_int_eq(wakeup.sleep, slack);

	/*
	 * What it slept for may have been cancelled: it wakes in time for
	 * what is due up to the slack before.
	 */
	fall_asleep(next, slack);
	ck_assert(!wakeup_announce(&wakeup, 0, next - slack));
	ck_assert_uint_eq(atom32_load(&wakeup.seq), 0);
	ck_assert(wakeup_announce(&wakeup, 0, next - slack - 1));
	ck_assert_uint_eq(atom32_load(&wakeup.seq), 1);
}
END_TEST

/* What has arrived before the sleep lets it sleep on, too. */
START_TEST(arrivals_have_the_slack)
{
	int64_t far = clock_now(CLOCK_MONOTONIC) + HOUR;
	pthread_t t;

	begin_wakeup(slack);
	wakeup_announce(&wakeup, 0, far + 1);
	wakeup_announce(&wakeup, 1, far);
	t = start_sleep(INT64_MAX);
	ck_assert_int_eq(asleep_until(&wakeup), far + slack);
	end_sleeper(t);
	ck_assert_int_eq(wakeup_nearest(&wakeup), far);

	begin_wakeup(slack);
	wakeup_announce(&wakeup, 0, far + 1);
	t = start_sleep(far);
	ck_assert_int_eq(asleep_until(&wakeup), far + slack);
	end_sleeper(t);
}
END_TEST

/* Else it would sleep for an hour. */
START_TEST(no_sleep_past_the_slack)
{
	int64_t far = clock_now(CLOCK_MONOTONIC) + HOUR;

	begin_wakeup(HOUR);
	wakeup_announce(&wakeup, 0, far);
	ck_assert(!wakeup_sleep(&wakeup, INT64_MAX, far + HOUR));
	ck_assert(!wakeup_sleep(&wakeup, far + 1, far + HOUR));
	ck_assert(!wakeup_sleep(&wakeup, far - 1, far + HOUR - 1));
	ck_assert_int_eq(asleep_until(&wakeup), INT64_MIN);
	ck_assert_int_eq(wakeup_nearest(&wakeup), far);
}
END_TEST

/* Another reason to be awake does not wait for it, and needs no more turns. */
START_TEST(the_slack_is_for_timers_only)
{
	int64_t far = clock_now(CLOCK_MONOTONIC) + HOUR;
	pthread_t t;

	begin_wakeup(2 * HOUR);
	wakeup.by = far + 1;
	t = start_sleep(far);
	ck_assert_int_eq(asleep_until(&wakeup), far + 1);
	ck_assert_int_eq(wakeup_next(&wakeup), far);
	end_sleeper(t);

	begin_wakeup(2 * HOUR);
	wakeup.by = far - 1;
	t = start_sleep(far);
	ck_assert_int_eq(asleep_until(&wakeup), far - 1);
	ck_assert_int_eq(wakeup_next(&wakeup), far - 1);
	end_sleeper(t);

	begin_wakeup(2 * HOUR);
	wakeup.by = far;
	ck_assert(!wakeup_sleep(&wakeup, INT64_MAX, far));
}
END_TEST

START_TEST(sleeps_at_least_until_the_deadline)
{
	int64_t now, then = clock_now(CLOCK_MONOTONIC) + 20 * MS;

	begin_wakeup(5 * MS);
	/* What has passed by now would run at once, whatever is left of it. */
	while ((now = clock_now(CLOCK_MONOTONIC)) < then)
		ck_assert(wakeup_sleep(&wakeup, then, now));
	/* What has passed, and what the slack does not bring to today. */
	ck_assert(!wakeup_sleep(&wakeup, -1, now));
	ck_assert(!wakeup_sleep(&wakeup, INT64_MIN + 1, now));
	ck_assert(!wakeup_sleep(&wakeup, INT64_MIN, now));
	ck_assert_int_eq(asleep_until(&wakeup), INT64_MIN);
}
END_TEST

START_TEST(late_deadlines_saturate)
{
	static const int64_t until[][2] = {
		{INT64_MAX, INT64_MAX},
		{INT64_MAX - 5, INT64_MAX},
		{INT64_MAX - 10, INT64_MAX},
		{INT64_MAX - 11, INT64_MAX - 1},
	};

	for (size_t i = 0; i < 4; i++) {
		pthread_t t = start_sleeper(until[i][0], 10);

		ck_assert_int_eq(asleep_until(&wakeup), until[i][1]);
		end_sleeper(t);
	}
	fall_asleep(INT64_MAX, 10);
	ck_assert(!wakeup_announce(&wakeup, 0, INT64_MAX));
	ck_assert(!wakeup_announce(&wakeup, 0, INT64_MAX - 10));
	ck_assert(wakeup_announce(&wakeup, 0, INT64_MAX - 11));
	ck_assert_int_eq(wakeup.sleep, INT64_MAX - 1);
}
END_TEST

START_TEST(early_deadlines_do_not_wrap)
{
	fall_asleep(INT64_MAX, INT64_MAX);
	ck_assert(!wakeup_announce(&wakeup, 0, 1));
	ck_assert(!wakeup_announce(&wakeup, 0, 0));
	ck_assert(wakeup_announce(&wakeup, 0, -1));
	ck_assert_int_eq(wakeup.sleep, INT64_MAX - 1);
	ck_assert(wakeup_announce(&wakeup, 0, INT64_MIN + 1));
	ck_assert_int_eq(wakeup.sleep, 0);
}
END_TEST

START_TEST(the_earliest_time_kicks_whatever_the_slack)
{
	static const int64_t slacks[] = {0, 1, HOUR, INT64_MAX};

	for (size_t i = 0; i < 4; i++) {
		int64_t far = clock_now(CLOCK_MONOTONIC) + HOUR;
		pthread_t t = start_sleeper(i % 2 ? INT64_MAX : far, slacks[i]);

		ck_assert(wakeup_announce(&wakeup, 0, INT64_MIN));
		wakeup_kick(&wakeup);
		pthread_join(t, NULL);
		ck_assert_int_eq(wakeup_nearest(&wakeup), INT64_MIN);

		fall_asleep(far, slacks[i]);
		ck_assert(announce(0, INT64_MIN));
		ck_assert(!announce(1, INT64_MIN));
	}
}
END_TEST

static void begin(int64_t ns)
{
	setup();
	ck_assert_int_eq(timerthread_set_slack(tt, ns), 0);
	ck_assert_int_eq(driver_start(tt), 0);
}

START_TEST(errors)
{
	ck_assert_int_eq(timerthread_set_slack(NULL, 0), -EINVAL);
	setup();
	ck_assert_int_eq(timerthread_set_slack(tt, -1), -EINVAL);
	ck_assert_int_eq(timerthread_set_slack(tt, INT64_MIN), -EINVAL);
	ck_assert_int_eq(timerthread_set_slack(tt, INT64_MAX), 0);
	ck_assert_int_eq(timerthread_set_slack(tt, 1), 0);
	ck_assert_int_eq(timerthread_set_slack(tt, 0), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	ck_assert_int_eq(timerthread_set_slack(tt, 1), -EBUSY);
	ck_assert_int_eq(timerthread_set_slack(tt, -1), -EINVAL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_set_slack(tt, 1), -EBUSY);
	driver_destroy(tt);
}
END_TEST

/* Nor does a set that failed change anything. */
START_TEST(default_is_none)
{
	int64_t far;

	setup();
	ck_assert_int_eq(timerthread_set_slack(tt, -5), -EINVAL);
	ck_assert_int_eq(driver_start(tt), 0);
	far = timerthread_now(tt) + HOUR;
	ck_assert_int_eq(timerthread_schedule(tt, far, never, NULL, NULL), 0);
	while (asleep_until(&tt->engine.wakeup) != far)
		sched_yield();
	driver_destroy(tt);
}
END_TEST

START_TEST(it_sleeps_on_for_the_slack)
{
	int64_t far;

	begin(50 * MS);
	far = timerthread_now(tt) + HOUR;
	ck_assert_int_eq(timerthread_schedule(tt, far, never, NULL, NULL), 0);
	while (asleep_until(&tt->engine.wakeup) != far + 50 * MS)
		sched_yield();
	driver_destroy(tt);
}
END_TEST

/* Written by the timer thread, read after stop or a semaphore. */
static int early, late, runs;

struct due {
	int64_t deadline;
	int64_t period;
};

static void check_time(void *arg)
{
	struct due *d = arg;
	int64_t now = timerthread_now(tt);

	early += now < d->deadline;
	/* A bound that no busy machine breaks. */
	late += now > d->deadline + 20 * S;
	d->deadline += d->period;
	runs++;
}

START_TEST(never_early)
{
	enum { N = 500 };
	static struct due due[N];
	uint64_t rng = test_seed();
	int64_t now, last = 0;

	begin(5 * MS);
	now = timerthread_now(tt);
	for (int i = 0; i < N; i++) {
		due[i].deadline = now + (int64_t)random_below(&rng, 100 * MS);
		if (due[i].deadline > last)
			last = due[i].deadline;
		ck_assert_int_eq(timerthread_schedule(tt, due[i].deadline,
						      check_time, &due[i],
						      NULL),
				 0);
	}
	ck_assert_int_eq(timerthread_schedule(tt, last + 1, post, &ran, NULL),
			 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(early, 0);
	ck_assert_int_eq(late, 0);
	ck_assert_int_eq(runs, N);
	driver_destroy(tt);
}
END_TEST

static void check_period(void *arg)
{
	check_time(arg);
	if (runs == 10)
		sem_post(&ran);
}

/* Skipped runs only make the deadline that is looked at an earlier one. */
START_TEST(periodic_never_early)
{
	struct due due = {0, 4 * MS};
	timerthread_id id;

	begin(2 * MS);
	due.deadline = timerthread_now(tt) + MS;
	ck_assert_int_eq(timerthread_schedule_every(tt, due.deadline,
						    due.period, check_period,
						    &due, &id),
			 0);
	wait_for(&ran);
	timerthread_cancel_wait(tt, id);
	ck_assert_int_eq(early, 0);
	ck_assert_int_eq(late, 0);
	driver_destroy(tt);
}
END_TEST

enum { TOGETHER = 20 };
static const int64_t step = 5 * MS;
static int64_t first_run;

static void note_first(void *arg)
{
	if (runs++ == 0)
		first_run = timerthread_now(tt);
	if (runs == TOGETHER)
		sem_post(arg);
}

/* Is the thread seen asleep until then, before the time is first? */
static bool sleeps_in_time(int64_t until, int64_t first)
{
	while (asleep_until(&tt->engine.wakeup) != until) {
		if (timerthread_now(tt) >= first)
			return false;
		sched_yield();
	}
	return timerthread_now(tt) < first;
}

/*
 * By the time the first one runs, all the others are due.  True: the thread
 * was asleep in time, so that this says something.
 */
static bool run_together(void)
{
	int64_t first, last;
	uint32_t seq;
	bool in_time;

	runs = 0;
	begin(slack);
	ck_assert_int_eq(timerthread_schedule(tt, 0, hold, &ran, NULL), 0);
	wait_for(&ran);
	first = timerthread_now(tt) + 100 * MS;
	last = first + (TOGETHER - 1) * step;
	for (int i = 0; i < TOGETHER; i++)
		ck_assert_int_eq(timerthread_schedule(tt, last - i * step,
						      note_first, &ran, NULL),
				 0);
	sem_post(&go);
	in_time = sleeps_in_time(first + slack, first);
	seq = atom32_load(&tt->engine.wakeup.seq);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(runs, TOGETHER);
	ck_assert_int_ge(first_run, first);
	if (in_time) {
		ck_assert_int_ge(first_run, last);
		/* Nobody woke it; stop did. */
		ck_assert_uint_eq(atom32_load(&tt->engine.wakeup.seq), seq + 1);
	}
	driver_destroy(tt);
	return in_time;
}

START_TEST(one_wake_up_runs_all_within_the_slack)
{
	for (int i = 0; i < 5; i++) {
		if (run_together())
			return;
	}
	puts("one_wake_up: this machine is too busy, nothing was tested");
}
END_TEST

/* The thread sleeps for an hour, and for an hour more. */
START_TEST(earlier_ones_wake_it)
{
	int64_t far;

	begin(HOUR);
	far = timerthread_now(tt) + HOUR;
	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(
			timerthread_schedule(tt, far - i, never, NULL, NULL),
			0);
		/* What has passed is more than the slack before that. */
		ck_assert_int_eq(timerthread_schedule(tt,
						      i % 2 ? INT64_MIN
							    : -HOUR * (i + 1),
						      post, &ran, NULL),
				 0);
		wait_for(&ran);
	}
	driver_destroy(tt);
}
END_TEST

static timerthread_id self;

static void plan_for_the_past(void *arg)
{
	(void)arg;
	ck_assert_int_eq(timerthread_schedule(tt, INT64_MIN, post, &ran, NULL),
			 0);
}

static void arm_for_the_past(void *arg)
{
	if (++runs < 10)
		ck_assert_int_eq(timerthread_reschedule(tt, self, -HOUR), 0);
	else
		sem_post(arg);
}

/* It is awake, and what is late already does not wait for the slack, too. */
START_TEST(late_ones_while_it_is_awake)
{
	begin(HOUR);
	ck_assert_int_eq(timerthread_schedule(tt, INT64_MIN, plan_for_the_past,
					      NULL, NULL),
			 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_schedule(tt, INT64_MIN, hold, &ran, NULL),
			 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_schedule(tt, INT64_MIN, arm_for_the_past,
					      &ran, &self),
			 0);
	sem_post(&go);
	wait_for(&ran);
	driver_destroy(tt);
}
END_TEST

START_TEST(stop_is_not_held_up)
{
	begin(INT64_MAX);
	ck_assert_int_eq(
		timerthread_schedule_after(tt, HOUR, never, NULL, NULL), 0);
	while (asleep_until(&tt->engine.wakeup) != INT64_MAX)
		sched_yield();
	ck_assert_int_eq(timerthread_stop(tt), 0);
	driver_destroy(tt);
}
END_TEST

/*
 * The rest of a timer thread.
 */
#define REST 20000

/* Once it is asleep: when its rest is over; INT64_MIN: it does not rest. */
static int64_t rest_end(void)
{
	struct wakeup *w = &tt->engine.wakeup;
	int64_t end = INT64_MIN;
	bool asleep = false;

	while (!asleep) {
		sched_yield();
		lock_acquire(&w->lock);
		asleep = !w->kicked && w->sleep != INT64_MIN;
		if (asleep)
			end = w->rest_until;
		lock_release(&w->lock);
	}
	return end;
}

/* Three run before it sleeps, two of them together. */
static int64_t rest_after_three(int64_t slack_ns, int64_t spin_ns)
{
	int64_t before, end;

	setup();
	ck_assert_int_eq(timerthread_set_slack(tt, slack_ns), 0);
	ck_assert_int_eq(timerthread_set_spin(tt, spin_ns), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	timerthread_schedule(tt, 0, hold, &ran, NULL);
	wait_for(&ran);
	timerthread_schedule(tt, 0, post, &ran, NULL);
	timerthread_schedule(tt, 0, post, &ran, NULL);
	before = timerthread_now(tt);
	sem_post(&go);
	end = rest_end();
	if (end != INT64_MIN) {
		ck_assert_int_ge(end, before + REST - slack_ns);
		ck_assert_int_le(end, timerthread_now(tt) + REST - slack_ns);
	}
	wait_for(&ran);
	wait_for(&ran);
	timerthread_destroy(tt);
	return end;
}

/* It may have slept twice before it was seen: the first time it rested. */
static void check_rests(int64_t slack_ns)
{
	for (int i = 0; i < 20;)
		i += rest_after_three(slack_ns, 0) != INT64_MIN;
}

/* The slack is a part of the rest. */
START_TEST(the_thread_rests)
{
	check_rests(0);
	check_rests(REST / 2);
	check_rests(REST - 1);
	ck_assert_int_eq(rest_after_three(REST, 0), INT64_MIN);
	ck_assert_int_eq(rest_after_three(HOUR, 0), INT64_MIN);
	ck_assert_int_eq(rest_after_three(0, 1), INT64_MIN);
}
END_TEST

/* Each of these has a wake-up of its own. */
START_TEST(no_rest_after_a_single_one)
{
	setup();
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	for (int i = 0; i < 5; i++) {
		timerthread_schedule(tt, 0, post, &ran, NULL);
		wait_for(&ran);
		ck_assert_int_eq(rest_end(), INT64_MIN);
	}
	timerthread_destroy(tt);
}
END_TEST

int main(void)
{
	const TTest *const wakeup_by_hand[] = {
		sleeps_on_for_the_slack,
		kicks_where_the_slack_does_not_do,
		arrivals_have_the_slack,
		no_sleep_past_the_slack,
		the_slack_is_for_timers_only,
		sleeps_at_least_until_the_deadline,
		late_deadlines_saturate,
		early_deadlines_do_not_wrap,
		the_earliest_time_kicks_whatever_the_slack,
		the_thread_rests,
		no_rest_after_a_single_one,
	};
	const TTest *const any[] = {
		errors,
		never_early,
		periodic_never_early,
	};
	/* A descriptor makes use of all the slack, also of what is due now. */
	const TTest *const prompt[] = {
		earlier_ones_wake_it,
		late_ones_while_it_is_awake,
	};
	/* A virtual clock knows no slack. */
	const TTest *const asleep[] = {
		default_is_none,
		it_sleeps_on_for_the_slack,
		one_wake_up_runs_all_within_the_slack,
		stop_is_not_held_up,
	};
	TCase *tcase = tcase_create("slack");

	ADD_TESTS(tcase, any);
	if (driver_tested() != ON_POLLED)
		ADD_TESTS(tcase, prompt);
	if (driver_tested() != ON_VIRTUAL)
		ADD_TESTS(tcase, asleep);
	if (driver_tested() == ON_THREAD)
		ADD_TESTS(tcase, wakeup_by_hand);
	return run_case("slack", tcase);
}
