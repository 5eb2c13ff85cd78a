/* SPDX-License-Identifier: MIT */
#include "bare.h"
#include "entries.h"

static void fn(void *arg)
{
	(void)arg;
}

static uint64_t schedule(int64_t deadline)
{
	return bare_schedule(deadline & 1, deadline, fn, NULL);
}

static void cancel(uint64_t id)
{
	ck_assert_int_eq(bare_cancel(id), 0);
}

static int order[8], ran;
static uint64_t other;

static void note(void *arg)
{
	order[ran++] = *(const int *)arg;
}

static int schedule_note(int64_t deadline, int *what)
{
	return bucket_schedule(&engine.intake->bucket[0], &engine.wakeup,
			       &(struct timer){deadline, 0, note, what},
			       &other);
}

static void schedule_earlier(void *arg)
{
	note(arg);
	schedule_note(-30, (int *)arg + 1);
	cancel(other);
	schedule_note(-40, (int *)arg + 1);
}

/* What a callback schedules and is earlier than what waits runs before it. */
START_TEST(runs_in_deadline_order)
{
	static int what[] = {0, 1, 2, 3, 4};
	int64_t far;

	bare_begin(2, CLOCK_MONOTONIC);
	far = clock_now(CLOCK_MONOTONIC) + INT64_C(3600000000000);
	ck_assert_int_eq(schedule_note(-20, &what[3]), 0);
	ck_assert_int_eq(schedule_note(far, &what[4]), 0);
	ck_assert_int_eq(
		bucket_schedule(&engine.intake->bucket[1], &engine.wakeup,
				&(struct timer){INT64_MIN, 0, schedule_earlier,
						&what[1]},
				NULL),
		0);
	ck_assert_int_eq(schedule_note(INT64_MIN, &what[0]), 0);
	cancel(other);
	ck_assert_int_eq(bare_turn(), far);
	ck_assert_int_eq(ran, 3);
	ck_assert_int_eq(order[0], 1);
	ck_assert_int_eq(order[1], 2);
	ck_assert_int_eq(order[2], 3);
	bare_end();
}
END_TEST

/*
 * Many in flight, cancelled in order and long before they are due, while a
 * nearer timer waits: what is kept must follow the live.
 */
START_TEST(holds_few_of_the_dead)
{
	enum { WINDOW = 20000, PAIRS = 30 * WINDOW, TURN = 3000 };
	static uint64_t ring[WINDOW];
	const int64_t hour = INT64_C(3600000000000);
	int64_t base;

	bare_begin(2, CLOCK_MONOTONIC);
	base = clock_now(CLOCK_MONOTONIC) + hour;
	schedule(base - hour / 2);
	for (int i = 0; i < PAIRS; i++) {
		if (i >= WINDOW)
			cancel(ring[i % WINDOW]);
		ring[i % WINDOW] = schedule(base + i);
		if (i % TURN == 0) {
			engine.reclaim.began -=
				hour; /* as if time had passed */
			bare_turn();
		}
		ck_assert_uint_le(entries_of(&engine.pending), 4 * WINDOW);
	}
	for (uint32_t i = 0; i < engine.intake->n; i++)
		ck_assert_uint_le(engine.intake->bucket[i].slots.fresh,
				  3 * WINDOW);
	bare_end();
}
END_TEST

/* All are cancelled and one timer runs: all slots are free again. */
START_TEST(recycles_all)
{
	enum { N = 100000 };
	static uint64_t ids[N];
	const int64_t hour = INT64_C(3600000000000);
	int64_t base;

	bare_begin(2, CLOCK_MONOTONIC);
	base = clock_now(CLOCK_MONOTONIC) + hour;
	for (int i = 0; i < N; i++) {
		ids[i] = schedule(base + i);
		if (i == N / 2)
			bare_turn();
	}
	for (int i = 0; i < N; i++)
		cancel(ids[i]);
	engine.reclaim.began -= hour;
	schedule(-1);
	bare_turn();
	ck_assert_uint_eq(entries_of(&engine.pending), 0);
	ck_assert_uint_le(engine.pending.filed.heap.chunks, 2);
	for (uint32_t i = 0; i < engine.intake->n; i++) {
		struct slots *t = &engine.intake->bucket[i].slots;
		size_t unused = 0;

		bucket_check(&engine.intake->bucket[i]);
		for (struct slot *s = t->free; s; s = s->next)
			unused++;
		ck_assert_uint_eq(unused, t->fresh - SLOT_FIRST_NUMBER);
	}
	bare_end();
}
END_TEST

static void stop(void *arg)
{
	note(arg);
	wakeup_stop(&engine.wakeup);
}

START_TEST(stops_between_callbacks)
{
	static int what = 7;

	bare_begin(2, CLOCK_MONOTONIC);
	ck_assert_int_eq(
		bucket_schedule(&engine.intake->bucket[0], &engine.wakeup,
				&(struct timer){-2, 0, stop, &what}, NULL),
		0);
	ck_assert_int_eq(schedule_note(-1, &what), 0);
	bare_turn();
	ck_assert_int_eq(ran, 1);
	bare_end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		runs_in_deadline_order,
		holds_few_of_the_dead,
		recycles_all,
		stops_between_callbacks,
	};

	return RUN_TESTS("turn", tests);
}
