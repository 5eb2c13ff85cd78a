/* SPDX-License-Identifier: MIT */
/*
 * What timerthread_get_stat tells, on each driver.
 */
#include "config.h"

#include "intake/walk.h"

static int walks, whole_walks;
static void (*before_walk)(void); /* what another thread does then, or NULL */

static bool count_walks(struct intake *in, bool whole,
			bool (*see)(const struct seen_timer *t, void *ctx),
			void *ctx)
{
	walks++;
	whole_walks += whole;
	if (before_walk)
		before_walk();
	return intake_walk(in, whole, see, ctx);
}

#define intake_walk count_walks
#include "view/stats.c"
#undef intake_walk
#undef STAT

#include "timers.h"

#include <pthread.h>

#define STAT(which) stat_of(TIMERTHREAD_STAT_##which)

static void nothing(void *arg)
{
	(void)arg;
}

static void ignore(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	(void)ctx;
}

static const enum timerthread_stat all[] = {
	TIMERTHREAD_STAT_PENDING,    TIMERTHREAD_STAT_RUNNING,
	TIMERTHREAD_STAT_DEAD,       TIMERTHREAD_STAT_UNARMED,
	TIMERTHREAD_STAT_SCHEDULED,  TIMERTHREAD_STAT_CANCELLED,
	TIMERTHREAD_STAT_DRAINED,    TIMERTHREAD_STAT_RECYCLED,
	TIMERTHREAD_STAT_FIRED,      TIMERTHREAD_STAT_RESCHEDULED,
	TIMERTHREAD_STAT_CAPPED,     TIMERTHREAD_STAT_NO_MEMORY,
	TIMERTHREAD_STAT_WAKEUPS,    TIMERTHREAD_STAT_EARLY_WAKEUPS,
	TIMERTHREAD_STAT_SLOTS,      TIMERTHREAD_STAT_BYTES,
	TIMERTHREAD_STAT_RUN_TIME,   TIMERTHREAD_STAT_LONGEST_RUN,
	TIMERTHREAD_STAT_AWAKE_TIME, TIMERTHREAD_STAT_LARGEST_LATENESS,
};

enum { ALL = sizeof(all) / sizeof(all[0]) };

static void check_none(void)
{
	for (int i = 0; i < ALL; i++)
		ck_assert_uint_eq(stat_of(all[i]), 0);
}

/* Every number that is a stat's is in the list above, and no other is one. */
START_TEST(arguments)
{
	uint64_t value = 77;

	ck_assert_int_eq(timerthread_get_stat(NULL, 0, &value), -EINVAL);
	setup();
	ck_assert_int_eq(timerthread_get_stat(tt, 0, NULL), -EINVAL);
	for (int i = -1; i < 1000; i++) {
		bool is_one = false;

		for (int k = 0; k < ALL; k++)
			is_one = is_one || (int)all[k] == i;
		value = 77;
		ck_assert_int_eq(timerthread_get_stat(
					 tt, (enum timerthread_stat)i, &value),
				 is_one ? 0 : -EINVAL);
		ck_assert_uint_eq(value, is_one ? 0 : 77);
	}
	end();
}
END_TEST

START_TEST(in_each_state)
{
	setup();
	check_none();
	ck_assert_int_eq(timerthread_stop(tt), 0);
	check_none();
	end();

	start();
	ck_assert_uint_eq(STAT(SCHEDULED), 0);
	schedule(TIMERTHREAD_NEVER, never, NULL);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_uint_eq(STAT(SCHEDULED), 1);
	ck_assert_uint_eq(STAT(PENDING), 1);
	ck_assert_int_eq(timerthread_cancel_all(tt, ignore, NULL), 1);
	ck_assert_uint_eq(STAT(PENDING), 0);
	ck_assert_uint_eq(STAT(DRAINED), 1);
	end();
}
END_TEST

/* Who waited for a callback may be faster than who counts its return. */
static void wait_for_fired(uint64_t n)
{
	while (STAT(FIRED) < n || STAT(RUNNING) > 0)
		sched_yield();
	ck_assert_uint_eq(STAT(FIRED), n);
}

START_TEST(each_is_counted)
{
	timerthread_id far, id;

	start();
	far = schedule(timerthread_now(tt) + HOUR, never, NULL);
	id = schedule(timerthread_now(tt) + HOUR, never, NULL);
	every(timerthread_now(tt) + HOUR, HOUR, never, NULL);
	ck_assert_uint_eq(STAT(SCHEDULED), 3);
	ck_assert_uint_eq(STAT(PENDING), 3);
	ck_assert_uint_gt(STAT(SLOTS), 3);

	ck_assert_int_eq(timerthread_reschedule(tt, far, TIMERTHREAD_NEVER), 0);
	ck_assert_int_eq(timerthread_reschedule(tt, far, TIMERTHREAD_NEVER), 0);
	ck_assert_int_eq(
		timerthread_reschedule(tt, far, timerthread_now(tt) + HOUR / 2),
		0);
	ck_assert_uint_eq(STAT(RESCHEDULED), 3);
	ck_assert_uint_eq(STAT(PENDING), 3);

	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	ck_assert_int_eq(timerthread_cancel(tt, id), -ENOENT);
	ck_assert_int_eq(timerthread_reschedule(tt, id, 0), -ENOENT);
	ck_assert_uint_eq(STAT(CANCELLED), 1);
	ck_assert_uint_eq(STAT(PENDING), 2);
	ck_assert_uint_eq(STAT(RESCHEDULED), 3);
	ck_assert_uint_eq(STAT(DEAD) + STAT(RECYCLED), 1);

	ck_assert_int_eq(timerthread_cancel_all(tt, ignore, NULL), 2);
	ck_assert_uint_eq(STAT(DRAINED), 2);
	ck_assert_uint_eq(STAT(CANCELLED), 3);
	ck_assert_uint_eq(STAT(PENDING), 0);
	ck_assert_uint_eq(STAT(DEAD) + STAT(RECYCLED), 3);
	ck_assert_uint_eq(STAT(FIRED), 0);
	end();
}
END_TEST

START_TEST(runs_are_counted)
{
	timerthread_id once, periodic;

	start();
	once = hold_thread();
	ck_assert_uint_eq(STAT(RUNNING), 1);
	ck_assert_uint_eq(STAT(PENDING), 0);
	ck_assert_uint_eq(STAT(FIRED), 0);
	/* It is too late for that: it is no timer that was cancelled. */
	ck_assert_int_eq(timerthread_cancel(tt, once), 1);
	sem_post(&go);
	wait_for_fired(1);
	ck_assert_uint_eq(STAT(CANCELLED), 0);

	periodic = every(0, HOUR, hold, &ran);
	wait_for(&ran);
	ck_assert_uint_eq(STAT(RUNNING), 1);
	ck_assert_uint_eq(STAT(PENDING), 0);
	sem_post(&go);
	wait_for_fired(2);
	ck_assert_uint_eq(STAT(PENDING), 1);
	ck_assert_int_eq(timerthread_cancel(tt, periodic), 0);
	ck_assert_uint_eq(STAT(PENDING), 0);
	ck_assert_uint_eq(STAT(CANCELLED), 1);
	ck_assert_uint_eq(STAT(SCHEDULED), 2);
	end();
}
END_TEST

START_TEST(failures_are_counted)
{
	setup();
	ck_assert_int_eq(timerthread_set_max_timers(tt, 2), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	schedule(TIMERTHREAD_NEVER, never, NULL);
	schedule(TIMERTHREAD_NEVER, never, NULL);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, NULL),
				 -EAGAIN);
	ck_assert_uint_eq(STAT(CAPPED), 3);
	ck_assert_uint_eq(STAT(SCHEDULED), 2);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, NULL),
			 -ESHUTDOWN);
	ck_assert_uint_eq(STAT(CAPPED), 3);
	ck_assert_uint_eq(STAT(NO_MEMORY), 0);
	end();
}
END_TEST

/* A timer takes a slot of 64 bytes and an entry of 16. */
START_TEST(memory)
{
	enum { N = 100000 };
	uint64_t one;

	start();
	schedule(TIMERTHREAD_NEVER, never, NULL);
	one = STAT(BYTES);
	ck_assert_uint_gt(one, sizeof(*tt));
	ck_assert_uint_lt(one, 100000);
	for (int i = 0; i < N; i++)
		schedule(TIMERTHREAD_NEVER, never, NULL);
	ck_assert_uint_gt(STAT(BYTES), one + N * 80);
	ck_assert_uint_lt(STAT(BYTES), one + N * 160);
	end();
}
END_TEST

/* A turn with nothing to do changes nothing. */
START_TEST(memory_before_the_first_turn)
{
	for (size_t reserve = 0; reserve <= 10000; reserve += 10000) {
		uint64_t first;

		setup();
		ck_assert_int_eq(timerthread_set_reserve(tt, reserve), 0);
		ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
		first = STAT(BYTES);
		ck_assert_int_eq(timerthread_advance(tt, 1), 0);
		ck_assert_uint_eq(STAT(BYTES), first);
		timerthread_destroy(tt);
	}
}
END_TEST

/* One thread schedules, cancels, and lets some run; another one looks. */
enum { ROUNDS = 20000 };

static atom32 done;
static uint64_t cancels;

static void *work(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		bool runs = i % 16 == 0;
		timerthread_id id = 0;

		must(timerthread_schedule(
			     tt, runs ? timerthread_now(tt) : TIMERTHREAD_NEVER,
			     nothing, NULL, &id) == 0);
		cancels += timerthread_cancel(tt, id) == 0;
	}
	atom32_store_release(&done, 1);
	return arg;
}

/* What is told while others work never gets smaller, nor is it too much. */
START_TEST(while_others_work)
{
	static const enum timerthread_stat grows[] = {
		TIMERTHREAD_STAT_SCHEDULED, TIMERTHREAD_STAT_CANCELLED,
		TIMERTHREAD_STAT_RECYCLED,  TIMERTHREAD_STAT_FIRED,
		TIMERTHREAD_STAT_WAKEUPS,
	};
	enum { N = sizeof(grows) / sizeof(grows[0]) };
	uint64_t last[N] = {0};
	pthread_t t;

	start();
	ck_assert_int_eq(pthread_create(&t, NULL, work, NULL), 0);
	while (!atom32_load_acquire(&done)) {
		for (int i = 0; i < N; i++) {
			uint64_t now = stat_of(grows[i]);

			must(now >= last[i]);
			last[i] = now;
		}
		must(STAT(PENDING) <= ROUNDS);
	}
	pthread_join(t, NULL);
	settle();
	wait_for_fired(ROUNDS - cancels + 2);
	ck_assert_uint_le(last[1], cancels);
	ck_assert_uint_eq(STAT(CANCELLED), cancels);
	ck_assert_uint_eq(STAT(SCHEDULED), ROUNDS + 2);
	ck_assert_uint_eq(STAT(PENDING), 0);
	ck_assert_uint_eq(STAT(RECYCLED) + STAT(DEAD), cancels);
	end();
}
END_TEST

/* Else the survey would wait for who reads all the time. */
START_TEST(timers_are_counted_without_the_lock)
{
	start();
	walks = whole_walks = 0;
	STAT(PENDING);
	ck_assert_int_eq(walks, 1);
	ck_assert_int_eq(whole_walks, 0);
	end();
}
END_TEST

static void schedule_far(void)
{
	for (int i = 0; i < 20; i++)
		schedule(HOUR, never, NULL);
}

/*
 * What was scheduled after the number of those was read is pending all the
 * same: so fewer seem to be cancelled, and recycled, than before.
 */
START_TEST(scheduled_while_it_is_counted)
{
	timerthread_id id;

	start_virtual();
	for (int i = 0; i < 10; i++) {
		id = schedule(MS, never, NULL);
		ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	}
	ck_assert_int_eq(timerthread_advance(tt, 2 * MS), 0);
	ck_assert_uint_eq(STAT(CANCELLED), 10);
	ck_assert_uint_eq(STAT(RECYCLED), 10);
	before_walk = schedule_far;
	ck_assert_uint_eq(STAT(CANCELLED), 10);
	ck_assert_uint_eq(STAT(RECYCLED), 10);
	before_walk = NULL;
	ck_assert_uint_eq(STAT(PENDING), 40);
	ck_assert_uint_eq(STAT(CANCELLED), 10);
	ck_assert_uint_eq(STAT(RECYCLED), 10);
	end();
}
END_TEST

static void run_all(void)
{
	ck_assert_int_eq(timerthread_advance(tt, MS), 5);
}

/* Timers that end meanwhile were not cancelled, now or later. */
START_TEST(ended_while_it_is_counted)
{
	start_virtual();
	for (int i = 0; i < 5; i++)
		schedule(MS, nothing, NULL);
	before_walk = run_all;
	ck_assert_uint_eq(STAT(CANCELLED), 0);
	before_walk = NULL;
	ck_assert_uint_eq(STAT(CANCELLED), 0);
	ck_assert_uint_eq(STAT(FIRED), 5);
	end();
}
END_TEST

static void *schedule_for_now(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		schedule(timerthread_now(tt), nothing, NULL);
	atom32_store_release(&done, 1);
	return arg;
}

/* Where timers end while it is looked at none seems to be cancelled. */
START_TEST(none_is_cancelled)
{
	pthread_t t;

	start();
	ck_assert_int_eq(pthread_create(&t, NULL, schedule_for_now, NULL), 0);
	while (!atom32_load_acquire(&done)) {
		must(STAT(CANCELLED) == 0);
		must(STAT(RECYCLED) == 0);
	}
	pthread_join(t, NULL);
	wait_for_fired(ROUNDS);
	ck_assert_uint_eq(STAT(CANCELLED), 0);
	end();
}
END_TEST

START_TEST(wakeups)
{
	uint64_t before, early;

	start();
	schedule(timerthread_now(tt) + HOUR, never, NULL);
	settle();
	wait_for_sleep();
	before = STAT(WAKEUPS);
	early = STAT(EARLY_WAKEUPS);
	schedule(timerthread_now(tt) + 10 * HOUR, never, NULL);
	ck_assert_uint_eq(STAT(WAKEUPS), before);
	schedule(timerthread_now(tt), post, &ran);
	wait_for(&ran);
	ck_assert_uint_eq(STAT(WAKEUPS), before + 1);
	ck_assert_uint_eq(STAT(EARLY_WAKEUPS), early + 1);

	/* One that ends with the deadline is not early. */
	settle();
	wait_for_sleep();
	before = STAT(WAKEUPS);
	early = STAT(EARLY_WAKEUPS);
	schedule(timerthread_now(tt) + 20 * MS, post, &ran);
	wait_for(&ran);
	ck_assert_uint_gt(STAT(WAKEUPS) - before, STAT(EARLY_WAKEUPS) - early);
	end();
}
END_TEST

int main(void)
{
	const TTest *const any[] = {
		arguments,
		in_each_state,
		each_is_counted,
		runs_are_counted,
		failures_are_counted,
		memory,
		while_others_work,
		timers_are_counted_without_the_lock,
		none_is_cancelled,
		memory_before_the_first_turn,
		scheduled_while_it_is_counted,
		ended_while_it_is_counted,
	};
	const TTest *const with_a_thread[] = {
		wakeups,
	};
	TCase *tcase = tcase_create("stat");

	ADD_TESTS(tcase, any);
	if (driver_tested() & (ON_THREAD | ON_EXECUTOR))
		ADD_TESTS(tcase, with_a_thread);
	return run_case("stat", tcase);
}
