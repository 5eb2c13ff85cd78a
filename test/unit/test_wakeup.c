/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "intake/wakeup.h"
#include "os/clock.h"
#include "sleeper_calls.h"
#include "whole_waits.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#ifdef TT_TIMERFD
#include <sys/timerfd.h>
#endif

enum { BUCKETS = 1024 };

static const int64_t hour = INT64_C(3600000000000);

static struct watch watch;
static struct wakeup wakeup;
static int64_t sleep_until;

static int64_t now(void)
{
	return clock_now(CLOCK_MONOTONIC);
}

static void begin(void)
{
	wakeup_close(&wakeup);
	watch = (struct watch){.clock = CLOCK_MONOTONIC};
	wakeup_init(&wakeup, &watch);
	ck_assert(wakeup_open(&wakeup, BUCKETS));
}

static void end(void)
{
	wakeup_close(&wakeup);
}

static int64_t asleep_until(void)
{
	int64_t t;

	lock_acquire(&wakeup.lock);
	t = wakeup.sleep;
	lock_release(&wakeup.lock);
	return t;
}

static void *sleeper(void *arg)
{
	(void)arg;
	wakeup_sleep(&wakeup, sleep_until, now());
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

static void end_sleep(pthread_t t)
{
	ck_assert(wakeup_announce(&wakeup, 0, 0));
	wakeup_kick(&wakeup);
	pthread_join(t, NULL);
}

static pthread_t start_sleeper(int64_t until)
{
	begin();
	return start_sleep(until);
}

/* These buckets are handed out at this time, and no others. */
static void check_due(int64_t by, uint32_t n, const uint32_t *bucket)
{
	struct bucket_set due = wakeup_collect(&wakeup, by);
	uint32_t b;

	for (uint32_t i = 0; i < n; i++) {
		ck_assert(bucket_set_take(&due, &b));
		ck_assert_uint_eq(b, bucket[i]);
	}
	ck_assert_uint_eq(due.used, 0);
}

static void check_none(int64_t by)
{
	ck_assert_uint_eq(wakeup_collect(&wakeup, by).used, 0);
}

START_TEST(keeps_the_earliest)
{
	begin();
	ck_assert_int_eq(wakeup_nearest(&wakeup), INT64_MAX);
	check_none(INT64_MAX);
	ck_assert(!wakeup_announce(&wakeup, 3, 50));
	ck_assert(!wakeup_announce(&wakeup, 700, 60));
	ck_assert(!wakeup_announce(&wakeup, BUCKETS - 1, 90));
	ck_assert(!wakeup_announce(&wakeup, 3, 40));
	ck_assert_int_eq(wakeup_nearest(&wakeup), 40);
	check_none(39);
	ck_assert_int_eq(wakeup_nearest(&wakeup), 40);
	end();
}
END_TEST

/* Each when its own earliest is due. */
START_TEST(a_deadline_for_each_bucket)
{
	begin();
	wakeup_announce(&wakeup, 3, 40);
	wakeup_announce(&wakeup, 700, 60);
	wakeup_announce(&wakeup, 0, 60);
	wakeup_announce(&wakeup, BUCKETS - 1, 90);
	wakeup_announce(&wakeup, 12, INT64_MAX - 1);
	check_due(40, 1, (uint32_t[]){3});
	ck_assert_int_eq(wakeup_nearest(&wakeup), 60);
	check_none(59);
	/* What was left in the first one is announced anew. */
	wakeup_announce(&wakeup, 3, 70);
	ck_assert_int_eq(wakeup_nearest(&wakeup), 60);
	check_due(69, 2, (uint32_t[]){0, 700});
	ck_assert_int_eq(wakeup_nearest(&wakeup), 70);
	wakeup_announce(&wakeup, 0, 65);
	ck_assert_int_eq(wakeup_nearest(&wakeup), 65);
	check_due(1000, 3, (uint32_t[]){0, 3, BUCKETS - 1});
	check_none(INT64_MAX - 2);
	check_due(INT64_MAX - 1, 1, (uint32_t[]){12});
	ck_assert_int_eq(wakeup_nearest(&wakeup), INT64_MAX);
	/* The latest time of all never comes. */
	wakeup_announce(&wakeup, 5, INT64_MAX);
	check_none(INT64_MAX);
	end();
}
END_TEST

START_TEST(collected_at_random)
{
	enum { STEPS = 20000, MAX = 100 };
	static int64_t model[MAX];
	uint64_t rng = test_seed();

	begin();
	for (int i = 0; i < MAX; i++)
		model[i] = INT64_MAX;
	for (int step = 0; step < STEPS; step++) {
		uint32_t due[MAX], n = 0, b = (uint32_t)random_below(&rng, MAX);
		int64_t t = (int64_t)random_below(&rng, 1000);
		int64_t earliest = INT64_MAX;

		if (t < model[b]) {
			model[b] = t;
			ck_assert(!wakeup_announce(&wakeup, b, t));
		}
		t = (int64_t)random_below(&rng, 1000) / (1 + step % 50);
		for (uint32_t i = 0; i < MAX; i++) {
			if (model[i] <= t) {
				due[n++] = i;
				model[i] = INT64_MAX;
			} else if (model[i] < earliest) {
				earliest = model[i];
			}
		}
		if (n > 0)
			check_due(t, n, due);
		else
			check_none(t);
		ck_assert_int_eq(wakeup_nearest(&wakeup), earliest);
	}
	end();
}
END_TEST

/* A sleep is until the earliest of all, wherever it waits. */
START_TEST(takes_arrivals_in)
{
	int64_t far = now() + hour;
	pthread_t t;

	begin();
	wakeup_announce(&wakeup, 7, far);
	wakeup_announce(&wakeup, 900, far - 5);
	t = start_sleep(INT64_MAX);
	ck_assert_int_eq(asleep_until(), far - 5);
	end_sleep(t);

	t = start_sleeper(far);
	ck_assert_int_eq(asleep_until(), far);
	end_sleep(t);

	begin();
	wakeup_announce(&wakeup, 7, far);
	t = start_sleep(far - 5);
	ck_assert_int_eq(asleep_until(), far - 5);
	end_sleep(t);
	end();
}
END_TEST

/* The driver's own timers wait for its rest, those in the buckets do not. */
START_TEST(an_arrival_ends_the_rest)
{
	int64_t far = now() + 10 * hour;
	pthread_t t;

	begin();
	wakeup.rest_until = far;
	t = start_sleep(far - 2 * hour);
	ck_assert_int_eq(asleep_until(), far);
	/* They are pending all the time, and who asks is told when. */
	ck_assert_int_eq(wakeup_next(&wakeup), far - 2 * hour);
	/* Whether it comes in this sleep or before the next. */
	ck_assert(wakeup_announce(&wakeup, 7, far - hour));
	wakeup_kick(&wakeup);
	pthread_join(t, NULL);
	t = start_sleep(far - 2 * hour);
	ck_assert_int_eq(asleep_until(), far - hour);
	end_sleep(t);
	end();
}
END_TEST

/* Nobody need be woken, but the next sleep is not too long. */
START_TEST(announced_while_awake)
{
	int64_t far = now() + hour;
	uint32_t seq;
	pthread_t t;

	begin();
	t = start_sleep(far);
	end_sleep(t);
	check_due(0, 1, (uint32_t[]){0});
	seq = atom32_load(&wakeup.seq);
	ck_assert(!wakeup_announce(&wakeup, 2, far));
	ck_assert(!wakeup_announce(&wakeup, 2, far - 7));
	ck_assert(!wakeup_announce(&wakeup, 1, far - 3));
	ck_assert_uint_eq(atom32_load(&wakeup.seq), seq);
	t = start_sleep(far);
	ck_assert_int_eq(asleep_until(), far - 7);
	end_sleep(t);
	end();
}
END_TEST

/*
 * Would it sleep, it would be for an hour: the time that it is told is not that
 * of the clock.
 */
START_TEST(what_is_due_costs_no_sleep)
{
	int64_t far = now() + hour;

	begin();
	wakeup.woken = 1;
	wakeup_sleep(&wakeup, far, far);
	wakeup_sleep(&wakeup, far - 1, far);
	wakeup_sleep(&wakeup, INT64_MIN, far);
	wakeup_announce(&wakeup, 9, far);
	wakeup_sleep(&wakeup, INT64_MAX, far);
	wakeup_sleep(&wakeup, far + 1, far);
	wakeup.slack = hour;
	wakeup_sleep(&wakeup, INT64_MAX, far + hour);
	wakeup_sleep(&wakeup, far - hour, far);
	/* However much of its slack there is left: it may run now. */
	wakeup_sleep(&wakeup, far, far);
	wakeup_sleep(&wakeup, far - 1, far);
	wakeup_announce(&wakeup, 9, far - 1);
	wakeup_sleep(&wakeup, INT64_MAX, far);
	/* Nor does it count as one. */
	ck_assert_uint_eq(wakeup.woken, 1);
	ck_assert_int_eq(asleep_until(), INT64_MIN);
	end();
}
END_TEST

START_TEST(sleeps_until_the_deadline)
{
	int64_t then = now() + 2000000;

	begin();
	while (now() < then)
		wakeup_sleep(&wakeup, then, now());
	ck_assert_int_eq(asleep_until(), INT64_MIN);
	/* Also of one that waits in a bucket. */
	then = now() + 2000000;
	wakeup_announce(&wakeup, 1, then);
	while (now() < then)
		wakeup_sleep(&wakeup, INT64_MAX, now());
	wakeup_sleep(&wakeup, -1, now());
	wakeup_sleep(&wakeup, INT64_MIN + 1, now());
	end();
}
END_TEST

START_TEST(what_is_earlier_wakes)
{
	int64_t far = now() + hour;
	pthread_t t = start_sleeper(far);

	ck_assert(!wakeup_announce(&wakeup, 0, far + 1));
	ck_assert(!wakeup_announce(&wakeup, 0, far));
	ck_assert_int_eq(asleep_until(), far);
	ck_assert(wakeup_announce(&wakeup, 0, far - 10));
	wakeup_kick(&wakeup);
	pthread_join(t, NULL);
	ck_assert_int_eq(wakeup_nearest(&wakeup), far - 10);
	ck_assert_int_eq(asleep_until(), INT64_MIN);
	end();
}
END_TEST

/* If something has expired, nobody sleeps, whatever the slack. */
START_TEST(what_is_late_does_not_wait_for_the_slack)
{
	struct watch still;
	int64_t t = now();

	begin();
	wakeup.slack = hour;
	ck_assert_int_eq(wakeup_earliest(&wakeup, t), t);
	wakeup.woken = 1;
	wakeup_announce(&wakeup, 0, t);
	ck_assert(!wakeup_sleep(&wakeup, INT64_MAX, t));
	ck_assert(!wakeup_sleep(&wakeup, t, t));
	ck_assert_uint_eq(wakeup.woken, 1);
	still = WATCH_VIRTUAL(t);
	wakeup.watch = &still;
	ck_assert_int_eq(wakeup_earliest(&wakeup, t), INT64_MIN);
	end();
}
END_TEST

/* Has a sleeper be woken for an earlier deadline. */
static void sleep_and_be_called(int64_t until)
{
	pthread_t t = start_sleep(until);

	ck_assert(wakeup_announce(&wakeup, 0, until / 4));
	wakeup_kick(&wakeup);
	pthread_join(t, NULL);
	ck_assert_uint_ne(wakeup_collect(&wakeup, until).used, 0);
}

/* Those in a row end the next sleep's being as long as it might. */
START_TEST(after_a_row_of_wakeups_half_a_sleep)
{
	int64_t before, far;
	pthread_t t;

	begin();
	for (unsigned i = 0; i < WAKEUP_ROW; i++) {
		ck_assert_uint_eq(wakeup.woken, i);
		far = now() + 10 * hour;
		t = start_sleep(far);
		ck_assert_int_eq(asleep_until(), far);
		end_sleep(t);
		check_due(0, 1, (uint32_t[]){0});
	}
	before = now();
	far = before + 2 * hour;
	/* It is half of what an arrival leaves. */
	wakeup_announce(&wakeup, 3, far);
	t = start_sleep(INT64_MAX);
	ck_assert_int_ge(asleep_until(), before + hour - 1);
	ck_assert_int_le(asleep_until(), now() + hour);
	ck_assert(!wakeup_announce(&wakeup, 0, far - 1));
	ck_assert(!wakeup_announce(&wakeup, 0, far - hour / 2));
	ck_assert(wakeup_announce(&wakeup, 0, before + hour / 2));
	wakeup_kick(&wakeup);
	pthread_join(t, NULL);
	end();
}
END_TEST

START_TEST(a_deadline_ends_the_row)
{
	int64_t far;
	pthread_t t;

	begin();
	for (unsigned i = 0; i < WAKEUP_ROW; i++)
		sleep_and_be_called(now() + hour);
	ck_assert_uint_eq(wakeup.woken, WAKEUP_ROW);
	/* It may pass before there is a sleep. */
	while (!wakeup_sleep(&wakeup, now() + 1000000, now()))
		;
	ck_assert_uint_eq(wakeup.woken, 0);
	far = now() + hour;
	t = start_sleep(far);
	ck_assert_int_eq(asleep_until(), far);
	end_sleep(t);
	end();
}
END_TEST

/*
 * In a loop.
 */

/* What another thread does before the descriptor is set next, and after it. */
static void (*step_before)(void), (*step_after)(void);
static int64_t last_set;

static void step(void (**at)(void))
{
	void (*fn)(void) = *at;

	*at = NULL;
	if (fn)
		fn();
}

static void before_call(void)
{
	step(&step_before);
}

static void after_call(int64_t t)
{
	last_set = t;
	step(&step_after);
}

static void begin_polled(void)
{
	begin();
	ck_assert_int_eq(sleeper_open(&wakeup.sleeper, CLOCK_MONOTONIC, true),
			 0);
}

static void end_polled(void)
{
	sleeper_close(&wakeup.sleeper, false);
	end();
}

/* In seconds from now, about; 0: it never expires. */
static int64_t set_to(void)
{
#ifdef TT_TIMERFD
	struct itimerspec t;

	ck_assert_int_eq(timerfd_gettime(wakeup.sleeper.fd, &t), 0);
	return t.it_value.tv_sec;
#else
	return last_set == INT64_MAX ? 0 : (last_set - now()) / NS_PER_S;
#endif
}

/*
 * The first shall wake the driver.  Until it has, nobody relies on it: that
 * thread may not run.
 */
START_TEST(until_one_has_woken_it_all_do)
{
	int64_t far = now() + hour;

	begin_polled();
	wakeup_begin_sleep(&wakeup, far);
	ck_assert(!wakeup_owes_kick(&wakeup));
	ck_assert(!wakeup_announce(&wakeup, 5, far + 1));
	ck_assert(wakeup_announce(&wakeup, 0, far - 10));
	ck_assert(wakeup_owes_kick(&wakeup));
	ck_assert(wakeup_announce(&wakeup, 1, far - 10));
	ck_assert(wakeup_announce(&wakeup, 2, far - 5));
	wakeup_kick(&wakeup);
	ck_assert(!wakeup_owes_kick(&wakeup));
	ck_assert(!wakeup_announce(&wakeup, 1, far - 10));
	ck_assert(!wakeup_announce(&wakeup, 2, far - 5));
	ck_assert(wakeup_announce(&wakeup, 2, far - 11));
	ck_assert_int_eq(wakeup_nearest(&wakeup), far - 11);
	ck_assert_int_eq(asleep_until(), far - 11);
	/* It is awake, whoever is still to call it. */
	wakeup_end_sleep(&wakeup);
	ck_assert(!wakeup_owes_kick(&wakeup));
	ck_assert(!wakeup_announce(&wakeup, 3, far - 12));
	/* And for the next sleep, it needs none of that. */
	wakeup_begin_sleep(&wakeup, far);
	ck_assert(!wakeup_owes_kick(&wakeup));
	end_polled();
}
END_TEST

static bool readable(void)
{
	struct pollfd p = {.fd = wakeup.sleeper.fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

static int64_t soonest;
static int steps;

/* Each is earlier than the last, and comes while the last is being set. */
static void announce_earlier(void)
{
	soonest -= hour;
	ck_assert(wakeup_announce(&wakeup, 0, soonest));
	wakeup_kick(&wakeup);
	if (--steps > 0)
		step_before = announce_earlier;
}

static void stop_now(void)
{
	wakeup_stop(&wakeup);
}

/* The setting undoes such a kick. */
START_TEST(kicked_while_it_lies_down)
{
	for (int i = 1; i <= 3; i++) {
		begin_polled();
		soonest = now() + 10 * hour;
		steps = i;
		step_before = announce_earlier;
		wakeup_begin_sleep(&wakeup, soonest);
		ck_assert_int_eq(steps, 0);
		ck_assert_int_le(set_to(), (10 - i) * 3600);
		ck_assert_int_ge(set_to(), (9 - i) * 3600);
		end_polled();
	}
	begin_polled();
	step_before = stop_now;
	wakeup_begin_sleep(&wakeup, now() + hour);
	ck_assert(readable());
	end_polled();
}
END_TEST

static void check_owed(void)
{
	ck_assert(wakeup_owes_kick(&wakeup));
}

static void announce_another(void)
{
	ck_assert(wakeup_announce(&wakeup, 1, soonest));
}

/* Neither too early, nor for what was announced meanwhile. */
START_TEST(a_kick_counts_when_it_was_made)
{
	begin_polled();
	soonest = now() + hour;
	wakeup_begin_sleep(&wakeup, INT64_MAX);
	ck_assert(wakeup_announce(&wakeup, 0, soonest + 1));
	step_before = check_owed;
	step_after = announce_another;
	wakeup_kick(&wakeup);
	ck_assert_ptr_null(step_before);
	ck_assert_ptr_null(step_after);
	check_owed();
	wakeup_kick(&wakeup);
	ck_assert(!wakeup_owes_kick(&wakeup));
	end_polled();
}
END_TEST

static void sleep_again(void)
{
	wakeup_end_sleep(&wakeup);
	wakeup_begin_sleep(&wakeup, INT64_MAX);
	ck_assert(wakeup_announce(&wakeup, 1, soonest));
	wakeup_kick(&wakeup);
	ck_assert(!wakeup_owes_kick(&wakeup));
}

/* It is held up until the next sleep, which another has ended. */
START_TEST(a_kick_that_is_late_undoes_nothing)
{
	begin_polled();
	soonest = now() + hour;
	wakeup_begin_sleep(&wakeup, INT64_MAX);
	ck_assert(wakeup_announce(&wakeup, 0, soonest + 1));
	step_after = sleep_again;
	wakeup_kick(&wakeup);
	ck_assert_ptr_null(step_after);
	ck_assert(!wakeup_owes_kick(&wakeup));
	end_polled();
}
END_TEST

START_TEST(does_not_lie_down_for_what_has_expired)
{
	begin_polled();
	wakeup.slack = hour;
	wakeup_begin_sleep(&wakeup, now());
	ck_assert(readable());
	wakeup_end_sleep(&wakeup);
	wakeup_begin_sleep(&wakeup, now() + hour);
	ck_assert(!readable());
	wakeup_end_sleep(&wakeup);
	wakeup_announce(&wakeup, 0, now());
	wakeup_begin_sleep(&wakeup, INT64_MAX);
	ck_assert(readable());
	end_polled();
}
END_TEST

START_TEST(lies_down_until_the_earliest)
{
	int64_t far = now() + hour;

	begin_polled();
	wakeup_announce(&wakeup, 4, far);
	wakeup_announce(&wakeup, 5, far + hour);
	wakeup_begin_sleep(&wakeup, INT64_MAX);
	ck_assert_int_eq(asleep_until(), far);
	ck_assert_int_gt(set_to(), 1800);
	ck_assert_int_le(set_to(), 3600);
	ck_assert(wakeup_announce(&wakeup, 5, far - hour / 2));
	ck_assert(!readable());
	wakeup_kick(&wakeup);
	ck_assert(readable());
	/* Who is awake sees to it. */
	wakeup_end_sleep(&wakeup);
	ck_assert(!wakeup_announce(&wakeup, 6, far + hour / 2));
	ck_assert(!wakeup_announce(&wakeup, 6, far - hour));
	check_due(far + hour / 2, 3, (uint32_t[]){4, 5, 6});
	wakeup_begin_sleep(&wakeup, far + hour);
	ck_assert_int_eq(asleep_until(), far + hour);
	ck_assert_int_gt(set_to(), 3600);
	wakeup_end_sleep(&wakeup);
	wakeup_begin_sleep(&wakeup, INT64_MAX);
	ck_assert_int_eq(set_to(), 0);
	end_polled();
}
END_TEST

/* For good. */
START_TEST(stopped_it_stays_readable)
{
	begin_polled();
	wakeup_begin_sleep(&wakeup, now() + hour);
	wakeup_stop(&wakeup);
	ck_assert(readable());
	wakeup_end_sleep(&wakeup);
	wakeup_begin_sleep(&wakeup, now() + hour);
	ck_assert(readable());
	end_polled();
}
END_TEST

/* Also a thread that has decided to sleep, and does not yet. */
/*
 * Who asks may have read the clock later than the driver, which goes to
 * sleep after that: the answer is not less than before.
 */
START_TEST(awake_never_gets_less)
{
	const int64_t ms = 1000000;
	int64_t told;

	begin();
	wakeup.awake_time = ms - now();
	told = wakeup_awake(&wakeup);
	ck_assert_int_ge(told, ms);
	wakeup.awake_time = told - 1000;
	ck_assert_int_eq(wakeup_awake(&wakeup), told);
	wakeup.awake_time = told + 1000;
	ck_assert_int_eq(wakeup_awake(&wakeup), told + 1000);
	end();
}
END_TEST

START_TEST(stop_changes_the_futex)
{
	uint32_t seq;

	begin();
	seq = atom32_load(&wakeup.seq);
	wakeup_stop(&wakeup);
	ck_assert_uint_ne(atom32_load(&wakeup.seq), seq);
	end();
}
END_TEST

START_TEST(stop_wakes)
{
	pthread_t t = start_sleeper(INT64_MAX);

	ck_assert(!wakeup_stopping(&wakeup));
	wakeup_stop(&wakeup);
	pthread_join(t, NULL);
	ck_assert(wakeup_stopping(&wakeup));
	wakeup_sleep(&wakeup, INT64_MAX, now());
	end();
}
END_TEST

/*
 * Hand-overs at full speed: each deadline that is announced must be seen,
 * however the announcement falls into the other side's way to sleep.
 */
enum { HANDOVERS = 100000 };
static atom32 handed, seen;
static int64_t all_due;

static void *announcer(void *arg)
{
	(void)arg;
	for (uint32_t i = 1; i <= HANDOVERS; i++) {
		atom32_store_release(&handed, i);
		if (wakeup_announce(&wakeup, i % 3, all_due - i % 2))
			wakeup_kick(&wakeup);
		while (atom32_load_acquire(&seen) != i)
			sched_yield();
	}
	return NULL;
}

START_TEST(no_wake_up_is_lost)
{
	struct bucket_set due;
	pthread_t t;

	begin();
	/* A sleep that is too long lasts until the test fails. */
	all_due = now() + hour;
	ck_assert_int_eq(pthread_create(&t, NULL, announcer, NULL), 0);
	while (atom32_load(&seen) != HANDOVERS) {
		due = wakeup_collect(&wakeup, all_due);
		if (due.used == 0) {
			wakeup_sleep(&wakeup, INT64_MAX, all_due);
			continue;
		}
		ck_assert_uint_eq(due.used, 1);
		ck_assert_uint_eq(due.word[0] & (due.word[0] - 1), 0);
		atom32_store_release(&seen, atom32_load_acquire(&handed));
	}
	pthread_join(t, NULL);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		keeps_the_earliest,
		a_deadline_for_each_bucket,
		collected_at_random,
		takes_arrivals_in,
		an_arrival_ends_the_rest,
		announced_while_awake,
		what_is_due_costs_no_sleep,
		sleeps_until_the_deadline,
		what_is_earlier_wakes,
		until_one_has_woken_it_all_do,
		what_is_late_does_not_wait_for_the_slack,
		after_a_row_of_wakeups_half_a_sleep,
		a_deadline_ends_the_row,
		lies_down_until_the_earliest,
		kicked_while_it_lies_down,
		a_kick_counts_when_it_was_made,
		a_kick_that_is_late_undoes_nothing,
		does_not_lie_down_for_what_has_expired,
		stopped_it_stays_readable,
		awake_never_gets_less,
		stop_changes_the_futex,
		stop_wakes,
		no_wake_up_is_lost,
	};

	return RUN_TESTS("wakeup", tests);
}
