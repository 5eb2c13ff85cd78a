/* SPDX-License-Identifier: MIT */
#include "away.h"
#include "clock.h"
#include "crank.h"
#include "entries.h"
#include "harness.h"

enum { LIVE = 3000, DEAD = 1000, ALL = LIVE + DEAD };

static const int64_t far = INT64_C(3600000000000);

static struct wakeup wakeup;
static struct intake *intake;
static struct limit limit;
static struct await await;
static struct engine engine;
static uint64_t ids[ALL];
static uint64_t again; /* this timer arms itself again */
static int runs;

static void fn(void *arg)
{
	(void)arg;
	runs++;
	if (again)
		ck_assert_int_eq(bucket_reschedule(&intake->bucket[0], &wakeup,
						   intake_slot(intake, again),
						   again, -runs, true),
				 0);
}

static void begin(bool batch)
{
	struct engine_parts parts = {
		.wakeup = &wakeup,
		.await = &await,
		.limit = &limit,
		.clock = CLOCK_MONOTONIC,
		.batch = batch,
	};

	wakeup_init(&wakeup);
	await_init(&await);
	parts.intake = intake = intake_create(1);
	ck_assert_ptr_nonnull(intake);
	intake_open(intake);
	ck_assert(engine_init(&engine, &parts));
}

static void end(void)
{
	pending_check(&engine.pending);
	bucket_check(&intake->bucket[0]);
	engine_destroy(&engine);
	intake_destroy(intake);
}

static int64_t now(void)
{
	return clock_now(CLOCK_MONOTONIC);
}

static void turn(void)
{
	ck_assert(crank(&engine, engine.parts.batch ? now() : INT64_MAX));
}

/* The next turn finds that so much time has passed. */
static void let_pass(int64_t ns)
{
	engine.tidy.began = now() - ns;
}

static uint64_t schedule(int64_t deadline, int64_t period)
{
	uint64_t id;

	ck_assert_int_eq(
		bucket_schedule(&intake->bucket[0], &wakeup,
				&(struct timer){deadline, period, fn, NULL},
				&id),
		0);
	return id;
}

static void cancel(uint64_t id)
{
	ck_assert_int_ge(slot_cancel(intake_slot(intake, id), id), 0);
}

static void schedule_all(void)
{
	for (int i = 0; i < ALL; i++)
		ids[i] = schedule(now() + far + i, 0);
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
	let_pass(TIDY_NS / 2);
	turn();
	ck_assert_uint_ge(entries_of(&engine.pending), ALL);
	let_pass(TIDY_NS);
	turn();
	ck_assert_uint_gt(entries_of(&engine.pending), LIVE + DEAD / 2);
	let_pass((int64_t)ALL * TIDY_LOOK_NS);
	turn();
	/* In a heap one may move from ahead to behind. */
	ck_assert_uint_le(entries_of(&engine.pending), LIVE + LIVE / 100);
}

/* What is due later than all that the thread has stays in the bucket. */
START_TEST(finds_in_buckets)
{
	begin(false);
	schedule(now() + far / 2, 0);
	turn();
	schedule_all();
	find();
	ck_assert_uint_eq(entries_pending(&engine.pending), 1);
	end();
}
END_TEST

START_TEST(finds_in_what_is_pending)
{
	begin(false);
	schedule_all();
	turn();
	find();
	ck_assert_uint_eq(queue_size(&intake->bucket[0].arrivals), 0);
	end();
}
END_TEST

/* Once is enough, whatever the time that has passed. */
START_TEST(goes_around_once)
{
	begin(true);
	schedule(now() + far / 2, 0);
	turn();
	schedule_all();
	let_pass(INT64_MAX);
	for (int turns = 0; turns == 0 || engine.tidy.active; turns++) {
		ck_assert_int_le(turns, ALL / 8 / 16 + 1);
		turn();
		ck_assert_uint_le(engine.steps, 16);
		ck_assert(!engine.tidy.active || engine.next <= engine.now);
	}
	ck_assert_uint_eq(entries_of(&engine.pending), ALL + 1);
	end();
}
END_TEST

/* Takes the first one out, and sends it back by way of its bucket. */
static void send_back(void)
{
	struct entry e = pending_take(&engine.pending);

	ck_assert(pending_keep(&engine.pending));
	ck_assert(away_keep(&intake->bucket[0], &wakeup,
			    intake_slot_of(intake, &e), &e));
}

/* Nobody fetches them, because the one that is left is due before them. */
START_TEST(finds_what_is_on_its_way_back)
{
	enum { BACK = 1000 };
	int64_t first = now() + far;
	struct entry e;

	begin(false);
	schedule(first, 0);
	for (int i = 0; i < BACK; i++)
		ids[i] = schedule(first + 1 + i, 0);
	turn();
	e = pending_take(&engine.pending);
	for (int i = 0; i < BACK; i++)
		send_back();
	pending_put_back(&engine.pending, e);
	let_pass(0);
	turn();
	ck_assert_uint_eq(engine.pending.heap.kept, BACK);
	for (int i = 0; i < BACK; i++)
		cancel(ids[i]);
	let_pass(TIDY_NS);
	turn();
	ck_assert_ptr_null(intake->bucket[0].back);
	ck_assert_uint_eq(entries_of(&engine.pending), 1);
	ck_assert_uint_eq(engine.pending.heap.kept, 0);
	end();
}
END_TEST

/* It is due, but for the next batch: each one ends. */
START_TEST(what_is_back_waits_for_the_next_batch)
{
	begin(true);
	again = schedule(0, 0);
	for (int i = 1; i < 10; i++) {
		let_pass(TIDY_NS);
		turn();
		ck_assert_int_eq(runs, i);
		ck_assert_ptr_null(intake->bucket[0].back);
		ck_assert_int_le(engine.next, engine.now);
	}
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		finds_in_buckets,
		finds_in_what_is_pending,
		goes_around_once,
		finds_what_is_on_its_way_back,
		what_is_back_waits_for_the_next_batch,
	};

	return RUN_TESTS("tidy", tests);
}
