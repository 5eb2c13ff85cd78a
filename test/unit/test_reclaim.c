/* SPDX-License-Identifier: MIT */
#include "bare.h"
#include "engine/reclaim.h"
#include "entries.h"
#include "intake/handover.h"
#include "intake/rent.h"

enum { LIVE = 3000, DEAD = 1000, ALL = LIVE + DEAD, MANY = 100 };

static const int64_t far = INT64_C(3600000000000);

static uint64_t ids[ALL];
static uint64_t again; /* this timer arms itself again */
static int runs;

static void fn(void *arg)
{
	(void)arg;
	runs++;
	if (again)
		ck_assert_int_eq(
			bucket_reschedule(&engine.intake->bucket[0],
					  &engine.wakeup,
					  intake_slot(engine.intake, again),
					  again, -runs, true),
			0);
}

static void begin_with(uint32_t buckets, bool batch)
{
	engine_init(&engine, NULL);
	engine.virtual = virtual_create(2 * far);
	engine.batch = batch;
	bare_open(buckets, CLOCK_MONOTONIC);
	intake_hold_far(engine.intake);
}

static void begin(bool batch)
{
	begin_with(1, batch);
}

static int64_t now(void)
{
	return virtual_now(engine.virtual);
}

static void turn(void)
{
	ck_assert(engine_turn(&engine, now()));
}

/* The next turn finds that so much has passed since it reclaimed last. */
static void let_pass(int64_t ns)
{
	engine.reclaim.began = now() - ns;
}

static uint64_t schedule(int64_t deadline)
{
	return bare_schedule(0, deadline, fn, NULL);
}

static void cancel(uint64_t id)
{
	ck_assert_int_ge(slot_cancel(intake_slot(engine.intake, id), id), 0);
}

static void schedule_all(void)
{
	for (int i = 0; i < ALL; i++)
		ids[i] = schedule(now() + far + i);
}

static void cancel_the_last(void)
{
	for (int i = LIVE; i < ALL; i++)
		cancel(ids[i]);
}

/*
 * It does not begin too early; a little time pays for a few looks; and once
 * around finds those behind all that live.
 */
static void find(void)
{
	cancel_the_last();
	let_pass(RECLAIM_NS / 2);
	turn();
	ck_assert_uint_ge(entries_of(&engine.pending), ALL);
	let_pass(RECLAIM_NS);
	turn();
	ck_assert_uint_gt(entries_of(&engine.pending), LIVE + DEAD / 2);
	let_pass((int64_t)ALL * RECLAIM_LOOK_NS);
	turn();
	/* In a heap one may move from ahead to behind. */
	ck_assert_uint_le(entries_of(&engine.pending), LIVE + LIVE / 100);
}

/* What is due later than all that the thread has stays in the bucket. */
START_TEST(finds_in_buckets)
{
	begin(false);
	schedule(now() + far / 2);
	ck_assert_int_eq(engine.reclaim.began, now());
	turn();
	schedule_all();
	find();
	ck_assert_uint_eq(entries_pending(&engine.pending), 1);
	bare_end();
}
END_TEST

START_TEST(finds_in_what_was_collected)
{
	begin(false);
	schedule_all();
	turn();
	find();
	ck_assert_uint_eq(queue_size(&engine.intake->bucket[0].arrivals), 0);
	bare_end();
}
END_TEST

/*
 * Once is enough, whatever the time that has passed; and a batch leaves a part
 * of it to the next one, which does not wait for the slack.
 */
START_TEST(goes_around_once)
{
	int turns = 0;

	begin(true);
	engine.wakeup.slack = far;
	schedule(now() + far / 2);
	turn();
	for (int i = 0; i < 3; i++)
		schedule_all();
	let_pass(INT64_MAX);
	do {
		turn();
		turns++;
		ck_assert_uint_lt(engine.effort, 17 * BLOCK_ENTRIES);
		ck_assert(!engine.reclaim.active ||
			  engine.next <= engine.now - engine.wakeup.slack);
	} while (engine.reclaim.active);
	ck_assert_int_ge(turns, 2);
	ck_assert_int_le(turns, 2 * 3 * ALL / (16 * BLOCK_ENTRIES));
	ck_assert_uint_eq(entries_of(&engine.pending), 3 * ALL + 1);
	bare_end();
}
END_TEST

/* Whatever was paid for: when all that was in the wheel is gone it is over. */
START_TEST(ends_when_nothing_is_left)
{
	enum { N = 100000 };
	static uint64_t id[N];

	begin(false);
	for (int i = 0; i < N; i++)
		id[i] = schedule(now() + far + i);
	turn();
	ck_assert_uint_gt(engine.pending.filed.wheel.n, N / 2);
	for (int i = 0; i < N; i++)
		cancel(id[i]);
	let_pass(far);
	turn();
	ck_assert_uint_eq(entries_of(&engine.pending), 0);
	bare_end();
}
END_TEST

/* Where time does not pay for a step in each bucket, it begins less often. */
START_TEST(many_buckets_are_looked_at_seldom)
{
	const int64_t step = (int64_t)RENT_RECLAIM * RECLAIM_LOOK_NS;

	begin_with(MANY, false);
	bare_schedule(0, now() + far / 2, fn, NULL);
	turn();
	for (uint32_t i = 0; i < MANY; i++)
		bare_schedule(i, now() + far, fn, NULL);
	let_pass(RECLAIM_NS);
	turn();
	ck_assert_int_eq(engine.reclaim.began, now());
	let_pass(MANY * step - 1);
	turn();
	ck_assert_int_ne(engine.reclaim.began, now());
	let_pass(MANY * step);
	turn();
	ck_assert_int_eq(engine.reclaim.began, now());
	/* The wall clock was set back. */
	let_pass(-1);
	turn();
	ck_assert_int_eq(engine.reclaim.began, now());
	bare_end();
}
END_TEST

/* Takes the first one out, and rearms it. */
static void rearm(void)
{
	struct entry e = pending_take(&engine.pending);

	ck_assert(pending_reserve(&engine.pending));
	ck_assert(handover_postpone(&engine.intake->bucket[0], &engine.wakeup,
				    intake_slot_of(engine.intake, &e), &e));
}

/* Nobody collects them, because the one that is left is due before them. */
START_TEST(finds_the_rearmed)
{
	enum { REARMED = 1000 };
	struct entry e;
	int64_t first;

	begin(false);
	first = now() + far;
	schedule(first);
	for (int i = 0; i < REARMED; i++)
		ids[i] = schedule(first + 1 + i);
	turn();
	e = pending_take(&engine.pending);
	for (int i = 0; i < REARMED; i++)
		rearm();
	pending_put_back(&engine.pending, e);
	let_pass(0);
	turn();
	ck_assert_uint_eq(engine.pending.filed.heap.reserved, REARMED);
	for (int i = 0; i < REARMED; i++)
		cancel(ids[i]);
	let_pass(RECLAIM_NS);
	turn();
	ck_assert_ptr_null(engine.intake->bucket[0].rearmed);
	ck_assert_uint_eq(entries_of(&engine.pending), 1);
	ck_assert_uint_eq(engine.pending.filed.heap.reserved, 0);
	bare_end();
}
END_TEST

/* It is due, but for the next batch: each one ends. */
START_TEST(the_rearmed_wait_for_the_next_batch)
{
	begin(true);
	again = schedule(0);
	for (int i = 1; i < 10; i++) {
		let_pass(RECLAIM_NS);
		turn();
		ck_assert_int_eq(runs, i);
		ck_assert_ptr_null(engine.intake->bucket[0].rearmed);
		ck_assert_int_le(engine.next, engine.now);
	}
	bare_end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		finds_in_buckets,
		finds_in_what_was_collected,
		goes_around_once,
		ends_when_nothing_is_left,
		many_buckets_are_looked_at_seldom,
		finds_the_rearmed,
		the_rearmed_wait_for_the_next_batch,
	};

	return RUN_TESTS("reclaim", tests);
}
