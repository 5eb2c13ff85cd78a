/* SPDX-License-Identifier: MIT */
/*
 * What a dispatch runs, and what it leaves for the next.
 */
#include "config.h"

#include "engine/turn.h"
#include "polled.h"

#include <pthread.h>
#include <stdio.h>

static int64_t all_scheduled, last_deadline;
static int disorder;

/*
 * On a slow machine some are due before they are scheduled, or before others
 * are.  They count as due then, in an order that nobody knows.
 */
static void check_order(void *arg)
{
	int64_t deadline = *(int64_t *)arg;

	runs++;
	if (deadline <= all_scheduled)
		return;
	disorder += deadline < last_deadline;
	last_deadline = deadline;
}

/* In portions, so that some are in the buckets and some are not. */
START_TEST(what_is_due_runs_in_order)
{
	enum { N = 3000 };
	static int64_t deadline[N];
	uint64_t rng = test_seed();

	for (int i = 0; i < 30; i++) {
		int64_t base;
		int n = 1 + (int)random_below(&rng, N);

		begin();
		base = now() + 40 * MS;
		runs = disorder = 0;
		all_scheduled = INT64_MAX;
		last_deadline = INT64_MIN;
		for (int j = 0; j < n; j++) {
			deadline[j] = base + (int64_t)random_below(&rng, 1000);
			if (timerthread_schedule(tt, deadline[j], check_order,
						 &deadline[j], NULL) != 0)
				abort();
			if (j % 1000 == i)
				dispatch();
		}
		all_scheduled = now();
		/* Those that ran meanwhile, on a slow machine. */
		n -= runs;
		sleep_until(base + 1000);
		ck_assert_int_eq(dispatch(), n);
		ck_assert_int_eq(disorder, 0);
		ck_assert(!readable());
		ck_assert_int_eq(dispatch(), 0);
		end();
	}
}
END_TEST

/*
 * The first one was looked at before, the second one not.  False: they were
 * due before that.
 */
static bool run_both(int64_t delay)
{
	int64_t base;
	bool waits;

	begin();
	base = now() + delay;
	schedule(base, note, NULL);
	waits = dispatch() == 0;
	schedule(base + 1, note, NULL);
	sleep_until(base + 1);
	ck_assert_int_eq(dispatch(), waits ? 2 : 1);
	ck_assert(!readable());
	end();
	return waits;
}

START_TEST(all_that_is_due_runs)
{
	int64_t delay = 10 * MS;

	while (!run_both(delay))
		delay *= 2;
}
END_TEST

static void *schedule_in_thread(void *arg)
{
	for (int i = 0; i < 10; i++)
		every(*(int64_t *)arg + i, HOUR, note, NULL);
	return NULL;
}

/* The same with periodic ones, and several buckets. */
START_TEST(all_that_is_due_runs_wherever_it_is)
{
	int64_t base;
	int before = 0;

	setup();
	ck_assert_int_eq(timerthread_set_buckets(tt, 5), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	base = now() + 50 * MS;
	for (int i = 0; i < 5; i++) {
		pthread_join(start_thread(schedule_in_thread, &base), NULL);
		before += dispatch();
	}
	sleep_until(base + 10);
	ck_assert_int_eq(dispatch(), 50 - before);
	ck_assert_int_eq(runs, 50);
	end();
}
END_TEST

START_TEST(planned_by_callbacks_waits)
{
	begin();
	for (int i = 0; i < 10; i++)
		schedule(i, plan_for_the_past, NULL);
	ck_assert_int_eq(dispatch(), 10);
	ck_assert(readable());
	ck_assert_int_eq(dispatch(), 30);
	ck_assert(!readable());
	end();
}
END_TEST

static timerthread_id self;

static void arm_again(void *arg)
{
	note(arg);
	ck_assert_int_eq(timerthread_reschedule(tt, self, runs % 3 - 1), 0);
}

START_TEST(armed_again_waits)
{
	begin();
	self = schedule(0, arm_again, NULL);
	for (int i = 0; i < 1000; i++) {
		ck_assert(readable());
		ck_assert_int_eq(dispatch(), 1);
	}
	ck_assert_int_eq(timerthread_cancel(tt, self), 0);
	ck_assert_int_eq(dispatch(), 0);
	ck_assert(!readable());
	end();
}
END_TEST

static void take_a_while(void *arg)
{
	int64_t t = now() + *(int64_t *)arg;

	note(arg);
	while (now() < t)
		;
}

/* Its next run is due before this one is over. */
START_TEST(short_periods_wait)
{
	static int64_t a_while = 2000;
	timerthread_id id, other;

	begin();
	id = every(0, 1, take_a_while, &a_while);
	other = every(0, 1000, take_a_while, &a_while);
	for (int i = 0; i < 300; i++) {
		wait_readable();
		ck_assert_int_le(dispatch(), 2);
	}
	ck_assert_int_ge(runs, 300);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	ck_assert_int_eq(timerthread_cancel(tt, other), 0);
	ck_assert_int_eq(dispatch(), 0);
	ck_assert(!readable());
	end();
}
END_TEST

/*
 * One that waits for the next dispatch is pending, as any other.
 */
static void check_waiting(int64_t deadline, int ran_now)
{
	self = schedule(0, arm_again, NULL);
	runs = 0;
	ck_assert_int_eq(dispatch(), 1);
	ck_assert_int_eq(deadline_of(self), 0);
	ck_assert_int_eq(timerthread_reschedule(tt, self, deadline), 0);
	ck_assert_int_eq(deadline_of(self), deadline);
	ck_assert_int_eq(dispatch(), ran_now);
	ck_assert_int_eq(timerthread_cancel(tt, self), 0);
	ck_assert_int_eq(timerthread_cancel(tt, self), -ENOENT);
	ck_assert_int_eq(dispatch(), 0);
	ck_assert(!readable());
}

START_TEST(what_waits_can_be_moved)
{
	begin();
	check_waiting(now() + HOUR, 0);
	check_waiting(INT64_MIN, 1);
	check_waiting(-1, 1);
	check_waiting(1, 1);
	check_waiting(TIMERTHREAD_NEVER, 0);
	end();
}
END_TEST

/* To and fro, with looks and without. */
START_TEST(what_waits_can_be_moved_often)
{
	uint64_t rng = test_seed();

	begin();
	self = schedule(0, arm_again, NULL);
	ck_assert_int_eq(dispatch(), 1);
	for (int i = 0; i < 2000; i++) {
		int64_t far = now() + HOUR;
		int64_t deadline = 0;

		for (uint64_t n = random_below(&rng, 4); n > 0; n--) {
			deadline = random_below(&rng, 2)
					   ? far - i
					   : (int64_t)random_below(&rng, 100);
			ck_assert_int_eq(
				timerthread_reschedule(tt, self, deadline), 0);
		}
		deadline = deadline_of(self);
		ck_assert_int_eq(dispatch(), deadline < far - i);
		if (deadline == far - i)
			ck_assert_int_eq(timerthread_reschedule(tt, self, 0),
					 0);
	}
	end();
}
END_TEST

START_TEST(what_waits_is_drained)
{
	begin();
	self = schedule(0, arm_again, NULL);
	every(0, 1, note, NULL);
	ck_assert_int_eq(dispatch(), 2);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(cancel_all(), 2);
	end();
}
END_TEST

/* It counts, all the time. */
START_TEST(what_waits_counts)
{
	setup();
	ck_assert_int_eq(timerthread_set_max_timers(tt, 1), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	self = schedule(0, arm_again, NULL);
	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, NULL),
				 -EAGAIN);
		ck_assert_int_eq(dispatch(), 1);
	}
	ck_assert_int_eq(timerthread_cancel(tt, self), 0);
	schedule(0, note, NULL);
	ck_assert_int_eq(dispatch(), 1);
	schedule(0, note, NULL);
	ck_assert_int_eq(dispatch(), 1);
	end();
}
END_TEST

static int64_t wait_until;
static bool in_time; /* it was not due when the dispatch began */

static void outlast(void *arg)
{
	note(arg);
	in_time = now() < wait_until;
	while (now() <= wait_until)
		;
}

/* What comes due while callbacks run is for the next one. */
START_TEST(due_meanwhile_waits)
{
	int i;

	for (i = 0; i < 20; i++) {
		int r;

		begin();
		wait_until = now() + 10 * MS;
		schedule(wait_until, note, NULL);
		every(wait_until, HOUR, note, NULL);
		dispatch();
		schedule(0, outlast, NULL);
		r = dispatch();
		if (in_time) {
			ck_assert_int_eq(r, 1);
			ck_assert(readable());
			ck_assert_int_eq(dispatch(), 2);
		}
		end();
		if (in_time)
			break;
	}
	if (i == 20)
		puts("due_meanwhile: too busy, nothing was tested");
}
END_TEST

static timerthread_id others[4];

static void meddle(void *arg)
{
	note(arg);
	ck_assert_int_eq(timerthread_cancel(tt, others[0]), 0);
	ck_assert_int_eq(timerthread_reschedule(tt, others[1], now() + HOUR),
			 0);
	ck_assert_int_eq(timerthread_reschedule(tt, others[2], 0), 0);
}

/* One that is due is cancelled or put off; one that is not becomes so. */
START_TEST(callbacks_meddle_with_others)
{
	begin();
	schedule(0, meddle, NULL);
	others[0] = schedule(1, never, NULL);
	others[1] = schedule(2, never, NULL);
	others[2] = schedule(now() + HOUR, note, NULL);
	ck_assert_int_eq(dispatch(), 1);
	ck_assert(readable());
	ck_assert_int_eq(dispatch(), 1);
	ck_assert(!readable());
	end();
}
END_TEST

/* What other threads schedule while a callback runs. */
START_TEST(planned_by_others_waits)
{
	pthread_t t;
	int r;

	begin();
	schedule(1, hold, &ran);
	schedule(2, post, &ran);
	t = start_thread(dispatch_in_thread, &r);
	wait_for(&ran);
	schedule(0, note, NULL);
	schedule(3, note, NULL);
	sem_post(&go);
	pthread_join(t, NULL);
	ck_assert_int_eq(r, 2);
	ck_assert(readable());
	ck_assert_int_eq(dispatch(), 2);
	end();
}
END_TEST

/*
 * All at once: timers that do this and that when they run, a number of times
 * each.
 */
enum { WALKERS = 300, WALKS = 20 };
static struct walker {
	timerthread_id id;
	int64_t deadline;
	int walks;
} walkers[WALKERS];

static uint64_t dice;
static int walks, early;

static int64_t somewhere(void)
{
	switch (random_below(&dice, 4)) {
	case 0:
		return (int64_t)random_below(&dice, 1000);
	case 1:
		return now();
	default:
		return now() + (int64_t)random_below(&dice, MS);
	}
}

static void walk(void *arg)
{
	struct walker *w = arg;

	early += now() < w->deadline;
	walks++;
	if (++w->walks == WALKS)
		return;
	w->deadline = somewhere();
	if (random_below(&dice, 2))
		ck_assert_int_eq(timerthread_reschedule(tt, w->id, w->deadline),
				 0);
	else
		w->id = schedule(w->deadline, walk, w);
}

START_TEST(nothing_is_lost)
{
	dice = test_seed();
	begin();
	for (int i = 0; i < WALKERS; i++) {
		walkers[i].deadline = somewhere();
		walkers[i].id =
			schedule(walkers[i].deadline, walk, &walkers[i]);
	}
	while (walks < WALKERS * WALKS) {
		int before = walks;

		wait_readable();
		ck_assert_int_eq(dispatch(), walks - before);
		ck_assert_int_le(walks - before, WALKERS);
	}
	ck_assert_int_eq(early, 0);
	ck_assert_int_eq(dispatch(), 0);
	ck_assert(!readable());
	end();
}
END_TEST

/*
 * The time that it takes may be limited.
 */
static int64_t next_deadline(void)
{
	int64_t t = 0;

	ck_assert_int_eq(timerthread_get_next_deadline(tt, &t), 0);
	return t;
}

static void spend(void *arg)
{
	int64_t until = now() + *(int64_t *)arg;

	runs++;
	while (now() < until)
		;
}

static void count_run(void *arg)
{
	++*(int *)arg;
}

static void begin_limited(int64_t ns)
{
	setup();
	runs = 0;
	ck_assert_int_eq(timerthread_set_dispatch_time(tt, ns), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
}

START_TEST(a_dispatch_is_short)
{
	static int64_t span = MS;

	ck_assert_int_eq(timerthread_set_dispatch_time(NULL, 1), -EINVAL);
	begin_limited(0);
	ck_assert_int_eq(timerthread_set_dispatch_time(tt, 1), -EBUSY);
	end();
	setup();
	ck_assert_int_eq(timerthread_set_dispatch_time(tt, -1), -EINVAL);
	end();

	/* Each callback is longer than all of a dispatch. */
	begin_limited(1);
	for (int i = 0; i < 5; i++)
		schedule(i, spend, &span);
	schedule(TIMERTHREAD_NEVER - 1, never, NULL);
	for (int i = 0; i < 5; i++) {
		ck_assert(readable());
		ck_assert_int_le(next_deadline(), now());
		ck_assert_int_eq(dispatch(), 1);
		ck_assert_int_eq(runs, i + 1);
	}
	ck_assert_int_eq(dispatch(), 0);
	ck_assert(!readable());
	end();

	/* None is. */
	begin_limited(TIMERTHREAD_NEVER);
	for (int i = 0; i < 5; i++)
		schedule(i, spend, &span);
	ck_assert_int_eq(dispatch(), 5);
	end();
}
END_TEST

/*
 * A batch that was cut goes on before what came later: here a callback as long
 * as the limit that reschedules itself to the earliest time of all, on a clock
 * where such a deadline counts as it is.
 */
static timerthread_id greedy;

static void spend_again(void *arg)
{
	spend(arg);
	ck_assert_int_eq(timerthread_reschedule(tt, greedy, 0), 0);
}

START_TEST(a_cut_batch_comes_first)
{
	enum { OTHERS = 10 };
	static int64_t span = MS;
	int rest = 0;

	setup();
	ck_assert_int_eq(timerthread_set_clock(tt, CLOCK_REALTIME), 0);
	ck_assert_int_eq(timerthread_set_dispatch_time(tt, MS / 2), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	greedy = schedule(0, spend_again, &span);
	for (int i = 0; i < OTHERS; i++)
		schedule(now() - HOUR, count_run, &rest);
	/* One runs in each at least, however slow the machine is. */
	for (int i = 0; i < 1 + OTHERS; i++)
		ck_assert_int_ge(dispatch(), 1);
	ck_assert_int_eq(rest, OTHERS);
	/* Then what came later does. */
	runs = 0;
	ck_assert_int_ge(dispatch() + dispatch(), 1);
	ck_assert_int_ge(runs, 1);
	end();
}
END_TEST

/* It counts also if nothing runs: all were moved to later, or are dead. */
START_TEST(a_dispatch_is_short_if_nothing_runs)
{
	enum { N = 100 * BLOCK_ENTRIES };
	int done = 0, dispatches = 0;
	int64_t due;

	begin_limited(1);
	due = now() + 100 * MS;
	for (int i = 0; i < N; i++) {
		timerthread_id id = schedule(due + i, never, NULL);

		ck_assert_int_eq(timerthread_reschedule(tt, id, due + HOUR), 0);
	}
	schedule(due + N, count_run, &done);
	sleep_until(due + N);
	do {
		ck_assert_int_le(next_deadline(), now());
		ck_assert_int_eq(dispatch(), done);
		dispatches++;
	} while (done == 0);
	/* A block is opened in a step; each call takes a few steps. */
	ck_assert_int_gt(dispatches, 100 / TURN_STEPS / 2);
	end();
}
END_TEST

/* Before a stop nobody waits for the end of a turn, and a wake costs. */
START_TEST(a_turn_wakes_nobody)
{
	begin();
	schedule(0, note, NULL);
	ck_assert_int_eq(dispatch(), 1);
	ck_assert_int_eq(dispatch(), 0);
	ck_assert_uint_eq(atom32_load(&tt->changes), 0);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		what_is_due_runs_in_order,
		all_that_is_due_runs,
		all_that_is_due_runs_wherever_it_is,
		planned_by_callbacks_waits,
		armed_again_waits,
		short_periods_wait,
		what_waits_can_be_moved,
		what_waits_can_be_moved_often,
		what_waits_is_drained,
		what_waits_counts,
		due_meanwhile_waits,
		callbacks_meddle_with_others,
		planned_by_others_waits,
		nothing_is_lost,
		a_dispatch_is_short,
		a_cut_batch_comes_first,
		a_dispatch_is_short_if_nothing_runs,
		a_turn_wakes_nobody,
	};

	return RUN_TESTS("dispatch", tests);
}
