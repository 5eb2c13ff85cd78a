/* SPDX-License-Identifier: MIT */
/*
 * The spin before a deadline: by hand, on a clock that stands still until the
 * test sets it; then instances.
 */
#include "config.h"

#include "bare.h"
#include "engine/turn.h"

#include "fixture.h"

#include <errno.h>

#define US INT64_C(1000)

enum { START = 1000000, SPIN = 100000 };

static void begin(void)
{
	engine_init(&engine, NULL);
	engine.watch = WATCH_VIRTUAL(START);
	engine.wakeup.spin = SPIN;
	ck_assert_int_eq(engine_open(&engine, 2, 0, false), 0);
	intake_set_open(engine.intake, true);
	use_all(engine.intake);
}

static void *spinner(void *arg)
{
	(void)arg;
	ck_assert(spin_until_due(&engine));
	return NULL;
}

static bool is_spinning(void)
{
	bool is;

	lock_acquire(&engine.wakeup.lock);
	is = engine.wakeup.spinning;
	lock_release(&engine.wakeup.lock);
	return is;
}

/* A thread that spins. */
static pthread_t start_spin(void)
{
	pthread_t t;

	ck_assert_int_eq(pthread_create(&t, NULL, spinner, NULL), 0);
	while (!is_spinning())
		sched_yield();
	return t;
}

static void end_awake(pthread_t t)
{
	pthread_join(t, NULL);
	ck_assert(!is_spinning());
	ck_assert_int_eq(wakeup_next(&engine.wakeup), INT64_MIN);
}

static void ignore(void *arg)
{
	(void)arg;
}

static uint64_t schedule_at(int64_t deadline)
{
	return bare_schedule(0, deadline, ignore, NULL);
}

static void reschedule_to(uint64_t id, int64_t deadline)
{
	ck_assert_int_eq(bucket_reschedule(&engine.intake->bucket[0],
					   &engine.wakeup,
					   intake_slot(engine.intake, id), id,
					   deadline, false),
			 0);
}

START_TEST(ends_when_the_deadline_has_come)
{
	pthread_t t;

	begin();
	schedule_at(START + SPIN - 1);
	t = start_spin();
	ck_assert_int_eq(wakeup_next(&engine.wakeup), START + SPIN - 1);
	watch_set(&engine.watch, START + SPIN - 2);
	ck_assert(is_spinning());
	watch_set(&engine.watch, START + SPIN - 1);
	end_awake(t);
	/* Nobody has seen a timer run. */
	ck_assert_uint_eq(atom32_load(&engine.inside.version), 0);
	bare_turn();
	ck_assert_int_eq(engine.ran, 1);
	bare_end();
}
END_TEST

/* And nobody has to be woken for it. */
START_TEST(ends_when_an_earlier_one_comes)
{
	pthread_t t;

	begin();
	schedule_at(START + 1000);
	t = start_spin();
	ck_assert(!wakeup_announce(&engine.wakeup, 1, START + 1001));
	ck_assert(is_spinning());
	ck_assert(!wakeup_announce(&engine.wakeup, 1, START + 999));
	end_awake(t);
	bare_end();
}
END_TEST

START_TEST(ends_when_it_is_to_stop)
{
	pthread_t t;

	begin();
	schedule_at(START + 1000);
	t = start_spin();
	wakeup_stop(&engine.wakeup);
	end_awake(t);
	/* Nor does it begin. */
	spin_until_due(&engine);
	bare_end();
}
END_TEST

/* By so much that the deadline is no longer near. */
START_TEST(ends_when_the_clock_is_set_back)
{
	pthread_t t;

	begin();
	schedule_at(START + 1000);
	t = start_spin();
	watch_set(&engine.watch, START + 1000 - SPIN);
	ck_assert(is_spinning());
	watch_set(&engine.watch, START + 1000 - SPIN - 1);
	end_awake(t);
	bare_end();
}
END_TEST

/* What was taken out of its bucket then is not forgotten. */
START_TEST(finds_what_is_later)
{
	const int64_t later = START + 5 * SPIN;

	begin();
	bare_turn();
	for (int i = 0; i < 300; i++)
		bare_cancel(schedule_at(START + 1000));
	schedule_at(later);
	ck_assert(!spin_until_due(&engine));
	ck_assert(wakeup_nearest(&engine.wakeup) <= later ||
		  engine.next <= later);
	ck_assert_int_eq(bare_turn(), later);
	bare_end();
}
END_TEST

/* A turn that has more to do is not held up. */
START_TEST(not_within_a_turn)
{
	begin();
	schedule_at(START + 1000);
	engine.next = INT64_MIN;
	ck_assert(!spin_until_due(&engine));
	ck_assert_int_eq(engine.next, INT64_MIN);
	bare_end();
}
END_TEST

/* Each would spin for ever. */
START_TEST(not_for_what_does_not_run_soon)
{
	uint64_t id;

	begin();
	ck_assert(!spin_until_due(&engine));
	schedule_at(START + SPIN);
	ck_assert(!spin_until_due(&engine));
	schedule_at(START + TIMERTHREAD_SEC);
	ck_assert(!spin_until_due(&engine));
	/* Cancelled: in its bucket, and when it was taken out of that. */
	for (int i = 0; i < 10; i++)
		bare_cancel(schedule_at(START + 1000 + i));
	ck_assert(!spin_until_due(&engine));
	id = schedule_at(START + 1000);
	engine_next(&engine, START + 1000);
	bare_cancel(id);
	ck_assert(!spin_until_due(&engine));
	/* Moved to a later time. */
	id = schedule_at(START + 1000);
	reschedule_to(id, START + TIMERTHREAD_SEC);
	ck_assert(!spin_until_due(&engine));
	/* What is due already is for a turn. */
	schedule_at(START);
	ck_assert(!spin_until_due(&engine));
	bare_turn();
	ck_assert_int_eq(engine.ran, 1);
	bare_end();
}
END_TEST

/* It is awake so much before a deadline, and does not sleep any more then. */
START_TEST(sleeps_until_the_spin_begins)
{
	begin();
	ck_assert(!wakeup_sleep(&engine.wakeup, START + SPIN, START));
	ck_assert(!wakeup_sleep(&engine.wakeup, START + 1, START));
	wakeup_begin_sleep(&engine.wakeup, START + SPIN + 1000);
	ck_assert_int_eq(engine.wakeup.sleep, START + 1000);
	ck_assert(!wakeup_announce(&engine.wakeup, 0, START + SPIN + 1000));
	ck_assert(wakeup_announce(&engine.wakeup, 0, START + SPIN + 999));
	bare_end();
}
END_TEST

START_TEST(set_spin)
{
	ck_assert_int_eq(timerthread_set_spin(NULL, 0), -EINVAL);
	setup();
	ck_assert_int_eq(timerthread_set_spin(tt, -1), -EINVAL);
	ck_assert_int_eq(timerthread_set_spin(tt, 200 * US + 1), -EINVAL);
	ck_assert_int_eq(timerthread_set_spin(tt, 0), 0);
	ck_assert_int_eq(timerthread_set_spin(tt, 200 * US), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	ck_assert_int_eq(tt->engine.wakeup.spin, 200 * US);
	ck_assert_int_eq(timerthread_set_spin(tt, 0), -EBUSY);
	timerthread_destroy(tt);
}
END_TEST

static int64_t spin_with(int64_t slack,
			 int start_it(struct timerthread *tt, int *ret_fd))
{
	int64_t spin;
	int fd;

	setup();
	ck_assert_int_eq(timerthread_set_spin(tt, 100 * US), 0);
	ck_assert_int_eq(timerthread_set_slack(tt, slack), 0);
	ck_assert_int_eq(start_it(tt, &fd), 0);
	spin = tt->engine.wakeup.spin;
	timerthread_destroy(tt);
	return spin;
}

static int start_on_thread(struct timerthread *on, int *ret_fd)
{
	(void)ret_fd;
	return timerthread_start(on, NULL);
}

static int start_on_virtual_clock(struct timerthread *on, int *ret_fd)
{
	(void)ret_fd;
	return timerthread_start_virtual(on, 0);
}

START_TEST(the_slack_is_taken_off)
{
	ck_assert_int_eq(spin_with(0, start_on_thread), 100 * US);
	ck_assert_int_eq(spin_with(40 * US, start_on_thread), 60 * US);
	ck_assert_int_eq(spin_with(100 * US, start_on_thread), 0);
	ck_assert_int_eq(spin_with(200 * US, start_on_thread), 0);
	ck_assert_int_eq(spin_with(0, timerthread_start_polled), 0);
	ck_assert_int_eq(spin_with(0, start_on_virtual_clock), 0);
}
END_TEST

static int64_t least_late = INT64_MAX;

static void look(void *arg)
{
	int64_t late = timerthread_now(tt) - *(int64_t *)arg;

	if (late < least_late)
		least_late = late;
	sem_post(&ran);
}

START_TEST(nothing_is_early)
{
	static const clockid_t clock[] = {CLOCK_MONOTONIC, CLOCK_REALTIME,
					  CLOCK_BOOTTIME};

	for (int i = 0; i < 3; i++) {
		int64_t deadline[40], now;

		setup();
		timerthread_set_clock(tt, clock[i]);
		timerthread_set_spin(tt, 200 * US);
		ck_assert_int_eq(timerthread_start(tt, NULL), 0);
		now = timerthread_now(tt);
		for (int k = 0; k < 40; k++) {
			deadline[k] = now + (k + 1) * 150 * US;
			timerthread_schedule(tt, deadline[k], look,
					     &deadline[k], NULL);
		}
		for (int k = 0; k < 40; k++)
			wait_for(&ran);
		timerthread_destroy(tt);
		ck_assert_int_ge(least_late, 0);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		ends_when_the_deadline_has_come,
		ends_when_an_earlier_one_comes,
		ends_when_it_is_to_stop,
		ends_when_the_clock_is_set_back,
		finds_what_is_later,
		not_within_a_turn,
		not_for_what_does_not_run_soon,
		sleeps_until_the_spin_begins,
		set_spin,
		the_slack_is_taken_off,
		nothing_is_early,
	};

	return RUN_TESTS("spin", tests);
}
