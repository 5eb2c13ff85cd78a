/* SPDX-License-Identifier: MIT */
/*
 * Moving timers, as callers see it.
 */
#include "config.h"

#include "checks/bucket.h"
#include "os/clock.h"
#include "timers.h"

#include <string.h>

/* A timer that counts its runs and looks whether they are early. */
struct counted {
	atom32 runs;
	atom32 early;
	int64_t not_before;
};

static void count(void *arg)
{
	struct counted *c = arg;

	if (timerthread_now(tt) < c->not_before)
		atom32_store(&c->early, 1);
	atom32_add(&c->runs, 1);
}

static void count_and_post(void *arg)
{
	count(arg);
	sem_post(&ran);
}

static int reschedule(timerthread_id id, int64_t deadline)
{
	return timerthread_reschedule(tt, id, deadline);
}

static int reschedule_after(timerthread_id id, int64_t delay)
{
	return timerthread_reschedule_after(tt, id, delay);
}

static void check_moves(timerthread_id id, int result)
{
	ck_assert_int_eq(reschedule(id, 0), result);
	ck_assert_int_eq(reschedule(id, TIMERTHREAD_NEVER), result);
	ck_assert_int_eq(reschedule_after(id, 0), result);
	ck_assert_int_eq(reschedule_after(id, HOUR), result);
}

START_TEST(arguments_and_life)
{
	timerthread_id id;
	int64_t deadline;

	timerthread_id over;

	ck_assert_int_eq(timerthread_reschedule(NULL, 1, 0), -EINVAL);
	ck_assert_int_eq(timerthread_reschedule_after(NULL, 1, 0), -EINVAL);
	ck_assert_int_eq(timerthread_get_deadline(NULL, 1, &deadline), -EINVAL);
	setup();
	ck_assert_int_eq(reschedule(1, 0), -EINVAL);
	ck_assert_int_eq(reschedule(0, 0), -EINVAL);
	ck_assert_int_eq(reschedule_after(1, 0), -EINVAL);
	ck_assert_int_eq(reschedule_after(0, 0), -EINVAL);
	check_not_pending(1);
	ck_assert_int_eq(driver_start(tt), 0);
	id = schedule(TIMERTHREAD_NEVER, never, NULL);
	ck_assert_int_eq(timerthread_get_deadline(tt, id, NULL), -EINVAL);
	over = schedule(0, post, &ran);
	wait_for(&ran);
	settle();
	check_moves(over, -ENOENT);
	check_moves(0, -ENOENT);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	/* That it is stopped comes first, whatever the id. */
	check_moves(id, -ESHUTDOWN);
	check_moves(over, -ESHUTDOWN);
	check_moves(0, -ESHUTDOWN);
	check_moves(UINT64_MAX, -ESHUTDOWN);
	ck_assert_int_eq(deadline_of(id), TIMERTHREAD_NEVER);
	ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	check_not_pending(id);
	end();

	setup();
	ck_assert_int_eq(timerthread_stop(tt), 0);
	check_moves(0, -ESHUTDOWN);
	check_moves(1, -ESHUTDOWN);
	end();
}
END_TEST

/* Neither at the old deadline nor before the new one. */
START_TEST(later)
{
	enum { N = 20 };
	struct counted c[N] = {0};

	start_virtual();
	for (int i = 0; i < N; i++) {
		timerthread_id id = schedule(i * MS, count, &c[i]);

		c[i].not_before = N * MS + i;
		ck_assert_int_eq(reschedule(id, c[i].not_before), 0);
	}
	ck_assert_int_eq(timerthread_advance(tt, N * MS - 1), 0);
	for (int i = 0; i < N; i++) {
		ck_assert_int_eq(timerthread_advance(tt, 1), 1);
		ck_assert_uint_eq(atom32_load(&c[i].runs), 1);
		ck_assert_uint_eq(atom32_load(&c[i].early), 0);
	}
	end();
}
END_TEST

START_TEST(after_is_exact)
{
	static const int64_t delays[][2] = {
		{5, 1005},
		{0, 1000},
		{-1, 999},
		{-1000, 0},
		{-5000, -4000},
		{HOUR, HOUR + 1000},
		{INT64_MIN, INT64_MIN + 1000},
		{INT64_MAX - 1001, INT64_MAX - 1},
		{INT64_MAX - 1000, INT64_MAX},
		{INT64_MAX - 999, TIMERTHREAD_NEVER},
		{TIMERTHREAD_NEVER, TIMERTHREAD_NEVER},
	};
	struct counted c = {0};
	timerthread_id id;

	start_virtual();
	ck_assert_int_eq(timerthread_advance(tt, 1000), 0);
	id = schedule(2000, count, &c);
	for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
		ck_assert_int_eq(reschedule_after(id, delays[i][0]), 0);
		ck_assert_int_eq(deadline_of(id), delays[i][1]);
	}
	ck_assert_int_eq(timerthread_advance(tt, HOUR), 0);
	ck_assert_int_eq(reschedule_after(id, 20), 0);
	ck_assert_int_eq(timerthread_advance(tt, 19), 0);
	ck_assert_int_eq(timerthread_advance(tt, 1), 1);
	ck_assert_int_eq(reschedule_after(id, 20), -ENOENT);
	ck_assert_uint_eq(atom32_load(&c.runs), 1);
	end();

	/* Below 0 a sum can fall short of the first time of all. */
	setup();
	ck_assert_int_eq(timerthread_start_virtual(tt, -1000), 0);
	id = schedule(2000, count, &c);
	ck_assert_int_eq(reschedule_after(id, INT64_MIN), 0);
	ck_assert_int_eq(deadline_of(id), INT64_MIN);
	ck_assert_int_eq(reschedule_after(id, INT64_MAX), 0);
	ck_assert_int_eq(deadline_of(id), INT64_MAX - 1000);
	end();
}
END_TEST

START_TEST(after)
{
	struct counted c = {0};
	timerthread_id id;
	int64_t from;

	start();
	id = schedule(timerthread_now(tt) + HOUR, count_and_post, &c);
	for (int i = 0; i < 10; i++) {
		from = timerthread_now(tt);
		ck_assert_int_eq(reschedule_after(id, (i ^ 5) * HOUR + HOUR),
				 0);
		ck_assert_int_ge(deadline_of(id), from + (i ^ 5) * HOUR + HOUR);
		ck_assert_int_le(deadline_of(id),
				 timerthread_now(tt) + (i ^ 5) * HOUR + HOUR);
	}
	ck_assert_int_eq(reschedule_after(id, TIMERTHREAD_NEVER), 0);
	ck_assert_int_eq(deadline_of(id), TIMERTHREAD_NEVER);
	wait_for_sleep();
	c.not_before = timerthread_now(tt) + MS;
	ck_assert_int_eq(reschedule_after(id, MS), 0);
	wait_for(&ran);
	settle();
	ck_assert_uint_eq(atom32_load(&c.runs), 1);
	ck_assert_uint_eq(atom32_load(&c.early), 0);
	ck_assert_int_eq(reschedule_after(id, MS), -ENOENT);
	/* To the past. */
	id = schedule(TIMERTHREAD_NEVER, count_and_post, &c);
	ck_assert_int_eq(reschedule_after(id, -HOUR), 0);
	wait_for(&ran);
	end();
}
END_TEST

/* The thread sleeps for an hour; were it not woken, this would hang. */
START_TEST(earlier_wakes_the_thread)
{
	int64_t now;

	start();
	now = timerthread_now(tt);
	for (int i = 0; i < 200; i++) {
		struct counted c = {0};
		timerthread_id id = schedule(now + HOUR, count_and_post, &c);

		wait_for_sleep();
		c.not_before = timerthread_now(tt) + i * 1000;
		ck_assert_int_eq(reschedule(id, c.not_before), 0);
		wait_for(&ran);
		settle();
		ck_assert_uint_eq(atom32_load(&c.runs), 1);
		ck_assert_uint_eq(atom32_load(&c.early), 0);
		ck_assert_int_eq(reschedule(id, 0), -ENOENT);
	}
	ck_assert_int_lt(timerthread_now(tt), now + HOUR);
	end();
}
END_TEST

/* A later deadline does not hide that an earlier one comes after it. */
START_TEST(later_and_earlier_again)
{
	struct counted c = {0};
	timerthread_id id;

	start();
	id = schedule(timerthread_now(tt) + HOUR, count_and_post, &c);
	wait_for_sleep();
	ck_assert_int_eq(reschedule(id, timerthread_now(tt) + 2 * HOUR), 0);
	c.not_before = timerthread_now(tt) + MS;
	ck_assert_int_eq(reschedule(id, c.not_before), 0);
	wait_for(&ran);
	settle();
	ck_assert_uint_eq(atom32_load(&c.runs), 1);
	ck_assert_uint_eq(atom32_load(&c.early), 0);
	end();
}
END_TEST

START_TEST(to_the_past)
{
	static const int64_t past[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1};

	start();
	for (size_t i = 0; i < 5; i++) {
		struct counted c = {0};
		timerthread_id id =
			schedule(TIMERTHREAD_NEVER, count_and_post, &c);

		ck_assert_int_eq(reschedule(id, past[i]), 0);
		wait_for(&ran);
		settle();
		ck_assert_uint_eq(atom32_load(&c.runs), 1);
	}
	end();
}
END_TEST

/* To any deadline and back; it is read back each time, and the id stays. */
START_TEST(to_everywhere)
{
	static const int64_t far[] = {
		TIMERTHREAD_NEVER,
		0,
		TIMERTHREAD_NEVER,
		TIMERTHREAD_NEVER - 1,
		TIMERTHREAD_NEVER,
		TIMERTHREAD_NEVER,
		TIMERTHREAD_NEVER / 2,
		1,
		0,
		0,
		TIMERTHREAD_NEVER,
		2,
	};
	struct counted c = {0};
	timerthread_id id;
	int64_t base;

	start();
	base = timerthread_now(tt) + HOUR;
	id = schedule(base, count_and_post, &c);
	ck_assert_int_eq(deadline_of(id), base);
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
			int64_t to = far[i] < 1000 ? base + far[i] : far[i];

			ck_assert_int_eq(reschedule(id, to), 0);
			ck_assert_int_eq(deadline_of(id), to);
		}
		settle();
	}
	ck_assert_uint_eq(atom32_load(&c.runs), 0);
	ck_assert_int_eq(reschedule(id, INT64_MIN), 0);
	wait_for(&ran);
	settle();
	ck_assert_int_eq(reschedule(id, base), -ENOENT);
	check_not_pending(id);
	ck_assert_int_eq(timerthread_cancel(tt, id), -ENOENT);
	ck_assert_uint_eq(atom32_load(&c.runs), 1);
	end();
}
END_TEST

START_TEST(ids_that_name_nothing)
{
	uint64_t rng = test_seed();
	timerthread_id live, cancelled, over;
	int64_t base;

	start();
	base = timerthread_now(tt) + HOUR;
	over = schedule(0, post, &ran);
	wait_for(&ran);
	settle();
	cancelled = schedule(base, never, NULL);
	ck_assert_int_eq(timerthread_cancel(tt, cancelled), 0);
	live = schedule(base, never, NULL);
	ck_assert_int_eq(reschedule(cancelled, 0), -ENOENT);
	ck_assert_int_eq(reschedule(over, 0), -ENOENT);
	check_not_pending(cancelled);
	check_not_pending(over);
	ck_assert_int_eq(reschedule(0, 0), -ENOENT);
	check_not_pending(0);
	ck_assert_int_eq(reschedule(UINT64_MAX, 0), -ENOENT);
	for (int bit = 0; bit < 64; bit++) {
		timerthread_id id = live ^ UINT64_C(1) << bit;

		ck_assert_int_eq(reschedule(id, 0), -ENOENT);
		ck_assert_int_eq(reschedule(id, TIMERTHREAD_NEVER), -ENOENT);
		check_not_pending(id);
	}
	for (int i = 0; i < 50000; i++) {
		timerthread_id id = next_random(&rng);

		if (i % 2)
			id &= UINT64_C(0xffffffff000000ff);
		if (id == live)
			continue;
		ck_assert_int_eq(reschedule(id, i % 3 ? 0 : base), -ENOENT);
		check_not_pending(id);
	}
	/* Other timers come to be in the same slots. */
	for (int i = 0; i < 1000; i++) {
		timerthread_id id = schedule(base, never, NULL);

		ck_assert_int_eq(reschedule(cancelled, 0), -ENOENT);
		ck_assert_int_eq(reschedule(over, 0), -ENOENT);
		ck_assert_int_eq(deadline_of(id), base);
		ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	}
	settle();
	ck_assert_int_eq(deadline_of(live), base);
	end();
}
END_TEST

/* A callback that arms its timer again, and what it was told. */
static struct {
	timerthread_id id;
	int runs, left, result, seen;
	int64_t deadline;
	bool early, wrong;
} again;

static void arm_again(void *arg)
{
	int64_t now = timerthread_now(tt), deadline = 5;

	again.runs++;
	if (now < again.deadline)
		again.early = true;
	if (timerthread_get_deadline(tt, again.id, &deadline) != -ENOENT)
		again.wrong = true;
	if (again.left-- == 0) {
		sem_post(arg);
		return;
	}
	again.deadline = again.left % 2 ? now + 10000 : now - 1;
	again.result = reschedule(again.id, TIMERTHREAD_NEVER);
	if (again.result == 0)
		again.result = reschedule(again.id, again.deadline);
	if (timerthread_get_deadline(tt, again.id, &deadline) != 0 ||
	    deadline != again.deadline || again.result != 0)
		again.wrong = true;
}

START_TEST(armed_again_from_its_callback)
{
	start();
	again.left = 50;
	again.deadline = timerthread_now(tt);
	ck_assert_int_eq(timerthread_schedule(tt, again.deadline, arm_again,
					      &ran, &again.id),
			 0);
	wait_for(&ran);
	settle();
	ck_assert_int_eq(again.runs, 51);
	ck_assert(!again.early);
	ck_assert(!again.wrong);
	ck_assert_int_eq(reschedule(again.id, 0), -ENOENT);
	ck_assert_int_eq(timerthread_cancel(tt, again.id), -ENOENT);
	end();
}
END_TEST

static void arm_between(void *arg)
{
	again.runs++;
	if (again.runs > 1) {
		sem_post(arg);
		return;
	}
	hold(arg);
	again.result = reschedule(again.id, TIMERTHREAD_NEVER);
	hold(arg);
	again.seen = reschedule(again.id, TIMERTHREAD_NEVER);
	sem_post(arg);
}

static void run_arm_between(void)
{
	again.id = schedule(0, arm_between, &ran);
	wait_for(&ran);
}

/* While it runs only its own callback can arm it; then everybody can. */
/* By its own callback, and until then by nobody else. */
static void arm_after(void *arg)
{
	if (again.runs++ == 0) {
		hold(arg);
		again.result = reschedule_after(again.id, HOUR);
	} else {
		sem_post(arg);
	}
}

START_TEST(armed_again_after_a_delay)
{
	int64_t from;

	start();
	from = timerthread_now(tt);
	ck_assert_int_eq(
		timerthread_schedule(tt, 0, arm_after, &ran, &again.id), 0);
	wait_for(&ran);
	ck_assert_int_eq(reschedule_after(again.id, 0), -ENOENT);
	sem_post(&go);
	settle();
	ck_assert_int_eq(again.result, 0);
	ck_assert_int_ge(deadline_of(again.id), from + HOUR);
	ck_assert_int_eq(reschedule_after(again.id, -1), 0);
	wait_for(&ran);
	settle();
	ck_assert_int_eq(again.runs, 2);
	ck_assert_int_eq(reschedule_after(again.id, -1), -ENOENT);
	end();
}
END_TEST

START_TEST(armed_again_then_moved_from_elsewhere)
{
	int64_t base;

	start();
	base = timerthread_now(tt) + HOUR;
	run_arm_between();
	ck_assert_int_eq(reschedule(again.id, 0), -ENOENT);
	ck_assert_int_eq(reschedule(again.id, base), -ENOENT);
	check_not_pending(again.id);
	sem_post(&go);
	wait_for(&ran);
	ck_assert_int_eq(again.result, 0);
	ck_assert_int_eq(deadline_of(again.id), TIMERTHREAD_NEVER);
	ck_assert_int_eq(reschedule(again.id, base), 0);
	ck_assert_int_eq(deadline_of(again.id), base);
	sem_post(&go);
	wait_for(&ran);
	ck_assert_int_eq(again.seen, 0);
	ck_assert_int_eq(deadline_of(again.id), TIMERTHREAD_NEVER);
	settle();
	ck_assert_int_eq(again.runs, 1);
	ck_assert_int_eq(reschedule(again.id, 0), 0);
	wait_for(&ran);
	settle();
	ck_assert_int_eq(again.runs, 2);
	ck_assert_int_eq(reschedule(again.id, 0), -ENOENT);
	end();
}
END_TEST

START_TEST(cancelled_while_running)
{
	start();
	run_arm_between();
	ck_assert_int_eq(timerthread_cancel(tt, again.id), 1);
	sem_post(&go);
	wait_for(&ran);
	ck_assert_int_eq(again.result, -ENOENT);
	ck_assert_int_eq(reschedule(again.id, 0), -ENOENT);
	ck_assert_int_eq(timerthread_cancel(tt, again.id), 1);
	sem_post(&go);
	wait_for(&ran);
	ck_assert_int_eq(again.seen, -ENOENT);
	settle();
	ck_assert_int_eq(again.runs, 1);
	ck_assert_int_eq(timerthread_cancel(tt, again.id), -ENOENT);
	end();
}
END_TEST

START_TEST(cancelled_when_armed_again)
{
	start();
	run_arm_between();
	sem_post(&go);
	wait_for(&ran);
	ck_assert_int_eq(again.result, 0);
	ck_assert_int_eq(timerthread_cancel(tt, again.id), 1);
	check_not_pending(again.id);
	ck_assert_int_eq(reschedule(again.id, 0), -ENOENT);
	sem_post(&go);
	wait_for(&ran);
	ck_assert_int_eq(again.seen, -ENOENT);
	settle();
	ck_assert_int_eq(again.runs, 1);
	ck_assert_int_eq(timerthread_cancel(tt, again.id), -ENOENT);

	/* Once the callback is over, it is a pending timer as any other. */
	again.runs = 0;
	run_arm_between();
	sem_post(&go);
	wait_for(&ran);
	sem_post(&go);
	wait_for(&ran);
	settle();
	ck_assert_int_eq(timerthread_cancel(tt, again.id), 0);
	ck_assert_int_eq(timerthread_cancel(tt, again.id), -ENOENT);
	settle();
	ck_assert_int_eq(again.runs, 1);
	end();
}
END_TEST

static int of_another;

static void move_another(void *arg)
{
	of_another = reschedule(*(timerthread_id *)arg, 0);
	sem_post(&ran);
}

/* From a callback, another timer of the same instance. */
START_TEST(another_from_a_callback)
{
	struct counted c = {0};
	timerthread_id id;

	start();
	id = schedule(TIMERTHREAD_NEVER, count_and_post, &c);
	schedule(0, move_another, &id);
	wait_for(&ran);
	wait_for(&ran);
	ck_assert_int_eq(of_another, 0);
	ck_assert_uint_eq(atom32_load(&c.runs), 1);
	end();
}
END_TEST

START_TEST(cancel_of_a_moved_one)
{
	int64_t base;

	start();
	base = timerthread_now(tt) + HOUR;
	for (int i = 0; i < 4; i++) {
		timerthread_id id = schedule(base, never, NULL);

		ck_assert_int_eq(reschedule(id, base + (i & 1 ? 5 : -5)), 0);
		ck_assert_int_eq(reschedule(id, base + (i & 2 ? 9 : -9)), 0);
		ck_assert_int_eq(timerthread_cancel(tt, id), 0);
		ck_assert_int_eq(timerthread_cancel(tt, id), -ENOENT);
		ck_assert_int_eq(reschedule(id, INT64_MIN), -ENOENT);
		ck_assert_int_eq(reschedule(id, base + 50), -ENOENT);
		check_not_pending(id);
	}
	/* Due, moved away, cancelled: while the thread is held. */
	hold_thread();
	for (int i = 0; i < 100; i++) {
		timerthread_id id = schedule(i, never, NULL);

		ck_assert_int_eq(reschedule(id, i % 2 ? base : i - 1), 0);
		ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	}
	sem_post(&go);
	settle();
	end();
}
END_TEST

START_TEST(earlier_many_times_runs_once)
{
	enum { MOVES = 20000 };
	struct counted c = {0};
	timerthread_id id;
	int64_t base;

	start();
	base = timerthread_now(tt) + HOUR;
	id = schedule(base, count_and_post, &c);
	for (int i = 1; i <= MOVES; i++) {
		ck_assert_int_eq(reschedule(id, base - i), 0);
		if (i % 1000 == 0)
			settle();
	}
	ck_assert_int_eq(deadline_of(id), base - MOVES);
	ck_assert_int_eq(reschedule(id, 0), 0);
	wait_for(&ran);
	settle();
	ck_assert_uint_eq(atom32_load(&c.runs), 1);
	ck_assert_uint_le(arrivals(), 200);
	end();
}
END_TEST

static int sequence[500], sequence_length;

static void note(void *arg)
{
	sequence[sequence_length++] = (int)(intptr_t)arg;
}

/*
 * False: the calls took so long that deadlines had passed, and such a timer is
 * due when it is filed.
 */
static bool moved_in_time(int64_t distance)
{
	enum { N = 500 };
	uint64_t rng = test_seed();
	timerthread_id id[N];
	bool in_time;
	int64_t soon;

	start();
	hold_driver();
	sequence_length = 0;
	soon = timerthread_now(tt) + distance;
	for (int i = 0; i < N; i++)
		id[i] = schedule(soon + (int64_t)random_below(&rng, 1000), note,
				 (void *)(intptr_t)i);
	for (int i = N - 1; i >= 0; i--)
		ck_assert_int_eq(reschedule(id[i], soon + 250 + i), 0);
	in_time = timerthread_now(tt) < soon;
	schedule(soon + 1000, post, &ran);
	sem_post(&go);
	wait_for(&ran);
	ck_assert_int_eq(sequence_length, N);
	for (int i = 0; in_time && i < N; i++)
		ck_assert_int_eq(sequence[i], i);
	end();
	return in_time;
}

START_TEST(in_order_of_the_new_deadlines)
{
	int64_t distance = 10 * MS;

	while (!moved_in_time(distance))
		distance *= 2;
}
END_TEST

/*
 * Each move of a keep-alive timer is a store: no entry, no wake-up.
 */
START_TEST(later_costs_nothing)
{
	timerthread_id id[10];
	size_t entries;
	uint32_t seq;
	int64_t base;

	start();
	base = timerthread_now(tt) + HOUR;
	for (int i = 0; i < 10; i++)
		id[i] = schedule(base, never, NULL);
	settle();
	wait_for_sleep();
	entries = arrivals();
	seq = atom32_load(&tt->engine.wakeup.seq);
	for (int i = 1; i < 50000; i++)
		ck_assert_int_eq(reschedule(id[i % 10], base + i), 0);
	/* Earlier than before, but not than the entry is. */
	for (int i = 50000; i > 0; i--)
		ck_assert_int_eq(reschedule(id[i % 10], base + i), 0);
	ck_assert_uint_eq(arrivals(), entries);
	ck_assert_uint_eq(atom32_load(&tt->engine.wakeup.seq), seq);
	end();
}
END_TEST

/*
 * Threads that move and cancel the same timers while these expire.
 */
enum { RACED = 200, RACERS = 3 };

static struct raced {
	timerthread_id id;
	atom32 runs, cancelled, while_running, again;
} raced[RACED];

/* Now and then arms itself again, as often as it counts in "again". */
static void race_run(void *arg)
{
	struct raced *r = arg;
	uint32_t runs = atom32_load(&r->runs);

	atom32_add(&r->runs, 1);
	if ((r - raced) % 4 == 0 && runs < 3 && reschedule(r->id, 0) == 0)
		atom32_add(&r->again, 1);
}

static void *race(void *arg)
{
	uint64_t rng = test_seed() + (uintptr_t)arg;
	int64_t base = timerthread_now(tt);
	void *wrong = NULL;
	int x;

	for (int i = 0; i < 20 * RACED; i++) {
		struct raced *r = &raced[random_below(&rng, RACED)];
		int64_t when = (int64_t)random_below(&rng, 400000) - 200000;

		if (random_below(&rng, 40) == 0) {
			x = timerthread_cancel(tt, r->id);
			if (x == 0)
				atom32_add(&r->cancelled, 1);
			if (x == 1)
				atom32_store(&r->while_running, 1);
		} else {
			base = i % 64 ? base : timerthread_now(tt);
			x = reschedule(r->id, base + when);
			if (x != 0 && x != -ENOENT)
				wrong = arg;
		}
	}
	return wrong;
}

START_TEST(races)
{
	enum { ROUNDS = 40 };

	start();
	for (int round = 0; round < ROUNDS; round++) {
		pthread_t t[RACERS];
		void *wrong;
		int64_t now = timerthread_now(tt);

		memset(raced, 0, sizeof(raced));
		/* An id is to be there before its callback reads it. */
		hold_thread();
		for (int i = 0; i < RACED; i++)
			raced[i].id =
				schedule(now + i * 2000, race_run, &raced[i]);
		sem_post(&go);
		for (uintptr_t i = 0; i < RACERS; i++)
			ck_assert_int_eq(pthread_create(&t[i], NULL, race,
							(void *)(i + 1)),
					 0);
		for (int i = 0; i < RACERS; i++) {
			pthread_join(t[i], &wrong);
			ck_assert_ptr_null(wrong);
		}
		for (int i = 0; i < RACED; i++)
			reschedule(raced[i].id, 0);
		/* Each of its runs may be due only when the last is over. */
		for (int i = 0; i < 6; i++)
			settle();
		for (int i = 0; i < RACED; i++) {
			struct raced *r = &raced[i];
			uint32_t armed = 1 + atom32_load(&r->again);
			uint32_t over = atom32_load(&r->runs) +
					atom32_load(&r->cancelled);

			/* Armed again, then cancelled before that was over. */
			if (atom32_load(&r->while_running) && armed > 1)
				ck_assert(over == armed || over + 1 == armed);
			else
				ck_assert_uint_eq(over, armed);
			ck_assert_int_eq(timerthread_cancel(tt, r->id),
					 -ENOENT);
		}
	}
	for (uint32_t i = 0; i < tt->engine.intake->n; i++)
		bucket_check(&tt->engine.intake->bucket[i]);
	end();
}
END_TEST

int main(void)
{
	const TTest *const any[] = {
		arguments_and_life,
		after,
		earlier_wakes_the_thread,
		later_and_earlier_again,
		to_the_past,
		to_everywhere,
		ids_that_name_nothing,
		armed_again_from_its_callback,
		armed_again_after_a_delay,
		armed_again_then_moved_from_elsewhere,
		cancelled_while_running,
		cancelled_when_armed_again,
		another_from_a_callback,
		cancel_of_a_moved_one,
		earlier_many_times_runs_once,
		in_order_of_the_new_deadlines,
		races,
	};
	/* What has been moved is put in order as the virtual clock goes on. */
	const TTest *const asleep[] = {
		later_costs_nothing,
	};
	/* The driver makes no difference. */
	const TTest *const once[] = {
		later,
		after_is_exact,
	};

	TCase *tcase = tcase_create("reschedule");

	ADD_TESTS(tcase, any);
	if (driver_tested() != ON_VIRTUAL)
		ADD_TESTS(tcase, asleep);
	if (driver_tested() == ON_THREAD)
		ADD_TESTS(tcase, once);
	return run_case("reschedule", tcase);
}
