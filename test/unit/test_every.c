/* SPDX-License-Identifier: MIT */
/*
 * Timers that repeat.
 */
#include "config.h"

#include "intake/expiry.h"
#include "timers.h"

#include <sched.h>
#include <string.h>

START_TEST(arguments_and_life)
{
	static const int64_t bad[] = {0, -1, -1000, INT64_MIN};
	timerthread_id id = 5;

	setup();
	ck_assert_int_eq(timerthread_schedule_every(tt, 0, 1, never, NULL, &id),
			 -EINVAL);
	ck_assert_int_eq(driver_start(tt), 0);
	ck_assert_int_eq(
		timerthread_schedule_every(NULL, 0, 1, never, NULL, &id),
		-EINVAL);
	ck_assert_int_eq(timerthread_schedule_every(tt, 0, 1, NULL, NULL, &id),
			 -EINVAL);
	for (size_t i = 0; i < 4; i++)
		ck_assert_int_eq(timerthread_schedule_every(tt, 0, bad[i],
							    never, NULL, &id),
				 -EINVAL);
	ck_assert_int_eq(timerthread_schedule_every(tt, timerthread_now(tt),
						    HOUR, post, &ran, NULL),
			 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_schedule_every(tt, 0, 1, never, NULL, &id),
			 -ESHUTDOWN);
	ck_assert_uint_eq(id, 5);
	end();
}
END_TEST

START_TEST(after_a_delay)
{
	static const int64_t delay[] = {HOUR, -HOUR, 0, INT64_MIN};
	timerthread_id id = 5;

	ck_assert_int_eq(
		timerthread_schedule_every_after(NULL, 0, 1, never, NULL, &id),
		-EINVAL);
	setup();
	ck_assert_int_eq(
		timerthread_schedule_every_after(tt, 0, 1, never, NULL, &id),
		-EINVAL);
	ck_assert_int_eq(driver_start(tt), 0);
	ck_assert_int_eq(
		timerthread_schedule_every_after(tt, 0, 1, NULL, NULL, &id),
		-EINVAL);
	ck_assert_int_eq(
		timerthread_schedule_every_after(tt, 0, 0, never, NULL, &id),
		-EINVAL);
	ck_assert_uint_eq(id, 5);
	for (int i = 0; i < 4; i++) {
		int64_t before = timerthread_now(tt);

		ck_assert_int_eq(timerthread_schedule_every_after(
					 tt, delay[i], HOUR,
					 i == 0 ? never : post, &ran, &id),
				 0);
		if (i > 0)
			wait_for(&ran);
		settle();
		/* It repeats, in step with the first deadline. */
		ck_assert_int_ge(deadline_of(id), before + (i == 0 ? HOUR : 1));
		ck_assert_int_le(deadline_of(id), timerthread_now(tt) + HOUR);
		ck_assert_int_eq(timerthread_cancel_wait(tt, id), 0);
	}
	ck_assert_int_eq(timerthread_schedule_every_after(tt, INT64_MAX, 1,
							  never, NULL, &id),
			 0);
	/* A virtual clock may show a time before 0. */
	ck_assert_int_ge(deadline_of(id), INT64_MAX - HOUR);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	end();
}
END_TEST

/*
 * A timer that notes when it began at the latest, and its next deadline then.
 * After "last" runs it cancels itself.
 */
enum { NOTED = 2000 };

static struct noted {
	timerthread_id id;
	int runs, last, cancelled;
	int64_t now[NOTED], next[NOTED];
	uint64_t overrun[NOTED];
	bool hold;
} noted;

static void note(void *arg)
{
	struct noted *n = arg;
	int i = n->runs++;

	n->next[i] = -1;
	n->overrun[i] = UINT64_MAX;
	n->now[i] = timerthread_now(tt);
	timerthread_get_deadline(tt, n->id, &n->next[i]);
	timerthread_get_overrun(&n->overrun[i]);
	if (n->hold)
		hold(&ran);
	if (n->runs == n->last) {
		n->cancelled = timerthread_cancel(tt, n->id);
		sem_post(&ran);
	}
}

static void start_noted(int64_t first, int64_t period)
{
	ck_assert_int_eq(timerthread_schedule_every(tt, first, period, note,
						    &noted, &noted.id),
			 0);
}

/*
 * Every run is at or after its deadline, and all deadlines are in step.
 * Where the machine was not busy, each is the one before plus the period.
 */
static void check_noted(int64_t first, int64_t period)
{
	int64_t deadline = first;

	for (int i = 0; i < noted.runs; i++) {
		ck_assert_int_le(deadline, noted.now[i]);
		ck_assert_int_ge(noted.next[i], deadline + period);
		ck_assert_int_eq((noted.next[i] - first) % period, 0);
		ck_assert_uint_eq(noted.overrun[i],
				  (noted.next[i] - deadline) / period - 1);
		/* Not one too many was skipped. */
		ck_assert_int_le(noted.next[i] - period, noted.now[i]);
		deadline = noted.next[i];
	}
}

START_TEST(in_step)
{
	const int64_t first = 5 * MS, period = 300 * 1000 + 7;

	start_virtual();
	noted.last = 100;
	start_noted(first, period);
	ck_assert_int_eq(timerthread_advance(tt, first - 1), 0);
	ck_assert_int_eq(timerthread_advance(tt, 1 + 98 * period), 99);
	ck_assert_int_eq(timerthread_advance(tt, period - 1), 0);
	ck_assert_int_eq(timerthread_advance(tt, HOUR), 1);
	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(noted.now[i], first + i * period);
		ck_assert_int_eq(noted.next[i], first + (i + 1) * period);
		ck_assert_uint_eq(noted.overrun[i], 0);
	}
	ck_assert_int_eq(noted.runs, 100);
	end();
}
END_TEST

START_TEST(in_step_with_time)
{
	const int64_t period = 300 * 1000 + 7;
	int64_t first;

	start();
	noted.last = 20;
	first = timerthread_now(tt) + MS;
	hold_thread();
	start_noted(first, period);
	ck_assert_int_eq(deadline_of(noted.id), first);
	sem_post(&go);
	wait_for(&ran);
	settle();
	ck_assert_int_eq(noted.runs, 20);
	check_noted(first, period);
	end();
}
END_TEST

/* The thread is held over many periods: one run is late, and none follow. */
START_TEST(missed_ones_are_skipped)
{
	const int64_t period = 3 * MS;
	int64_t first, until;

	start();
	noted.last = 3;
	noted.hold = true;
	first = timerthread_now(tt);
	start_noted(first, period);
	for (int i = 0; i < 3; i++) {
		wait_for(&ran);
		ck_assert_int_eq(noted.runs, i + 1);
		until = noted.next[i] + 5 * period;
		while (timerthread_now(tt) <= until)
			sched_yield();
		sem_post(&go);
		if (i > 0)
			ck_assert_int_gt(noted.next[i],
					 noted.next[i - 1] + 5 * period);
	}
	wait_for(&ran);
	settle();
	ck_assert_int_eq(noted.runs, 3);
	check_noted(first, period);
	end();
}
END_TEST

/* While a callback is held in a pool, its instance's clock goes on. */
START_TEST(missed_ones_are_skipped_exactly)
{
	const int64_t period = 3 * MS;
	struct pool *pool = pool_open(1);

	setup();
	ck_assert_int_eq(timerthread_set_executor(tt, pool_submit, pool), 0);
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	noted.last = 3;
	noted.hold = true;
	start_noted(0, period);
	for (int i = 0; i < 3; i++) {
		/* Until the run before is over. */
		while (timerthread_advance(tt, 0) == 0)
			sched_yield();
		wait_for(&ran);
		ck_assert_int_eq(timerthread_advance(tt, 5 * period), 0);
		ck_assert_int_eq(noted.now[i], i * 5 * period);
		ck_assert_int_eq(noted.next[i], (i * 5 + 1) * period);
		ck_assert_uint_eq(noted.overrun[i], i == 0 ? 0 : 4);
		sem_post(&go);
	}
	wait_for(&ran);
	ck_assert_int_eq(noted.runs, 3);
	ck_assert_int_eq(noted.cancelled, 1);
	end();
	pool_close(pool);
}
END_TEST

/* Held by another timer's callback: the same. */
START_TEST(missed_before_the_first)
{
	int64_t first;

	start();
	noted.last = 2;
	hold_thread();
	first = timerthread_now(tt) - 1000 * MS;
	start_noted(first, 7 * MS);
	ck_assert_int_eq(deadline_of(noted.id), first);
	sem_post(&go);
	wait_for(&ran);
	check_noted(first, 7 * MS);
	ck_assert_int_ge(noted.next[0], first + 1000 * MS);
	end();
}
END_TEST

START_TEST(cancelled_from_its_callback)
{
	int r;

	start();
	noted.last = 3;
	hold_thread();
	start_noted(0, 1000);
	sem_post(&go);
	wait_for(&ran);
	/* Whether the callback is over by now or not. */
	r = timerthread_cancel_wait(tt, noted.id);
	ck_assert(r == 1 || r == -ENOENT);
	ck_assert_int_eq(noted.cancelled, 1);
	ck_assert_int_eq(noted.runs, 3);
	ck_assert_int_eq(timerthread_cancel(tt, noted.id), -ENOENT);
	ck_assert_int_eq(timerthread_reschedule(tt, noted.id, 0), -ENOENT);
	check_not_pending(noted.id);
	for (int i = 0; i < 20; i++)
		settle();
	ck_assert_int_eq(noted.runs, 3);
	end();
}
END_TEST

START_TEST(cancelled_between_runs)
{
	int64_t before, after;

	start();
	/* Before the first run, too. */
	start_noted(timerthread_now(tt) + HOUR, 1);
	ck_assert_int_eq(timerthread_cancel(tt, noted.id), 0);
	before = timerthread_now(tt);
	hold_thread();
	start_noted(-5, HOUR);
	sem_post(&go);
	settle();
	after = timerthread_now(tt);
	ck_assert_int_eq(noted.runs, 1);
	ck_assert_int_eq(deadline_of(noted.id), noted.next[0]);
	ck_assert_int_eq((noted.next[0] + 5) % HOUR, 0);
	ck_assert_int_gt(noted.next[0], before);
	ck_assert_int_le(noted.next[0], after + HOUR);
	ck_assert_int_eq(timerthread_cancel(tt, noted.id), 0);
	ck_assert_int_eq(timerthread_cancel(tt, noted.id), -ENOENT);
	check_not_pending(noted.id);
	settle();
	ck_assert_int_eq(noted.runs, 1);
	end();
}
END_TEST

START_TEST(cancelled_during_a_run)
{
	start();
	noted.hold = true;
	start_noted(0, 1);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_cancel(tt, noted.id), 1);
	ck_assert_int_eq(timerthread_cancel(tt, noted.id), 1);
	ck_assert_int_eq(timerthread_reschedule(tt, noted.id, 0), -ENOENT);
	check_not_pending(noted.id);
	sem_post(&go);
	for (int i = 0; i < 20; i++)
		settle();
	ck_assert_int_eq(noted.runs, 1);
	ck_assert_int_eq(timerthread_cancel(tt, noted.id), -ENOENT);
	end();
}
END_TEST

/* Cancelled at any moment: not another run begins after that. */
START_TEST(cancelled_at_any_moment)
{
	start();
	for (int i = 0; i < 2000; i++) {
		int r, runs;

		memset(&noted, 0, sizeof(noted));
		noted.last = NOTED - 1;
		hold_thread();
		start_noted(0, 1 + i);
		sem_post(&go);
		for (int spin = 0; spin < i % 200; spin++)
			timerthread_now(tt);
		/* It may have ended itself, where this thread had to wait. */
		r = timerthread_cancel_wait(tt, noted.id);
		runs = noted.runs;
		ck_assert(r == 0 || r == 1 || runs == noted.last);
		if (i % 50 == 0)
			settle();
		ck_assert_int_eq(noted.runs, runs);
		ck_assert_int_eq(timerthread_cancel(tt, noted.id), -ENOENT);
		/* The posts of those that ended themselves. */
		while (sem_trywait(&ran) == 0)
			;
	}
	end();
}
END_TEST

START_TEST(moved_between_runs)
{
	int64_t base;

	start();
	base = timerthread_now(tt) + HOUR;
	hold_thread();
	start_noted(base, HOUR + 1);
	sem_post(&go);
	/* Later, earlier, and to a time that is over. */
	ck_assert_int_eq(timerthread_reschedule(tt, noted.id, base + 7), 0);
	ck_assert_int_eq(deadline_of(noted.id), base + 7);
	ck_assert_int_eq(timerthread_reschedule(tt, noted.id, base - 7), 0);
	ck_assert_int_eq(deadline_of(noted.id), base - 7);
	ck_assert_int_eq(timerthread_reschedule(tt, noted.id, -3), 0);
	settle();
	ck_assert_int_eq(noted.runs, 1);
	ck_assert_int_eq(deadline_of(noted.id), noted.next[0]);
	ck_assert_int_eq((noted.next[0] + 3) % (HOUR + 1), 0);
	ck_assert_int_gt(noted.next[0], base - HOUR);
	ck_assert_int_le(noted.next[0], timerthread_now(tt) + HOUR + 1);
	/* Away for ever and back. */
	ck_assert_int_eq(
		timerthread_reschedule(tt, noted.id, TIMERTHREAD_NEVER), 0);
	settle();
	ck_assert_int_eq(deadline_of(noted.id), TIMERTHREAD_NEVER);
	ck_assert_int_eq(timerthread_reschedule(tt, noted.id, INT64_MIN), 0);
	settle();
	ck_assert_int_eq(noted.runs, 2);
	ck_assert_int_eq(timerthread_cancel(tt, noted.id), 0);
	end();
}
END_TEST

/* Its callback is running: that is the next run's deadline. */
START_TEST(moved_during_a_run)
{
	int64_t base;

	start();
	base = timerthread_now(tt) + HOUR;
	noted.hold = true;
	/* Held, so that the id is there when it first runs. */
	hold_thread();
	start_noted(0, HOUR);
	sem_post(&go);
	wait_for(&ran);
	ck_assert_int_eq(deadline_of(noted.id), noted.next[0]);
	ck_assert_int_eq(timerthread_reschedule(tt, noted.id, base + 1), 0);
	ck_assert_int_eq(deadline_of(noted.id), base + 1);
	ck_assert_int_eq(timerthread_reschedule(tt, noted.id, base - 1), 0);
	ck_assert_int_eq(deadline_of(noted.id), base - 1);
	sem_post(&go);
	settle();
	ck_assert_int_eq(deadline_of(noted.id), base - 1);
	ck_assert_int_eq(noted.runs, 1);

	/* To the past: again, as soon as this run is over. */
	ck_assert_int_eq(timerthread_reschedule(tt, noted.id, 0), 0);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_reschedule(tt, noted.id, 11), 0);
	sem_post(&go);
	wait_for(&ran);
	ck_assert_int_eq(noted.runs, 3);
	ck_assert_int_eq((noted.next[2] - 11) % HOUR, 0);
	ck_assert_int_eq(deadline_of(noted.id), noted.next[2]);
	sem_post(&go);
	settle();
	ck_assert_int_eq(deadline_of(noted.id), noted.next[2]);
	end();
}
END_TEST

static int moved_self;

static void move_self(void *arg)
{
	if (++noted.runs < 5)
		moved_self |= timerthread_reschedule(tt, noted.id, noted.runs);
	else
		moved_self |=
			timerthread_reschedule(tt, noted.id, TIMERTHREAD_NEVER);
	if (noted.runs == 5)
		sem_post(arg);
}

START_TEST(moved_by_itself)
{
	start();
	hold_thread();
	noted.id = every(0, HOUR, move_self, &ran);
	sem_post(&go);
	wait_for(&ran);
	settle();
	ck_assert_int_eq(moved_self, 0);
	ck_assert_int_eq(noted.runs, 5);
	ck_assert_int_eq(deadline_of(noted.id), TIMERTHREAD_NEVER);
	ck_assert_int_eq(timerthread_cancel(tt, noted.id), 0);
	end();
}
END_TEST

START_TEST(extreme_times)
{
	static const struct {
		int64_t first, period, next;
	} extreme[] = {
		/* -1 has passed, and the one behind it is the last. */
		{INT64_MIN, INT64_MAX, INT64_MAX - 1},
		{INT64_MIN + 1, INT64_MAX, TIMERTHREAD_NEVER},
		{-1, INT64_MAX, INT64_MAX - 1},
		{0, INT64_MAX, TIMERTHREAD_NEVER},
		{1, INT64_MAX, TIMERTHREAD_NEVER},
		{1, INT64_MAX - 1, TIMERTHREAD_NEVER},
		{0, INT64_MAX - 1, INT64_MAX - 1},
	};

	start();
	for (size_t i = 0; i < sizeof(extreme) / sizeof(extreme[0]); i++) {
		timerthread_id id =
			every(extreme[i].first, extreme[i].period, post, &ran);

		wait_for(&ran);
		settle();
		ck_assert_int_eq(deadline_of(id), extreme[i].next);
		ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	}
	noted.id = every(TIMERTHREAD_NEVER, 1, never, NULL);
	settle();
	ck_assert_int_eq(deadline_of(noted.id), TIMERTHREAD_NEVER);
	end();
}
END_TEST

/* The shortest period: a run after the other, and others have their turn. */
START_TEST(many_runs_use_one_slot)
{
	enum { TIMERS = 5 };
	static struct noted many[TIMERS];
	size_t used;

	start();
	settle();
	hold_thread();
	for (int i = 0; i < TIMERS; i++) {
		many[i].last = NOTED;
		ck_assert_int_eq(timerthread_schedule_every(
					 tt, 0, 1, note, &many[i], &many[i].id),
				 0);
	}
	used = slots_in_use();
	sem_post(&go);
	for (int i = 0; i < TIMERS; i++)
		wait_for(&ran);
	settle();
	for (int i = 0; i < TIMERS; i++) {
		ck_assert_int_eq(many[i].runs, NOTED);
		ck_assert_int_eq(many[i].cancelled, 1);
		ck_assert_int_eq(timerthread_cancel(tt, many[i].id), -ENOENT);
	}
	/* What settle takes itself. */
	ck_assert_uint_le(slots_in_use(), used + 3 * tt->engine.intake->n);
	ck_assert_uint_le(arrivals(), 100);
	end();
}
END_TEST

static atom32 beside;

static void run_beside(void *arg)
{
	atom32_add(arg, 1);
}

/* Those that are always due keep nobody else from running. */
START_TEST(others_run_beside_it)
{
	timerthread_id id[3];

	start();
	for (int i = 0; i < 3; i++)
		id[i] = every(0, 1, run_beside, (void *)(uintptr_t)&beside);
	for (int i = 0; i < 500; i++)
		settle();
	for (int i = 0; i < 3; i++)
		ck_assert_int_ge(timerthread_cancel_wait(tt, id[i]), 0);
	ck_assert_uint_ge(atom32_load(&beside), 500);
	end();
}
END_TEST

/* The engine's own sum. */
START_TEST(next_in_step)
{
	static const struct {
		int64_t deadline, period, now, next;
		uint64_t skipped;
	} in[] = {
		{0, 10, 0, 10, 0},
		{0, 10, 9, 10, 0},
		{0, 10, 10, 20, 1},
		{0, 10, 11, 20, 1},
		{-10, 10, -10, 0, 0},
		{-15, 10, 0, 5, 1},
		{5, 1, 5, 6, 0},
		{5, 1, 1000, 1001, 995},
		{0, INT64_MAX, 0, INT64_MAX, 0},
		{1, INT64_MAX, 1, INT64_MAX, 0},
		{0, INT64_MAX, INT64_MAX - 1, INT64_MAX, 0},
		{INT64_MIN, 1, INT64_MIN, INT64_MIN + 1, 0},
		{INT64_MIN, 1, INT64_MAX - 1, INT64_MAX, UINT64_MAX - 1},
		{INT64_MIN, 1, INT64_MAX, INT64_MAX, UINT64_MAX},
		{INT64_MIN, INT64_MAX, INT64_MIN, -1, 0},
		{INT64_MIN, INT64_MAX, -2, -1, 0},
		{INT64_MIN, INT64_MAX, -1, INT64_MAX - 1, 1},
		{INT64_MIN, INT64_MAX, INT64_MAX - 2, INT64_MAX - 1, 1},
		{INT64_MIN, INT64_MAX, INT64_MAX - 1, INT64_MAX, 2},
		{INT64_MAX - 5, 3, INT64_MAX - 4, INT64_MAX - 2, 0},
		{INT64_MAX - 5, 7, INT64_MAX - 5, INT64_MAX, 0},
	};
	uint64_t rng = test_seed();

	for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
		uint64_t overrun = 1;

		ck_assert_int_eq(expiry_next(in[i].deadline, in[i].period,
					     in[i].now, &overrun),
				 in[i].next);
		ck_assert_uint_eq(overrun, 1 + in[i].skipped);
	}
	for (int i = 0; i < 100000; i++) {
		int64_t a = (int64_t)next_random(&rng) >> i % 63;
		int64_t b = (int64_t)next_random(&rng) >> i / 63 % 63;
		int64_t deadline = a < b ? a : b, now = a < b ? b : a;
		int64_t period = (int64_t)(next_random(&rng) >>
					   (1 + random_below(&rng, 62)));
		uint64_t late, next, overrun = 0;

		period += !period;
		next = (uint64_t)expiry_next(deadline, period, now, &overrun);
		late = (uint64_t)now - (uint64_t)deadline;
		ck_assert_uint_eq(overrun, late / (uint64_t)period);
		late %= (uint64_t)period;
		/* The last one that has passed is at now - late. */
		if ((uint64_t)INT64_MAX - (uint64_t)now <
		    (uint64_t)period - late)
			ck_assert_int_eq((int64_t)next, INT64_MAX);
		else
			ck_assert_uint_eq(next - (uint64_t)now,
					  (uint64_t)period - late);
	}
}
END_TEST

int main(void)
{
	const TTest *const any[] = {
		arguments_and_life,
		after_a_delay,
		in_step_with_time,
		missed_before_the_first,
		cancelled_from_its_callback,
		cancelled_between_runs,
		cancelled_during_a_run,
		cancelled_at_any_moment,
		moved_between_runs,
		moved_during_a_run,
		moved_by_itself,
		extreme_times,
		many_runs_use_one_slot,
		others_run_beside_it,
	};
	/* A virtual clock stands still while a callback runs. */
	const TTest *const real_time[] = {
		missed_ones_are_skipped,
	};
	/* The driver makes no difference. */
	const TTest *const once[] = {
		in_step,
		missed_ones_are_skipped_exactly,
		next_in_step,
	};
	TCase *tcase = tcase_create("every");

	ADD_TESTS(tcase, any);
	if (driver_tested() != ON_VIRTUAL)
		ADD_TESTS(tcase, real_time);
	if (driver_tested() == ON_THREAD)
		ADD_TESTS(tcase, once);
	return run_case("every", tcase);
}
