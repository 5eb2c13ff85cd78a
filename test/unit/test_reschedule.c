/* SPDX-License-Identifier: MIT */
/*
 * Moving timers: what callers see, and then what is kept inside.
 */
#include "config.h"

#include "bare.h"
#include "entries.h"
#include "fail_alloc.h"
#include "intake/arrival.h"
#include "intake/expiry.h"
#include "os/clock.h"
#include "timers.h"

#include <sched.h>
#include <string.h>

/*
 * reschedule.c again, under other names and with places to stop at: before or
 * behind one of its loads of a slot's state or ticket "another thread" does its
 * step.
 */
static void (*other_step)(void);
static unsigned loads_until_step;
static bool step_is_behind;

static uint32_t load_and_step(const atom32 *a)
{
	void (*step)(void) = other_step;
	uint32_t value = atom32_load(a);

	if (!step || loads_until_step-- > 0)
		return value;
	other_step = NULL;
	step();
	return step_is_behind ? value : atom32_load(a);
}

int stepped_reschedule(struct bucket *b, struct wakeup *w, struct slot *s,
		       uint64_t id, int64_t deadline, bool inside);
int stepped_get_deadline(struct bucket *b, struct slot *s, uint64_t id,
			 int64_t *ret_deadline);

#define bucket_reschedule   stepped_reschedule
#define bucket_get_deadline stepped_get_deadline
#define atom32_load         load_and_step
#include "intake/reschedule.c"
#undef bucket_reschedule
#undef bucket_get_deadline
#undef atom32_load

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

START_TEST(in_order_of_the_new_deadlines)
{
	enum { N = 500 };
	uint64_t rng = test_seed();
	timerthread_id id[N];
	int64_t soon;

	start();
	hold_driver();
	soon = timerthread_now(tt) + 10 * MS;
	for (int i = 0; i < N; i++)
		id[i] = schedule(soon + (int64_t)random_below(&rng, 1000), note,
				 (void *)(intptr_t)i);
	for (int i = N - 1; i >= 0; i--)
		ck_assert_int_eq(reschedule(id[i], soon + 250 + i), 0);
	schedule(soon + 1000, post, &ran);
	sem_post(&go);
	wait_for(&ran);
	ck_assert_int_eq(sequence_length, N);
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(sequence[i], i);
	end();
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

/*
 * The inside, with the engine turned by hand: what is due is in the past,
 * what is not is an hour away, so that nothing depends on the time.
 */
static int64_t far;

static void hand_begin(void)
{
	bare_begin(2, CLOCK_MONOTONIC);
	far = clock_now(CLOCK_MONOTONIC) + HOUR;
}

static int hand_move(uint64_t id, int64_t deadline, bool inside)
{
	return bucket_reschedule(intake_bucket(engine.intake, slot_index(id)),
				 &engine.wakeup, intake_slot(engine.intake, id),
				 id, deadline, inside);
}

static int64_t hand_run(bool reclaim)
{
	if (reclaim)
		engine.reclaim.began -= HOUR; /* as if time had passed */
	return bare_turn();
}

static size_t hand_slots(void)
{
	size_t n = 0;

	for (uint32_t i = 0; i < engine.intake->n; i++)
		n += slots_used(&engine.intake->bucket[i].slots);
	return n;
}

/* What comes in while rent rests, and a few; see test_rent.c. */
#define RESTED (64 + 8)

/* To and fro, with one timer and with many, idle and while others run. */
START_TEST(to_and_fro_leaves_little)
{
	static const int live[] = {1, 10, 1000};
	static uint64_t ids[1000];
	uint64_t rng = test_seed();

	for (int w = 0; w < 6; w++) {
		int n = live[w % 3];
		size_t most = 0, used;

		hand_begin();
		for (int i = 0; i < n; i++)
			ids[i] = bare_schedule((uint32_t)i % 2, far, never,
					       NULL);
		used = hand_slots();
		for (int i = 0; i < 8000 + 10 * n; i++) {
			uint64_t id = ids[random_below(&rng, (uint64_t)n)];

			ck_assert_int_eq(hand_move(id, far - 1 - i, false), 0);
			ck_assert_int_eq(hand_move(id, far + i, false), 0);
			if (w >= 3 && i % 1000 == 0)
				hand_run(true);
			if (entries_of(&engine.pending) > most)
				most = entries_of(&engine.pending);
		}
		ck_assert_uint_le(most, 4 * (size_t)n + 4 * RESTED);
		ck_assert_uint_eq(hand_slots(), used);
		for (int i = 0; i < n; i++)
			ck_assert_int_eq(bare_cancel(ids[i]), 0);
		bare_end();
	}
}
END_TEST

START_TEST(later_makes_no_entry)
{
	uint32_t seq;
	size_t entries;
	uint64_t id;

	hand_begin();
	id = bare_schedule(0, far, never, NULL);
	for (int round = 0; round < 2; round++) {
		entries = entries_of(&engine.pending);
		ck_assert_uint_eq(entries, 1);
		seq = atom32_load(&engine.wakeup.seq);
		for (int i = 0; i < 1000; i++)
			ck_assert_int_eq(
				hand_move(id, far + round * 1000 + i, false),
				0);
		ck_assert_uint_eq(entries_of(&engine.pending), entries);
		ck_assert_uint_eq(atom32_load(&engine.wakeup.seq), seq);
		/* Then the same once the timer thread has it. */
		hand_run(true);
	}
	bare_end();
}
END_TEST

/*
 * Random steps against an array.
 */
enum { MODELLED = 150 };

static struct modelled {
	uint64_t id;
	int64_t deadline;
	int64_t turn; /* the order of the calls, if they are due at once */
	bool live, in_time;
	int rearms;
} model[MODELLED];

static int64_t turns;

static int modelled_runs;
static int64_t last_run;
static uint64_t model_rng;

static int64_t random_deadline(bool due)
{
	int64_t r = (int64_t)random_below(&model_rng, 500);

	return due ? r - 1000 : far + r;
}

static void run_modelled(void *arg)
{
	struct modelled *m = arg;

	m->in_time = m->live && m->deadline < 0 && m->turn > last_run;
	last_run = m->turn;
	m->live = false;
	modelled_runs++;
	if (m->rearms-- > 0) {
		m->deadline = random_deadline(false);
		m->turn = ++turns;
		m->live = hand_move(m->id, m->deadline, true) == 0;
	}
}

static void model_run(bool reclaim)
{
	int64_t next = INT64_MAX, slept;
	int due = 0;

	for (int i = 0; i < MODELLED; i++) {
		due += model[i].live && model[i].deadline < 0;
		model[i].in_time = true;
	}
	modelled_runs = 0;
	last_run = INT64_MIN;
	slept = hand_run(reclaim);
	ck_assert_int_eq(modelled_runs, due);
	for (int i = 0; i < MODELLED; i++) {
		ck_assert(model[i].in_time);
		if (model[i].live && model[i].deadline < next)
			next = model[i].deadline;
	}
	ck_assert_int_le(slept, next);
}

static void model_step(struct modelled *m, uint64_t dice)
{
	if (!m->live) {
		ck_assert_int_eq(m->id ? hand_move(m->id, 0, false) : -ENOENT,
				 -ENOENT);
		ck_assert_int_eq(m->id ? bare_cancel(m->id) : -ENOENT, -ENOENT);
		m->deadline = random_deadline(dice % 3 == 0);
		m->turn = ++turns;
		m->rearms = (int)(dice % 4) - 1;
		m->id = bare_schedule(dice % 2, m->deadline, run_modelled, m);
		m->live = true;
	} else if (dice < 85) {
		m->deadline = random_deadline(dice % 4 == 0);
		m->turn = ++turns;
		ck_assert_int_eq(hand_move(m->id, m->deadline, false), 0);
	} else {
		ck_assert_int_eq(bare_cancel(m->id), 0);
		m->live = false;
	}
}

START_TEST(random_against_array)
{
	enum { STEPS = 20000 };

	model_rng = test_seed();
	hand_begin();
	for (int step = 0; step < STEPS; step++) {
		/* At times few of them, at times many. */
		uint64_t some = step / 5000 % 2 ? MODELLED : 40;
		struct modelled *m = &model[random_below(&model_rng, some)];
		uint64_t dice = random_below(&model_rng, 100);
		int64_t deadline;

		if (random_below(&model_rng, 20) == 0)
			model_run(dice % 2);
		else
			model_step(m, dice);
		bare_check();
		ck_assert_uint_le(entries_of(&engine.pending),
				  4 * MODELLED + 4 * RESTED);
		if (!m->id)
			continue;
		ck_assert_int_eq(
			bucket_get_deadline(
				intake_bucket(engine.intake, slot_index(m->id)),
				intake_slot(engine.intake, m->id), m->id,
				&deadline),
			m->live ? 0 : -ENOENT);
		if (m->live)
			ck_assert_int_eq(deadline, m->deadline);
	}
	for (int i = 0; i < MODELLED; i++) {
		if (!model[i].live)
			continue;
		model[i].rearms = 0;
		model[i].deadline = -1;
		model[i].turn = ++turns;
		ck_assert_int_eq(hand_move(model[i].id, -1, false), 0);
	}
	model_run(true);
	ck_assert_uint_le(hand_slots(), 4 * MODELLED);
	bare_end();
}
END_TEST

/*
 * Steps of another thread in the middle of a move to an earlier time.  What
 * is pending then is in the engine's heap.
 */
static uint64_t stepped_id;
static int stepped_runs, stepped_result;

static void stepped_callback(void *arg)
{
	(void)arg;
	stepped_runs++;
}

/* As the timer thread, coming upon the entry. */
static void step_expire(void)
{
	struct entry e = pending_take(&engine.pending);
	struct slot *s = intake_slot_of(engine.intake, &e);
	uint64_t overrun = 0;

	if (expiry_begin(intake_bucket(engine.intake, e.index), s, &e,
			 INT64_MAX, &overrun) != EXPIRY_RUN)
		return;
	stepped_callback(NULL);
	stepped_result = !expiry_end(s);
	intake_recycle(engine.intake, s);
}

static void step_cancel(void)
{
	stepped_result = bare_cancel(stepped_id);
}

/* And then the driver comes upon it. */
static void step_cancel_and_look(void)
{
	int64_t next;

	step_cancel();
	while (!pending_next(&engine.pending, far, &next))
		;
}

/* The driver has the entry of a timer that is then rescheduled. */
static void begin_step(void)
{
	struct visit v;
	int64_t next;

	hand_begin();
	stepped_id = bare_schedule(0, far, stepped_callback, NULL);
	visit_begin(&v, far, far);
	bucket_collect(&engine.intake->bucket[0], &engine.wakeup, &v,
		       &engine.pending.spares);
	pending_add(&engine.pending, v.cursor.row[0]);
	while (!pending_next(&engine.pending, far, &next))
		;
	ck_assert_uint_eq(engine.pending.heap.n, 1);
	stepped_runs = 0;
	stepped_result = -1;
}

/* No slot is left, whatever came of it. */
static void end_step(void)
{
	hand_run(true);
	bare_check();
	ck_assert_int_eq(bare_cancel(stepped_id), -ENOENT);
	ck_assert_uint_eq(hand_slots(), 0);
	bare_end();
}

/* False: there are not so many loads. */
static bool interrupted_at(void (*step)(void), unsigned load, bool behind)
{
	bool stepped;

	begin_step();
	other_step = step;
	loads_until_step = load;
	step_is_behind = behind;
	stepped_reschedule(&engine.intake->bucket[0], &engine.wakeup,
			   intake_slot(engine.intake, stepped_id), stepped_id,
			   -1, false);
	stepped = !other_step;
	other_step = NULL;
	if (stepped) {
		hand_run(true);
		ck_assert_int_ne(stepped_result, -1);
	}
	end_step();
	return stepped;
}

/* At each moment; how often it runs, and what the step must have come to. */
static void interrupted(void (*step)(void), int result, int runs)
{
	unsigned moments = 0;

	for (unsigned load = 0, behind = 0;
	     interrupted_at(step, load, behind > 0); moments++) {
		ck_assert_int_eq(stepped_result, result);
		ck_assert_int_eq(stepped_runs, runs);
		load += behind;
		behind = !behind;
	}
	ck_assert_uint_ge(moments, 4);
}

/* Begun just then: it runs once. */
START_TEST(moved_while_it_begins)
{
	interrupted(step_expire, true, 1);
}
END_TEST

/* Cancelled just then: it never runs. */
START_TEST(moved_while_it_is_cancelled)
{
	interrupted(step_cancel, 0, 0);
}
END_TEST

START_TEST(moved_while_it_is_cancelled_and_freed)
{
	interrupted(step_cancel_and_look, 0, 0);
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

/* A move needs no memory: what has no entry any more is stranded. */
START_TEST(out_of_memory)
{
	enum { N = 1000 };
	static uint64_t ids[N];

	hand_begin();
	for (int i = 0; i < N; i++)
		ids[i] = bare_schedule(0, far + i, stepped_callback, NULL);
	fail_arm(0, UINT32_MAX);
	for (int i = 0; i < N; i++) {
		int64_t deadline, earlier = i % 2 ? -1 : far - N - i;

		ck_assert_int_eq(hand_move(ids[i], earlier, false), 0);
		ck_assert_int_eq(
			bucket_get_deadline(&engine.intake->bucket[0],
					    intake_slot(engine.intake, ids[i]),
					    ids[i], &deadline),
			0);
		ck_assert_int_eq(deadline, earlier);
	}
	ck_assert_uint_gt(fail_disarm(), 0);
	ck_assert_ptr_nonnull(engine.intake->bucket[0].stranded);
	hand_run(true);
	ck_assert_int_eq(stepped_runs, N / 2);
	for (int i = 0; i < N; i += 2)
		ck_assert_int_eq(hand_move(ids[i], -1, false), 0);
	hand_run(true);
	ck_assert_int_eq(stepped_runs, N);
	bare_end();
}
END_TEST

#endif

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
		to_and_fro_leaves_little,
		later_makes_no_entry,
		random_against_array,
		moved_while_it_begins,
		moved_while_it_is_cancelled,
		moved_while_it_is_cancelled_and_freed,
#ifndef FAIL_ALLOC_UNAVAILABLE
		out_of_memory,
#endif
	};

	TCase *tcase = tcase_create("reschedule");

	ADD_TESTS(tcase, any);
	if (driver_tested() != ON_VIRTUAL)
		ADD_TESTS(tcase, asleep);
	if (driver_tested() == ON_THREAD)
		ADD_TESTS(tcase, once);
	return run_case("reschedule", tcase);
}
