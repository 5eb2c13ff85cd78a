/* SPDX-License-Identifier: MIT */
/*
 * Reclaiming by the driver: when a round begins, how far it goes, and what it
 * finds.  No test waits: time has passed when the test says so.
 */
#include "bare.h"
#include "checks/slot_heap.h"
#include "engine/reclaim.h"
#include "entries.h"
#include "intake/collect.h"
#include "intake/garbage.h"
#include "intake/unqueued.h"
#include "must.h"
#include "os/clock.h"
#include "owing.h"
#include "sweeping.h"

#include <sched.h>
#include <semaphore.h>

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

static void run_round(void)
{
	owe_round(&engine);
	turn();
	finish();
	must(!engine.reclaim.active);
}

static uint64_t schedule(int64_t deadline)
{
	return bare_schedule(0, deadline, fn, NULL);
}

static void cancel(uint64_t id)
{
	must(slot_cancel(intake_slot(engine.intake, id), id) == 0);
}

static struct bucket *first_bucket(void)
{
	return &engine.intake->bucket[0];
}

/* At these distances, by turns: in as many lanes. */
static void schedule_all(uint32_t buckets, unsigned distances)
{
	for (unsigned i = 0; i < ALL; i++)
		ids[i] = bare_schedule(i % buckets,
				       now() + (far >> 4 * (i % distances)) + i,
				       fn, NULL);
}

/*
 * When.
 */

/* Not too early; and what lives is left alone, and was not collected. */
static void find(void)
{
	for (int i = LIVE; i < ALL; i++)
		cancel(ids[i]);
	let_pass(&engine, RECLAIM_WINDOW_NS / 2);
	turn();
	finish();
	ck_assert_uint_eq(bare_slots_used(), ALL);
	run_round();
	ck_assert_uint_eq(bare_slots_used(), LIVE);
	ck_assert_uint_ge(entries_of(&engine.pending), LIVE);
	ck_assert_uint_eq(entries_pending(&engine.pending), 0);
	for (int i = 0; i < LIVE; i++)
		cancel(ids[i]);
}

START_TEST(finds_in_a_bucket)
{
	begin(1);
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

/* Whatever the instance's clock shows, and however it is set. */
START_TEST(the_clock_does_not_matter)
{
	begin(1);
	for (int i = 0; i < 3; i++) {
		cancel(schedule(now() + 100 * far));
		watch_set(&engine.watch, now() + far);
		turn();
		finish();
		ck_assert_uint_eq(bare_slots_used(), 1);
		run_round();
		ck_assert_uint_eq(bare_slots_used(), 0);
	}
	bare_end();
}
END_TEST

/* The driver is not woken for a few. */
START_TEST(ends_no_sleep)
{
	begin(1);
	schedule_all(1, 1);
	for (int i = LIVE; i < ALL; i++)
		cancel(ids[i]);
	for (int i = 0; i < 2; i++) {
		run_round();
		ck_assert_int_eq(engine.next, INT64_MAX);
		ck_assert_int_eq(reclaim_at(&engine), INT64_MAX);
		ck_assert_int_eq(wakeup_nearest(&engine.wakeup), now() + far);
	}
	bare_end();
}
END_TEST

/* If one is owed, it is: as long before as the slack holds a sleep up. */
START_TEST(wakes_the_driver_for_a_round)
{
	begin(1);
	for (int i = 0; i < 2; i++) {
		int64_t slack = i * far, at;

		engine.wakeup.slack = slack;
		reclaim_owe(&engine);
		at = reclaim_at(&engine);
		ck_assert_int_le(at, now() + RECLAIM_WINDOW_NS);
		let_pass(&engine, RECLAIM_WINDOW_NS / 2);
		at = reclaim_at(&engine);
		ck_assert_int_le(at, now() + RECLAIM_WINDOW_NS / 2);
		let_pass(&engine, RECLAIM_WINDOW_NS);
		ck_assert_int_le(reclaim_at(&engine), now());
		turn();
		finish();
		ck_assert_int_eq(reclaim_at(&engine), INT64_MAX);
	}
	bare_end();
}
END_TEST

/*
 * How far.
 */

/* However many live: the last ones are found, too. */
START_TEST(a_round_sees_all)
{
	enum { N = 200000, LAST = 1000 };
	static uint64_t last[LAST];

	begin(1);
	for (int i = 0; i < N; i++)
		schedule(now() + far + i);
	for (int i = 0; i < LAST; i++)
		last[i] = schedule(now() + far + N + i);
	/* It was told of these. */
	turn();
	finish();
	for (int i = 0; i < LAST; i++)
		cancel(last[i]);
	run_round();
	ck_assert_uint_eq(bare_slots_used(), N);
	bare_end();
}
END_TEST

/* As if so many were in use: the more there are, the longer is the pause. */
START_TEST(many_slots_make_rounds_seldom)
{
	for (uint32_t used = 0; used <= 64; used++) {
		int64_t pause = used * INT64_C(1000000) * RECLAIM_SLOT_NS;

		if (pause > RECLAIM_MOST_NS)
			pause = RECLAIM_MOST_NS;
		begin(1);
		for (int i = 0; i < RECLAIM_MUCH; i++)
			schedule(now() + far);
		cancel(schedule(now() + far));
		atom32_store(&engine.wakeup.used, used * 1000000);
		owe_round(&engine);
		turn();
		finish();
		ck_assert_int_ge(engine.reclaim.pause, pause);
		ck_assert_int_ge(engine.reclaim.pause, RECLAIM_WINDOW_NS);
		ck_assert_int_le(engine.reclaim.pause,
				 pause + RECLAIM_WINDOW_NS);
		ck_assert(used == 0 || engine.reclaim.due != INT64_MAX);
		/* Nor is it sooner when one is owed. */
		reclaim_owe(&engine);
		ck_assert_int_ge(engine.reclaim.due - engine.reclaim.began,
				 pause);
		/* Not before it is over, if nobody tells. */
		cancel(schedule(now() + far));
		let_pass(&engine, engine.reclaim.pause / 2);
		turn();
		finish();
		ck_assert_uint_eq(bare_slots_used(), RECLAIM_MUCH + 1);
		bare_end();
	}
}
END_TEST

/* But not where one of a few is dead. */
START_TEST(many_dead_make_rounds_frequent)
{
	begin(1);
	for (int i = 0; i < RECLAIM_MUCH; i++)
		schedule(now() + far);
	for (int i = 0; i < 2; i++)
		cancel(schedule(now() + far));
	atom32_store(&engine.wakeup.used, 4000000);
	run_round();
	ck_assert_uint_eq(bare_slots_used(), RECLAIM_MUCH);
	ck_assert_int_eq(engine.reclaim.pause, RECLAIM_WINDOW_NS);
	bare_end();
}
END_TEST

/* Each has its turn. */
START_TEST(all_buckets_have_their_turn)
{
	begin(MANY);
	for (uint32_t i = 0; i < MANY; i++)
		cancel(bare_schedule(i, now() + far, fn, NULL));
	run_round();
	ck_assert_uint_eq(bare_slots_used(), 0);
	bare_end();
}
END_TEST

/* A turn leaves a part to the next one, which does not wait for the slack. */
START_TEST(goes_around_and_ends)
{
	int turns = 0;

	begin(1);
	engine.wakeup.slack = far;
	for (int i = 0; i < 3; i++)
		schedule_all(1, 1);
	let_pass(&engine, 100 * far);
	do {
		turn();
		turns++;
		ck_assert_uint_lt(engine.effort, 18 * BLOCK_ENTRIES);
		ck_assert(!engine.reclaim.active || engine.next == INT64_MIN);
	} while (engine.reclaim.active);
	ck_assert_int_ge(turns, 2);
	ck_assert_int_le(turns, 2 + 2 * 3 * ALL / (16 * BLOCK_ENTRIES));
	ck_assert_uint_eq(entries_of(&engine.pending), 3 * ALL);
	/* Not again before some time has passed. */
	finish();
	turn();
	ck_assert(!engine.reclaim.active);
	ck_assert_uint_eq(engine.effort, 0);
	bare_end();
}
END_TEST

/* The same round; but when it begins, somebody has this bucket's lock. */
static void run_round_beside(struct bucket *b)
{
	owe_round(&engine);
	lock_acquire(&b->lock);
	turn();
	finish();
	must(engine.reclaim.active && engine.reclaim.bucket == b);
	lock_release(&b->lock);
	turn();
	finish();
	must(!engine.reclaim.active);
}

enum { BUCKETS = 8, CROWD = 20000 };

static uint64_t crowd[CROWD];

/*
 * The round waits, and passes nobody over: what became of the one bucket
 * becomes of the other.
 */
START_TEST(a_bucket_whose_lock_is_held_has_its_turn)
{
	struct slots *t[2];
	size_t before;

	begin(2);
	for (uint32_t i = 0; i < 2; i++) {
		t[i] = &engine.intake->bucket[i].slots;
		for (int k = 0; k < CROWD; k++)
			bare_schedule(i, now(), fn, NULL);
	}
	turn();
	finish();
	before = slots_room(t[0]);
	for (int round = 0; round < 4; round++) {
		cancel(bare_schedule(0, now() + far, fn, NULL));
		cancel(bare_schedule(1, now() + far, fn, NULL));
		run_round_beside(&engine.intake->bucket[round % 2]);
		ck_assert_uint_eq(bare_slots_used(), 0);
		ck_assert_uint_eq(slots_room(t[0]), slots_room(t[1]));
	}
	ck_assert_uint_lt(slots_room(t[0]), before);
	bare_end();
}
END_TEST

/* Slots became free behind its back: the next one sees them. */
START_TEST(a_round_that_is_owed_during_another)
{
	begin(1);
	schedule_all(1, 1);
	owe_round(&engine);
	must(reclaim_step(&engine) && reclaim_step(&engine));
	must(reclaim_at(&engine) == INT64_MAX);
	reclaim_owe(&engine);
	while (reclaim_step(&engine))
		;
	ck_assert_int_lt(reclaim_at(&engine), INT64_MAX);
	run_round();
	ck_assert_int_eq(reclaim_at(&engine), INT64_MAX);
	bare_end();
}
END_TEST

/* A round that has begun does not hear it. */
START_TEST(is_told_during_a_round)
{
	begin(1);
	schedule_all(1, 1);
	owe_round(&engine);
	must(reclaim_step(&engine) && reclaim_step(&engine));
	atom32_store(&engine.wakeup.limit, GARBAGE_TOLD);
	while (reclaim_step(&engine))
		;
	ck_assert_int_eq(reclaim_at(&engine), now());
	turn();
	finish();
	ck_assert_uint_lt(atom32_load(&engine.wakeup.limit), GARBAGE_TOLD);
	ck_assert_int_gt(reclaim_at(&engine), now());
	bare_end();
}
END_TEST

/*
 * Entries.
 */

/* Whatever was paid for: when nothing is left it is over. */
START_TEST(ends_when_nothing_is_left)
{
	begin(1);
	for (int i = 0; i < CROWD; i++)
		crowd[i] = schedule(now() + far + i);
	for (int i = 0; i < CROWD; i++)
		cancel(crowd[i]);
	let_pass(&engine, far);
	turn();
	finish();
	ck_assert(!engine.reclaim.active);
	ck_assert_uint_eq(entries_of(&engine.pending), 0);
	ck_assert_uint_eq(bare_slots_used(), 0);
	bare_end();
}
END_TEST

static int64_t last;
static int disorder, runs;

static void note_order(void *arg)
{
	int64_t deadline = *(int64_t *)arg;

	disorder += deadline < last;
	last = deadline;
	runs++;
}

/* Those of no use go, in all lanes; the others stay, and fire in order. */
START_TEST(sifts_all_lanes)
{
	enum { STAY = CROWD / 20 };
	static int64_t deadline[CROWD];
	uint64_t rng = test_seed();

	begin(1);
	for (int i = 0; i < CROWD; i++) {
		deadline[i] = now() + (far >> 4 * (i / 20 % 4)) +
			      (int64_t)random_below(&rng, 1000000);
		crowd[i] =
			bare_schedule(0, deadline[i], note_order, &deadline[i]);
	}
	for (int i = 0; i < CROWD; i++) {
		if (i % 20)
			cancel(crowd[i]);
	}
	run_round();
	ck_assert_uint_eq(bare_slots_used(), STAY);
	ck_assert_uint_le(entries_of(&engine.pending),
			  2 * STAY + (LANES + 1) * BLOCK_ENTRIES);
	bare_check();
	last = INT64_MIN;
	disorder = runs = 0;
	for (int i = 0; i < 8; i++) {
		watch_set(&engine.watch, now() + far / 4);
		turn();
		finish();
	}
	ck_assert_int_eq(runs, STAY);
	ck_assert_int_eq(disorder, 0);
	ck_assert_uint_eq(entries_of(&engine.pending), 0);
	bare_end();
}
END_TEST

static size_t bytes(void)
{
	return bucket_bytes(first_bucket()) + pending_bytes(&engine.pending) +
	       block_pool_bytes(&engine.intake->pool);
}

static void move_to(uint64_t id, int64_t deadline)
{
	struct slot *s = intake_slot(engine.intake, id);

	must(bucket_reschedule(first_bucket(), &engine.wakeup, s, id, deadline,
			       false) == 0);
}

static void disarm(uint64_t id)
{
	struct slot *s = intake_slot(engine.intake, id);

	must(bucket_disarm(first_bucket(), s, id, false, NULL) == 0);
}

/* To look into them is not worth an end of the turn. */
START_TEST(empty_lanes_take_no_time)
{
	int turns = 0;

	begin(32);
	for (uint32_t i = 0; i < 32; i++)
		cancel(bare_schedule(i, now() + far, fn, NULL));
	owe_round(&engine);
	do {
		turn();
		turns++;
	} while (engine.next == INT64_MIN);
	ck_assert_int_le(turns, 8);
	bare_end();
}
END_TEST

/*
 * Timers that live, and were extended once, fill one lane; what was cancelled
 * is in others, which are not so long.
 */
START_TEST(sifts_behind_a_longer_lane_that_lives)
{
	enum { STAY = 10000, EACH = 9000, LENGTHS = 6 };
	static uint64_t stays[STAY], gone[LENGTHS][EACH];

	begin(1);
	for (int i = 0; i < STAY; i++)
		stays[i] = schedule(now() + i);
	for (int i = 0; i < STAY; i++)
		move_to(stays[i], now() + far + i);
	watch_set(&engine.watch, now() + STAY);
	turn();
	finish();
	for (int k = 0; k < LENGTHS; k++) {
		for (int i = 0; i < EACH; i++)
			gone[k][i] =
				schedule(now() + (16 * 16 * far >> 4 * k) + i);
	}
	for (int k = 0; k < LENGTHS; k++) {
		for (int i = 0; i < EACH; i++)
			cancel(gone[k][i]);
	}
	run_round();
	/* Else one round would follow the other for ever. */
	ck_assert_uint_lt(atom32_load(&engine.wakeup.limit), GARBAGE_TOLD);
	ck_assert_uint_eq(bare_slots_used(), STAY);
	ck_assert_uint_le(garbage_blocks(first_bucket()),
			  4 * (STAY / BLOCK_ENTRIES + LANES));
	bare_check();
	bare_end();
}
END_TEST

/*
 * The memory is what it would be if they had never been armed, but for the
 * blocks that the pool keeps.
 */
START_TEST(forgets_the_entries_of_the_disarmed)
{
	const struct timer t = {0, PERIOD_PREPARED, fn, NULL, 0};
	size_t before;

	begin(1);
	for (int i = 0; i < CROWD; i++)
		crowd[i] = bare_add(0, &t);
	run_round();
	before = bytes();
	for (int i = 0; i < CROWD; i++)
		move_to(crowd[i], now() + far + i);
	ck_assert_uint_ge(bytes(), before + CROWD * sizeof(struct entry));
	for (int i = 0; i < CROWD; i++)
		disarm(crowd[i]);
	for (int i = 0; i < 3; i++)
		run_round();
	ck_assert_uint_le(bytes(), before + POOL_KEEP * sizeof(struct block));
	ck_assert_uint_eq(bare_slots_used(), CROWD);
	/* They live on. */
	for (int i = 0; i < CROWD; i++)
		move_to(crowd[i], now() + far + i);
	watch_set(&engine.watch, now() + far + CROWD);
	turn();
	ck_assert_int_eq(engine.ran, CROWD);
	bare_end();
}
END_TEST

/*
 * What it is told of.
 */

static void cancel_a_crowd(uint32_t bucket)
{
	for (int i = 0; i < CROWD; i++)
		crowd[i] = bare_schedule(bucket, now() + far + i, fn, NULL);
	for (int i = 0; i < CROWD; i++)
		cancel(crowd[i]);
}

static bool is_told(void)
{
	return atom32_load(&engine.wakeup.limit) == GARBAGE_TOLD;
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
		ck_assert_int_le(wakeup_nearest(&engine.wakeup), now());
		most = bare_slots_used() > most ? bare_slots_used() : most;
		turn();
		finish();
		ck_assert_uint_le(bare_slots_used(), GARBAGE_STEP);
	}
	ck_assert_uint_lt(most, 2 * CROWD);
	bare_end();
}
END_TEST

/* Those that live are not garbage: it is not told again. */
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

/*
 * More than a third of what an unsigned number counts live, on a machine that
 * has the memory: three times as many is no small number.
 */
START_TEST(is_told_seldom_where_very_many_live)
{
	const uint32_t live = UINT32_C(3) << 29;

	begin(1);
	turn();
	garbage_set_limit(&engine.wakeup, live);
	atom32_store(&engine.wakeup.used, live);
	for (int i = 0; i < CROWD; i++)
		schedule(now() + far + i);
	ck_assert(!is_told());
	bare_end();
}
END_TEST

/*
 * Pairs among timers that stay, and hide the others from recycling.  Entries
 * become far more than slots, again and again: the driver is told, and sifts.
 */
START_TEST(is_told_of_entries)
{
	static const size_t windows[] = {10, 300, 3000};

	for (size_t w = 0; w < 3; w++) {
		const size_t slots = GARBAGE_TIMES * windows[w] + GARBAGE_MUCH +
				     2 * GARBAGE_STEP;
		int told = 0;

		begin(1);
		for (size_t i = 0; i < windows[w]; i++)
			schedule(now() + far);
		for (int i = 0; i < 10 * CROWD; i++) {
			cancel(schedule(now() + far));
			if (is_told()) {
				told++;
				turn();
				finish();
				ck_assert_uint_le(
					entries_of(&engine.pending),
					GARBAGE_TIMES *
						(windows[w] +
						 LANES * BLOCK_ENTRIES));
			}
			must(bare_slots_used() <= slots);
			must(i % 64 || entries_of(&engine.pending) <=
					       GARBAGE_TIMES * slots +
						       GARBAGE_MUCH +
						       LANES * BLOCK_ENTRIES);
		}
		/* Not for each call: else it would do nothing but that. */
		ck_assert_int_le(told, 10 * CROWD / (GARBAGE_MUCH / 2));
		bare_end();
	}
}
END_TEST

/* The same where they lie in lanes to which nobody comes any more. */
START_TEST(is_told_of_entries_elsewhere)
{
	enum { FEW = GARBAGE_MUCH * 3 / 4, MORE = 8 * BLOCK_ENTRIES };

	begin(1);
	turn();
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < FEW; k++)
			crowd[k] = schedule(now() + (far >> 4 * i));
		for (int k = 0; k < FEW; k++)
			cancel(crowd[k]);
		sweep_all_of(first_bucket());
		ck_assert(!is_told());
	}
	for (int k = 0; k < MORE; k++)
		schedule(now() + (far >> 16));
	ck_assert(is_told());
	turn();
	finish();
	ck_assert(!is_told());
	/* It looks once more: it was not told of what came meanwhile. */
	ck_assert_uint_eq(vacancy_surplus_later(&first_bucket()->slots), 0);
	ck_assert_int_lt(engine.reclaim.due, INT64_MAX);
	ck_assert_uint_le(entries_of(&engine.pending),
			  GARBAGE_TIMES * (MORE + LANES * BLOCK_ENTRIES));
	bare_end();
}
END_TEST

/*
 * Memory.
 */

static size_t room(void)
{
	return slots_room(&first_bucket()->slots);
}

/* Sleeps until the next round, if one is owed.  Returns how long. */
static int64_t sleep_for_round(void)
{
	int64_t ns = engine.reclaim.due - clock_now(CLOCK_MONOTONIC);

	let_pass(&engine, ns);
	turn();
	finish();
	return ns;
}

/*
 * It wakes up for that, also if nothing else happens; and then no more.  All
 * within ten seconds.
 */
START_TEST(gives_memory_back)
{
	int64_t slept = 0;

	begin(1);
	turn();
	ck_assert_int_eq(engine.reclaim.due, INT64_MAX);
	cancel_a_crowd(0);
	turn();
	finish();
	while (engine.reclaim.due != INT64_MAX) {
		ck_assert_int_le(slept, 10 * RECLAIM_WINDOW_NS);
		slept += sleep_for_round();
	}
	ck_assert_int_gt(slept, 0);
	ck_assert_uint_le(room(), 2048);
	bare_end();
}
END_TEST

/* The same for slots that became free because their timers have run. */
START_TEST(gives_memory_back_after_runs)
{
	begin(1);
	for (int i = 0; i < CROWD; i++)
		schedule(now());
	turn();
	finish();
	ck_assert_uint_eq(bare_slots_used(), 0);
	ck_assert_uint_ge(room(), CROWD);
	for (int i = 0; engine.reclaim.due != INT64_MAX; i++) {
		ck_assert_int_le(i, 10);
		sleep_for_round();
	}
	ck_assert_uint_le(room(), 2048);
	bare_end();
}
END_TEST

/* As long as many live it looks again, after longer and longer times. */
START_TEST(looks_less_and_less_often)
{
	int64_t slept, longest = 0;

	begin(1);
	for (int i = 0; i < CROWD; i++)
		schedule(now() + far + i);
	turn();
	finish();
	for (int i = 0; i < 10; i++) {
		ck_assert_int_ne(engine.reclaim.due, INT64_MAX);
		slept = sleep_for_round();
		/* Some time has passed since it was set. */
		ck_assert_int_ge(slept, longest - RECLAIM_WINDOW_NS / 2);
		longest = slept > longest ? slept : longest;
	}
	ck_assert_int_le(longest, RECLAIM_MOST_NS);
	ck_assert_int_gt(longest, RECLAIM_MOST_NS - RECLAIM_WINDOW_NS);
	ck_assert_uint_eq(bare_slots_used(), CROWD);
	bare_end();
}
END_TEST

/* Though most live: where some have died, more may die soon. */
START_TEST(looks_often_while_it_finds_much)
{
	begin(1);
	for (int i = 0; i < CROWD; i++)
		crowd[i] = schedule(now() + far + i);
	turn();
	finish();
	for (int i = 0; i < 10; i++)
		sleep_for_round();
	ck_assert_int_eq(engine.reclaim.pause, RECLAIM_MOST_NS);
	for (int i = 0; i < CROWD / 4; i++)
		cancel(crowd[i]);
	sleep_for_round();
	ck_assert_uint_eq(bare_slots_used(), CROWD - CROWD / 4);
	ck_assert_int_eq(engine.reclaim.pause, RECLAIM_WINDOW_NS);
	bare_end();
}
END_TEST

/* As if there had been no memory for their entries. */
static void leave_all(struct bucket *b)
{
	struct visit v;
	bool more;

	visit_begin(&v, INT64_MAX - 1, now());
	do {
		more = bucket_collect(b, &engine.wakeup, &v);
		for (uint32_t i = 0; i < v.cursor.taken; i++) {
			struct block *full = v.cursor.row[i].block;

			for (uint32_t k = 0; k < full->n; k++)
				unqueued_leave(b, &engine.wakeup,
					       &full->entry[k]);
			block_pool_give(&engine.intake->pool, full);
		}
	} while (more);
}

/* Those that live stay, and the dead are gone. */
START_TEST(finds_the_unqueued)
{
	struct bucket *b;

	begin(1);
	b = &engine.intake->bucket[0];
	for (int i = 0; i < MANY; i++)
		ids[i] = schedule(now() + far + i);
	leave_all(b);
	for (int i = 0; i < MANY; i += 2)
		cancel(ids[i]);
	ck_assert_uint_eq(slot_heap_check(&b->unqueued, &b->slots), MANY);
	run_round();
	ck_assert_uint_eq(slot_heap_check(&b->unqueued, &b->slots), MANY / 2);
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
		the_clock_does_not_matter,
		ends_no_sleep,
		wakes_the_driver_for_a_round,
		a_round_sees_all,
		many_slots_make_rounds_seldom,
		many_dead_make_rounds_frequent,
		all_buckets_have_their_turn,
		goes_around_and_ends,
		a_bucket_whose_lock_is_held_has_its_turn,
		a_round_that_is_owed_during_another,
		is_told_during_a_round,
		ends_when_nothing_is_left,
		sifts_all_lanes,
		sifts_behind_a_longer_lane_that_lives,
		empty_lanes_take_no_time,
		forgets_the_entries_of_the_disarmed,
		is_told_of_garbage,
		is_told_seldom,
		is_told_seldom_where_very_many_live,
		is_told_of_entries,
		is_told_of_entries_elsewhere,
		gives_memory_back,
		gives_memory_back_after_runs,
		looks_less_and_less_often,
		looks_often_while_it_finds_much,
		finds_the_unqueued,
	};

	return RUN_TESTS("reclaim", tests);
}
