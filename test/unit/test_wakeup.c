/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "intake/wakeup.h"
#include "os/clock.h"

#include <pthread.h>
#include <sched.h>

static struct wakeup wakeup;
static int64_t sleep_until;

static int64_t asleep_until(void)
{
	int64_t t;

	lock_acquire(&wakeup.lock);
	t = wakeup.asked < wakeup.sleep ? wakeup.asked : wakeup.sleep;
	lock_release(&wakeup.lock);
	return t;
}

static void *sleeper(void *arg)
{
	(void)arg;
	wakeup_sleep(&wakeup, sleep_until);
	return NULL;
}

/* Starts a thread that sleeps until then, and waits until it does. */
static pthread_t start_sleep(int64_t until)
{
	pthread_t t;

	sleep_until = until;
	ck_assert_int_eq(pthread_create(&t, NULL, sleeper, NULL), 0);
	while (asleep_until() == INT64_MIN)
		sched_yield();
	return t;
}

static pthread_t start_sleeper(int64_t until)
{
	wakeup_init(&wakeup);
	return start_sleep(until);
}

START_TEST(keeps_the_earliest)
{
	struct bucket_set listed;
	uint32_t b;

	wakeup_init(&wakeup);
	ck_assert_int_eq(wakeup_arrivals(&wakeup), INT64_MAX);
	ck_assert(!wakeup_announce(&wakeup, 3, 50));
	ck_assert(!wakeup_announce(&wakeup, 700, 60));
	ck_assert(!wakeup_announce(&wakeup, 3, 40));
	ck_assert_int_eq(wakeup_arrivals(&wakeup), 40);
	wakeup_collect(&wakeup, &listed);
	ck_assert_int_eq(wakeup_arrivals(&wakeup), INT64_MAX);
	ck_assert(bucket_set_take(&listed, &b) && b == 3);
	ck_assert(bucket_set_take(&listed, &b) && b == 700);
	ck_assert(!bucket_set_take(&listed, &b));
	wakeup_collect(&wakeup, &listed);
	ck_assert(bucket_set_empty(&listed));
}
END_TEST

START_TEST(no_sleep_past_an_arrival)
{
	wakeup_init(&wakeup);
	wakeup_announce(&wakeup, 0, 40);
	wakeup_sleep(&wakeup, 41);
	wakeup_sleep(&wakeup, INT64_MAX);
	ck_assert_int_eq(asleep_until(), INT64_MIN);
}
END_TEST

START_TEST(sleeps_until_the_deadline)
{
	int64_t then = clock_now(CLOCK_MONOTONIC) + 2000000;

	wakeup_init(&wakeup);
	while (clock_now(CLOCK_MONOTONIC) < then)
		wakeup_sleep(&wakeup, then);
	wakeup_sleep(&wakeup, -1);
	wakeup_sleep(&wakeup, INT64_MIN + 1);
	ck_assert_int_ge(clock_now(CLOCK_MONOTONIC), then);
}
END_TEST

START_TEST(what_is_earlier_wakes)
{
	int64_t far = clock_now(CLOCK_MONOTONIC) + INT64_C(3600000000000);
	pthread_t t = start_sleeper(far);

	ck_assert(!wakeup_announce(&wakeup, 0, far + 1));
	ck_assert(!wakeup_announce(&wakeup, 0, far));
	ck_assert_int_eq(asleep_until(), far);
	/*
	 * The first shall wake the thread.  Until it does, what is later may
	 * rely on it, what is earlier must not: that thread may not run.
	 */
	ck_assert(wakeup_announce(&wakeup, 0, far - 10));
	ck_assert(!wakeup_announce(&wakeup, 0, far - 10));
	ck_assert(!wakeup_announce(&wakeup, 0, far - 5));
	wakeup_kick(&wakeup);
	pthread_join(t, NULL);
	ck_assert_int_eq(wakeup_arrivals(&wakeup), far - 10);
}
END_TEST

/* But it does not call the thread, before that time has come. */
START_TEST(what_asks_shortens_the_sleep)
{
	int64_t far = clock_now(CLOCK_MONOTONIC) + INT64_C(3600000000000);
	pthread_t t = start_sleeper(far);

	for (int i = 1; i <= 1000; i++) {
		wakeup_ask(&wakeup, far - i);
		ck_assert_int_eq(asleep_until(), far - i);
		if (i % 100 == 0)
			sched_yield();
	}
	/* Who asks may be preempted before it kicks: nobody relies on it. */
	ck_assert(!wakeup_announce(&wakeup, 0, far));
	ck_assert(wakeup_announce(&wakeup, 0, far - 1));
	ck_assert(!wakeup_announce(&wakeup, 0, far - 1));
	wakeup_kick(&wakeup);
	pthread_join(t, NULL);

	t = start_sleeper(far);
	wakeup_ask(&wakeup, INT64_MIN);
	pthread_join(t, NULL);
	ck_assert_int_eq(wakeup_arrivals(&wakeup), INT64_MIN);

	t = start_sleeper(far);
	far = clock_now(CLOCK_MONOTONIC) + 1000000;
	wakeup_ask(&wakeup, far);
	pthread_join(t, NULL);
	ck_assert_int_ge(clock_now(CLOCK_MONOTONIC), far);
	ck_assert_int_eq(wakeup_arrivals(&wakeup), far);
}
END_TEST

/* Has a sleeper be woken for an earlier deadline. */
static void sleep_and_be_called(int64_t until)
{
	struct bucket_set listed;
	pthread_t t = start_sleep(until);

	ck_assert(wakeup_announce(&wakeup, 0, until / 4));
	wakeup_kick(&wakeup);
	pthread_join(t, NULL);
	wakeup_collect(&wakeup, &listed);
}

/* Those in a row end the next sleep's being as long as it might. */
START_TEST(after_a_row_of_wakeups_half_a_sleep)
{
	const int64_t hour = INT64_C(3600000000000);
	int64_t before, far;
	pthread_t t;

	wakeup_init(&wakeup);
	for (unsigned i = 0; i < WAKEUP_ROW; i++) {
		ck_assert_uint_eq(wakeup.woken, i);
		far = clock_now(CLOCK_MONOTONIC) + 10 * hour;
		sleep_and_be_called(far);
	}
	before = clock_now(CLOCK_MONOTONIC);
	far = before + 2 * hour;
	t = start_sleep(far);
	ck_assert_int_ge(asleep_until(), before + hour - 1);
	ck_assert_int_le(asleep_until(), clock_now(CLOCK_MONOTONIC) + hour);
	ck_assert(!wakeup_announce(&wakeup, 0, far - 1));
	ck_assert(!wakeup_announce(&wakeup, 0, far - hour / 2));
	ck_assert(wakeup_announce(&wakeup, 0, before + hour / 2));
	wakeup_kick(&wakeup);
	pthread_join(t, NULL);

	/* One that a deadline ends, ends the row. */
	wakeup_init(&wakeup);
	sleep_and_be_called(clock_now(CLOCK_MONOTONIC) + hour);
	wakeup_sleep(&wakeup, clock_now(CLOCK_MONOTONIC) + 1000);
	ck_assert_uint_eq(wakeup.woken, 0);
}
END_TEST

/* Also a thread that has decided to sleep, and does not yet. */
START_TEST(stop_changes_the_futex)
{
	uint32_t seq;

	wakeup_init(&wakeup);
	seq = atom32_load(&wakeup.seq);
	wakeup_stop(&wakeup);
	ck_assert_uint_ne(atom32_load(&wakeup.seq), seq);
}
END_TEST

START_TEST(stop_wakes)
{
	pthread_t t = start_sleeper(INT64_MAX);

	ck_assert(!wakeup_stopping(&wakeup));
	wakeup_stop(&wakeup);
	pthread_join(t, NULL);
	ck_assert(wakeup_stopping(&wakeup));
	wakeup_sleep(&wakeup, INT64_MAX);
}
END_TEST

/*
 * Hand-overs at full speed: each deadline that is announced must be seen,
 * however the announcement falls into the other side's way to sleep.
 */
enum { HANDOVERS = 100000 };
static atom32 handed, seen;

static void *announcer(void *arg)
{
	(void)arg;
	for (uint32_t i = 1; i <= HANDOVERS; i++) {
		atom32_store_release(&handed, i);
		if (wakeup_announce(&wakeup, 0, HANDOVERS - i))
			wakeup_kick(&wakeup);
		while (atom32_load_acquire(&seen) != i)
			sched_yield();
	}
	return NULL;
}

START_TEST(no_wake_up_is_lost)
{
	struct bucket_set listed;
	pthread_t t;

	wakeup_init(&wakeup);
	ck_assert_int_eq(pthread_create(&t, NULL, announcer, NULL), 0);
	while (atom32_load(&seen) != HANDOVERS) {
		if (wakeup_arrivals(&wakeup) == INT64_MAX) {
			wakeup_sleep(&wakeup, INT64_MAX);
			continue;
		}
		wakeup_collect(&wakeup, &listed);
		atom32_store_release(&seen, atom32_load_acquire(&handed));
	}
	pthread_join(t, NULL);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		keeps_the_earliest,
		no_sleep_past_an_arrival,
		sleeps_until_the_deadline,
		what_is_earlier_wakes,
		what_asks_shortens_the_sleep,
		after_a_row_of_wakeups_half_a_sleep,
		stop_changes_the_futex,
		stop_wakes,
		no_wake_up_is_lost,
	};

	return RUN_TESTS("wakeup", tests);
}
