/* SPDX-License-Identifier: MIT */
#include "bare.h"
#include "checks/slot_heap.h"
#include "engine/reclaim.h"
#include "entries.h"
#include "intake/garbage.h"
#include "intake/handover.h"
#include "intake/rent.h"

enum { LIVE = 2800, DEAD = 1000, ALL = LIVE + DEAD, MANY = 100 };

static const int64_t far = INT64_C(3600000000000);

static uint64_t ids[ALL];

static void fn(void *arg)
{
	(void)arg;
}

static void begin(uint32_t buckets)
{
	engine_init(&engine, NULL);
	engine.watch = WATCH_VIRTUAL(2 * far);
	bare_open(buckets, CLOCK_MONOTONIC);
}

static int64_t now(void)
{
	return watch_now(&engine.watch);
}

static void turn(void)
{
	ck_assert(engine_turn(&engine, now()));
}

/* What a turn has begun. */
static void finish(void)
{
	while (engine.next == INT64_MIN)
		turn();
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

/* At these distances, by turns: in as many lanes. */
static void schedule_all(uint32_t buckets, unsigned distances)
{
	for (unsigned i = 0; i < ALL; i++)
		ids[i] = bare_schedule(i % buckets,
				       now() + (far >> 4 * (i % distances)) + i,
				       fn, NULL);
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
	let_pass(RECLAIM_NS - 1);
	turn();
	ck_assert_int_ne(engine.reclaim.began, now());
	ck_assert_uint_eq(entries_of(&engine.pending), ALL);
	ck_assert_uint_eq(bare_slots_used(), ALL);
	let_pass(RECLAIM_NS);
	turn();
	ck_assert_int_eq(engine.reclaim.began, now());
	ck_assert_uint_gt(entries_of(&engine.pending), LIVE + DEAD / 2);
	let_pass((int64_t)ALL * RECLAIM_LOOK_NS);
	turn();
	finish();
	ck_assert_uint_le(bare_slots_used(), LIVE + DEAD / 10);
	/* There are holes in the last block of each lane. */
	ck_assert_uint_le(entries_of(&engine.pending), LIVE + LIVE / 10);
	/* What lives is left alone, and was not collected. */
	ck_assert_uint_ge(bare_slots_used(), LIVE);
	ck_assert_uint_eq(entries_pending(&engine.pending), 0);
	for (int i = 0; i < LIVE; i++)
		ck_assert_int_eq(bare_cancel(ids[i]), 0);
}

START_TEST(finds_in_a_bucket)
{
	begin(1);
	ck_assert_int_eq(engine.reclaim.began, now());
	schedule_all(1, 1);
	find();
	bare_end();
}
END_TEST

START_TEST(finds_in_all_lanes)
{
	begin(1);
	schedule_all(1, 4);
	find();
	bare_end();
}
END_TEST

START_TEST(finds_in_all_buckets)
{
	begin(5);
	schedule_all(5, 3);
	find();
	bare_end();
}
END_TEST

START_TEST(finds_those_behind_many)
{
	enum { N = 16 * BLOCK_ENTRIES - 1, OVER = 1000 };
	static uint64_t id[N];

	begin(1);
	for (int i = 0; i < N; i++)
		id[i] = schedule(now() + far + i);
	for (int i = N - OVER; i < N; i++)
		cancel(id[i]);
	let_pass((int64_t)N * RECLAIM_LOOK_NS);
	turn();
	finish();
	ck_assert_uint_le(entries_of(&engine.pending), N - OVER * 9 / 10);
	bare_end();
}
END_TEST

/*
 * Once or twice is enough, whatever the time that has passed; and a turn leaves
 * a part of it to the next one, which does not wait for the slack.
 */
START_TEST(goes_around_and_ends)
{
	int turns = 0;

	begin(1);
	engine.wakeup.slack = far;
	for (int i = 0; i < 3; i++)
		schedule_all(1, 1);
	let_pass(INT64_MAX);
	do {
		turn();
		turns++;
		ck_assert_uint_lt(engine.effort, 17 * BLOCK_ENTRIES);
		ck_assert(!engine.reclaim.active || engine.next == INT64_MIN);
	} while (engine.reclaim.active);
	ck_assert_int_ge(turns, 2);
	ck_assert_int_le(turns, 2 + 2 * 3 * ALL / (16 * BLOCK_ENTRIES));
	ck_assert_uint_eq(entries_of(&engine.pending), 3 * ALL);
	/* Not again before some time has passed. */
	turn();
	ck_assert(!engine.reclaim.active);
	ck_assert_uint_eq(engine.effort, 0);
	bare_end();
}
END_TEST

/* The driver is not woken for it. */
START_TEST(ends_no_sleep)
{
	begin(1);
	schedule_all(1, 1);
	cancel_the_last();
	turn();
	ck_assert_int_eq(engine.next, INT64_MAX);
	ck_assert_int_eq(wakeup_arrivals(&engine.wakeup), now() + far);
	bare_end();
}
END_TEST

/* Whatever was paid for: when nothing is left it is over. */
START_TEST(ends_when_nothing_is_left)
{
	enum { N = 100000 };
	static uint64_t id[N];

	begin(1);
	for (int i = 0; i < N; i++)
		id[i] = schedule(now() + far + i);
	for (int i = 0; i < N; i++)
		cancel(id[i]);
	let_pass(far);
	turn();
	finish();
	ck_assert(!engine.reclaim.active);
	ck_assert_uint_eq(entries_of(&engine.pending), 0);
	ck_assert_uint_eq(bare_slots_used(), 0);
	bare_end();
}
END_TEST

/* While it finds much it costs nothing. */
START_TEST(goes_on_while_it_finds_much)
{
	begin(1);
	schedule_all(1, 1);
	for (int i = 0; i < ALL; i++) {
		if (i % 8)
			cancel(ids[i]);
	}
	let_pass(RECLAIM_NS);
	turn();
	finish();
	ck_assert_uint_le(entries_of(&engine.pending), ALL / 8 + ALL / 50);
	bare_end();
}
END_TEST

/* Where time does not pay for a step in each bucket, it begins less often. */
START_TEST(many_buckets_are_looked_at_seldom)
{
	const int64_t step = (int64_t)RENT_RECLAIM * RECLAIM_LOOK_NS;

	begin(MANY);
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

enum { BUCKETS = 8, CROWD = 20000 };

static void cancel_a_crowd(uint32_t bucket)
{
	static uint64_t crowd[CROWD];

	for (int i = 0; i < CROWD; i++)
		crowd[i] = bare_schedule(bucket, now() + far + i, fn, NULL);
	for (int i = 0; i < CROWD; i++)
		cancel(crowd[i]);
}

static bool is_told(void)
{
	return atom32_load(&engine.wakeup.limit) == WAKEUP_TOLD;
}

/* Where no call looks, and no time passes. */
START_TEST(is_told_of_garbage)
{
	size_t most = 0;

	begin(BUCKETS);
	turn();
	for (uint32_t i = 0; i < BUCKETS; i++) {
		ck_assert(!is_told());
		cancel_a_crowd(i);
		ck_assert(is_told());
		/* A call wakes it: something is due at once. */
		ck_assert_int_le(wakeup_arrivals(&engine.wakeup), now());
		most = bare_slots_used() > most ? bare_slots_used() : most;
		turn();
		finish();
		ck_assert_uint_le(bare_slots_used(), SLOTS_STEP);
	}
	ck_assert_uint_lt(most, 2 * CROWD);
	bare_end();
}
END_TEST

/* Those that live are not garbage: it looks at a few, and is not told again. */
START_TEST(is_told_seldom)
{
	begin(1);
	turn();
	for (int i = 0; i < CROWD; i++)
		schedule(now() + far + i);
	ck_assert(is_told());
	turn();
	finish();
	ck_assert_uint_eq(bare_slots_used(), CROWD);
	ck_assert(!is_told());
	for (int i = 0; i < CROWD; i++)
		schedule(now() + far + i);
	ck_assert(!is_told());
	bare_end();
}
END_TEST

static void pass(int64_t ns)
{
	watch_set(&engine.watch, now() + ns);
	turn();
	finish();
}

static size_t room(void)
{
	return slots_room(&engine.intake->bucket[0].slots);
}

/* It wakes up for that, also if nothing else happens; and then no more. */
START_TEST(gives_memory_back)
{
	int wakeups;

	begin(1);
	turn();
	ck_assert_int_eq(engine.reclaim.next, INT64_MAX);
	cancel_a_crowd(0);
	turn();
	finish();
	for (wakeups = 0; engine.reclaim.next != INT64_MAX; wakeups++) {
		ck_assert_int_le(wakeups, 4);
		pass(engine.reclaim.next - now());
	}
	ck_assert_int_ge(wakeups, 1);
	ck_assert_uint_le(room(), 2048);
	bare_end();
}
END_TEST

/* As long as many live it looks again, after longer and longer times. */
START_TEST(looks_less_and_less_often)
{
	int64_t rest, last = 0;

	begin(1);
	for (int i = 0; i < CROWD; i++)
		schedule(now() + far + i);
	turn();
	finish();
	for (int i = 0; i < 10; i++) {
		ck_assert_int_ne(engine.reclaim.next, INT64_MAX);
		rest = engine.reclaim.next - now();
		ck_assert_int_ge(rest, last);
		last = rest;
		pass(rest);
	}
	ck_assert_int_eq(last, RECLAIM_REST_NS);
	ck_assert_uint_eq(bare_slots_used(), CROWD);
	bare_end();
}
END_TEST

/* As if there had been no memory for their entries. */
static void strand_all(struct bucket *b)
{
	struct block *chain = NULL;
	struct visit v;
	bool more;

	visit_begin(&v, INT64_MAX - 1, now());
	do {
		more = bucket_collect(b, &engine.wakeup, &v, &chain);
		for (uint32_t i = 0; i < v.cursor.taken; i++) {
			struct block *full = v.cursor.row[i].block;

			for (uint32_t k = 0; k < full->n; k++)
				handover_strand(b, &engine.wakeup,
						&full->entry[k]);
			block_push(&chain, full);
		}
	} while (more);
	block_free_all(chain);
}

/* Those that live have entries again, and the dead are gone. */
START_TEST(restores_the_stranded)
{
	struct bucket *b;

	begin(1);
	b = &engine.intake->bucket[0];
	for (int i = 0; i < MANY; i++)
		ids[i] = schedule(now() + far + i);
	strand_all(b);
	for (int i = 0; i < MANY; i += 2)
		cancel(ids[i]);
	ck_assert_uint_eq(slot_heap_check(&b->stranded, &b->slots), MANY);
	let_pass(RECLAIM_NS);
	turn();
	finish();
	ck_assert_uint_eq(slot_heap_check(&b->stranded, &b->slots), 0);
	ck_assert_uint_eq(b->slots.used, MANY / 2);
	bucket_check(b);
	bare_end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		finds_in_a_bucket,
		finds_in_all_lanes,
		finds_in_all_buckets,
		finds_those_behind_many,
		goes_around_and_ends,
		ends_no_sleep,
		ends_when_nothing_is_left,
		goes_on_while_it_finds_much,
		many_buckets_are_looked_at_seldom,
		is_told_of_garbage,
		is_told_seldom,
		gives_memory_back,
		looks_less_and_less_often,
		restores_the_stranded,
	};

	return RUN_TESTS("reclaim", tests);
}
