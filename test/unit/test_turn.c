/* SPDX-License-Identifier: MIT */
#include "bare.h"
#include "blocks.h"
#include "entries.h"
#include "fail_alloc.h"
#include "intake/garbage.h"
#include "must.h"
#include "os/memory.h"
#include "owing.h"

static const int64_t hour = INT64_C(3600000000000);

/* On a virtual clock, which stands here at first. */
static const int64_t start = INT64_C(1000000000000);

static void begin(uint32_t buckets)
{
	engine_init(&engine, NULL);
	engine.watch = WATCH_VIRTUAL(start);
	bare_open(buckets, CLOCK_MONOTONIC);
}

/* Returns how many ran. */
static int turn_at(int64_t now)
{
	watch_set(&engine.watch, now);
	ck_assert(engine_turn(&engine, now));
	must(!atom32_load(&engine.busy));
	must(atomword_load(&engine.pending_bytes) ==
	     pending_bytes(&engine.pending));
	return engine.ran;
}

static void fn(void *arg)
{
	(void)arg;
}

static uint64_t schedule(int64_t deadline)
{
	return bare_schedule((uint32_t)deadline & 1, deadline, fn, NULL);
}

static void cancel(uint64_t id)
{
	ck_assert_int_eq(bare_cancel(id), 0);
}

static void move_to(uint64_t id, int64_t deadline, bool inside)
{
	ck_assert_int_eq(bucket_reschedule(
				 intake_bucket(engine.intake, slot_index(id)),
				 &engine.wakeup, intake_slot(engine.intake, id),
				 id, deadline, inside),
			 0);
}

/* Entries that wait in the buckets. */
static size_t in_buckets(void)
{
	return entries_of(&engine.pending) - entries_pending(&engine.pending);
}

static int64_t next_of_all(void)
{
	int64_t nearest = wakeup_nearest(&engine.wakeup);

	return engine.next < nearest ? engine.next : nearest;
}

/*
 * Order.
 */
static int64_t last;
static int disorder;

static void note_order(void *arg)
{
	int64_t deadline = *(int64_t *)arg;

	disorder += deadline < last;
	last = deadline;
}

START_TEST(runs_in_deadline_order)
{
	enum { N = 20000, BUCKETS = 3 };
	static const int64_t widths[] = {100, INT64_C(20000000), hour};
	static int64_t deadline[N];
	uint64_t rng = test_seed();

	for (int w = 0; w < 3; w++) {
		int n = 0;

		begin(BUCKETS);
		for (int i = 0; i < N; i++) {
			uint64_t at = random_below(&rng, (uint64_t)widths[w]);

			deadline[i] = start + 1 + (int64_t)at;
			bare_schedule(i % BUCKETS, deadline[i], note_order,
				      &deadline[i]);
		}
		/* In two portions. */
		for (int i = 1; i <= 2; i++) {
			last = INT64_MIN;
			n += turn_at(start + widths[w] * i / 2);
			ck_assert_int_eq(disorder, 0);
			ck_assert_int_le(last, start + widths[w] * i / 2);
			bare_check();
		}
		ck_assert_int_eq(n, N);
		bare_end();
	}
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

/* Turns without memory, until n have run.  Returns how many that took. */
static int turns_without_memory(int n, uint32_t *failures)
{
	int ran = 0, turns = 0;

	last = INT64_MIN;
	disorder = 0;
	*failures = 0;
	for (; ran < n && turns < 9 * n; turns++) {
		no_block(&engine.intake->pool);
		fail_arm(0, UINT32_MAX);
		ran += turn_at(start);
		*failures += fail_disarm();
		bare_check();
	}
	ck_assert_int_eq(ran, n);
	ck_assert_int_eq(disorder, 0);
	return turns;
}

enum { STARVING = 16000 };

static void schedule_starving(int from, int step, int n)
{
	static int64_t deadline[STARVING];
	uint64_t rng = test_seed();

	for (int i = from; i < n; i += step) {
		deadline[i] = start - (int64_t)random_below(&rng, 1000000);
		bare_schedule(i / 2 % 2, deadline[i], note_order, &deadline[i]);
	}
}

/* More turns, but no more for each timer the more there are; and failures. */
static void must_be_few(int turns, uint32_t failures)
{
	ck_assert_int_gt(turns, 1);
	ck_assert_int_lt(turns, STARVING / 4);
	ck_assert_uint_gt(failures, 0);
	ck_assert_uint_lt(failures, STARVING);
}

/*
 * The heap has room for a few of them: the others are unqueued, and what is
 * later does not run before them.
 */
START_TEST(in_order_without_memory)
{
	uint32_t failures;
	int turns;

	begin(2);
	schedule_starving(0, 1, STARVING);
	turns = turns_without_memory(STARVING, &failures);
	must_be_few(turns, failures);
	bare_end();
}
END_TEST

/* There is no room for all blocks: those of a bucket are due before others. */
START_TEST(in_order_without_room_for_blocks)
{
	enum { BLOCKS = HEAP_MIN + 44, N = BLOCKS * BLOCK_ENTRIES };
	static int64_t deadline[N + 1000];
	int ran = 0, turns = 0;

	begin(2);
	for (int i = 0; i < N; i++) {
		deadline[i] = start - 1000000 + i;
		bare_schedule(0, deadline[i], note_order, &deadline[i]);
	}
	for (int i = N; i < N + 1000; i++) {
		deadline[i] = start - 1000000 + (i - N) * 3;
		bare_schedule(1, deadline[i], note_order, &deadline[i]);
	}
	last = INT64_MIN;
	disorder = 0;
	for (; ran < N + 1000 && turns < N; turns++) {
		no_block(&engine.intake->pool);
		fail_arm(0, UINT32_MAX);
		ran += turn_at(start);
		fail_disarm();
	}
	ck_assert_int_eq(ran, N + 1000);
	ck_assert_int_eq(disorder, 0);
	bare_end();
}
END_TEST

/* Half of them have no entries to begin with. */
START_TEST(unqueued_ones_in_order_without_memory)
{
	/* The second time, each turn is as short as it can be. */
	const int n = _i == 0 ? STARVING : 1000;
	uint32_t failures;
	int turns;

	begin(2);
	engine.dispatch_time = _i;
	for (uint32_t i = 0; i < 2; i++) {
		struct bucket *b = &engine.intake->bucket[i];

		while (slots_room(&b->slots) < STARVING)
			ck_assert_int_eq(arrival_grow_slots(b), 0);
	}
	no_block(&engine.intake->pool);
	fail_arm(0, UINT32_MAX);
	schedule_starving(0, 2, n);
	fail_disarm();
	schedule_starving(1, 2, n);
	turns = turns_without_memory(n, &failures);
	if (_i == 0)
		must_be_few(turns, failures);
	bare_end();
}
END_TEST

#endif

START_TEST(never_before_its_deadline)
{
	begin(2);
	schedule(start + 1000);
	schedule(start + 1001);
	schedule(INT64_MAX);
	ck_assert_int_eq(turn_at(start + 999), 0);
	ck_assert_int_eq(next_of_all(), start + 1000);
	ck_assert_int_eq(turn_at(start + 1000), 1);
	ck_assert_int_eq(next_of_all(), start + 1001);
	ck_assert_int_eq(turn_at(start + 1001), 1);
	/* The latest time of all never comes. */
	ck_assert_int_eq(next_of_all(), INT64_MAX);
	ck_assert_int_eq(turn_at(INT64_MAX), 0);
	bare_end();
}
END_TEST

/*
 * A turn is a batch.
 */
static int runs[8];
static uint64_t self;

static void count(void *arg)
{
	runs[(uintptr_t)arg]++;
}

static void *number(uintptr_t i)
{
	return (void *)i;
}

static void schedule_more(void *arg)
{
	int64_t now = watch_now(&engine.watch);

	count(arg);
	bare_schedule(0, now, count, number(1));
	bare_schedule(1, 0, count, number(1));
	bare_schedule(0, INT64_MIN, count, number(1));
	cancel(bare_schedule(0, INT64_MIN, count, number(2)));
	bare_schedule(1, now + 1, count, number(2));
}

START_TEST(what_arrives_meanwhile_is_for_the_next)
{
	begin(2);
	bare_schedule(0, start + 5, schedule_more, number(0));
	bare_schedule(1, start + 5, schedule_more, number(0));
	ck_assert_int_eq(turn_at(start + 10), 2);
	ck_assert_int_eq(runs[1], 0);
	/* Which is to begin at once. */
	ck_assert_int_le(next_of_all(), start + 10);
	ck_assert_int_eq(turn_at(start + 10), 6);
	ck_assert_int_eq(runs[1], 6);
	ck_assert_int_eq(next_of_all(), start + 11);
	ck_assert_int_eq(turn_at(start + 11), 2);
	ck_assert_int_eq(runs[2], 2);
	bare_end();
}
END_TEST

static const int64_t soon[] = {INT64_MIN, -1, 0, 1};

static void arm_again(void *arg)
{
	count(arg);
	move_to(self, soon[runs[0] % 4], true);
}

static void plan_again(void *arg)
{
	count(arg);
	bare_schedule(0, soon[runs[3] % 4], plan_again, arg);
}

static void hold_none_up(void)
{
	enum { TURNS = 200 };

	self = bare_schedule(0, 0, arm_again, number(0));
	bare_add(1, &(struct timer){watch_now(&engine.watch), 1, count,
				    number(1), 0});
	bare_schedule(0, 0, plan_again, number(3));
	for (int i = 1; i <= TURNS; i++) {
		int64_t now = watch_now(&engine.watch);

		bare_schedule(i & 1, now, count, number(2));
		if (engine.watch.is_virtual)
			watch_set(&engine.watch, now + 1);
		ck_assert_int_le(bare_turn(), watch_now(&engine.watch));
		ck_assert_int_eq(runs[0], i);
		ck_assert_int_eq(runs[1], i);
		ck_assert_int_eq(runs[2], i);
		ck_assert_int_eq(runs[3], i);
		bare_check();
	}
	bare_end();
}

/* Who wants to run again as soon as possible runs once a turn, as do others. */
START_TEST(armed_again_it_holds_up_nobody)
{
	begin(2);
	hold_none_up();
}
END_TEST

START_TEST(armed_again_on_a_clock_that_goes_on)
{
	bare_begin(2, CLOCK_MONOTONIC);
	hold_none_up();
}
END_TEST

/* For later, it is one of those. */
static void arm_later(void *arg)
{
	count(arg);
	move_to(self, watch_now(&engine.watch) + (int64_t)runs[0] * hour, true);
}

START_TEST(armed_again_for_later)
{
	int64_t now = start;

	begin(1);
	self = bare_schedule(0, start, arm_later, number(0));
	for (int i = 1; i <= 10; i++) {
		ck_assert_int_eq(turn_at(now), 1);
		ck_assert_int_eq(turn_at(now), 0);
		ck_assert_uint_eq(entries_pending(&engine.pending), 0);
		now += (int64_t)i * hour;
		ck_assert_int_eq(next_of_all(), now);
		ck_assert_int_eq(turn_at(now - 1), 0);
	}
	bare_end();
}
END_TEST

/*
 * What is far stays in the bucket.
 */
START_TEST(far_timers_stay)
{
	enum { FAR = 30000, NEAR = 300, STEP = 50000 };
	int64_t now = start;

	begin(2);
	for (int i = 0; i < FAR; i++) {
		schedule(start + hour + i);
		if (i % (FAR / NEAR) == 0)
			schedule(start + 1 + i / (FAR / NEAR) * STEP);
	}
	ck_assert_uint_eq(in_buckets(), FAR + NEAR);
	for (int i = 0; i < NEAR; i++) {
		ck_assert_int_eq(turn_at(now), i > 0);
		ck_assert_uint_le(entries_pending(&engine.pending), NEAR - i);
		now += STEP;
	}
	ck_assert_int_eq(turn_at(now), 1);
	ck_assert_uint_eq(entries_pending(&engine.pending), 0);
	ck_assert_uint_eq(in_buckets(), FAR);
	/* All of them, when their time has come. */
	ck_assert_int_eq(turn_at(start + hour - 1), 0);
	ck_assert_int_eq(turn_at(start + hour + FAR), FAR);
	ck_assert_uint_eq(entries_of(&engine.pending), 0);
	bare_end();
}
END_TEST

/* A block that holds one that is due holds others too. */
START_TEST(what_came_with_it_goes_back)
{
	enum { N = 5000 };

	begin(1);
	/* All of one lane, one after another. */
	for (int i = 0; i < N; i++)
		bare_schedule(0, start + 10 * hour + i * (hour / N), fn, NULL);
	for (int i = 0; i < N; i++) {
		ck_assert_int_eq(turn_at(start + 10 * hour + i * (hour / N)),
				 1);
		ck_assert_uint_le(entries_pending(&engine.pending), 1);
		ck_assert_uint_eq(entries_of(&engine.pending), N - 1 - i);
	}
	bare_end();
}
END_TEST

/* At the time for which it was scheduled first. */
START_TEST(a_moved_timer_goes_back)
{
	uint64_t id;

	begin(2);
	id = schedule(start + 1000);
	move_to(id, start + hour, false);
	ck_assert_int_eq(turn_at(start + 1000), 0);
	ck_assert_uint_eq(entries_pending(&engine.pending), 0);
	ck_assert_uint_eq(in_buckets(), 1);
	ck_assert_int_eq(next_of_all(), start + hour);
	/* And once more. */
	move_to(id, start + 2 * hour, false);
	ck_assert_int_eq(turn_at(start + hour), 0);
	ck_assert_uint_eq(entries_pending(&engine.pending), 0);
	ck_assert_int_eq(next_of_all(), start + 2 * hour);
	/* By little. */
	move_to(id, start + 2 * hour + 9, false);
	ck_assert_int_eq(turn_at(start + 2 * hour), 0);
	ck_assert_int_eq(turn_at(start + 2 * hour + 8), 0);
	ck_assert_int_eq(turn_at(start + 2 * hour + 9), 1);
	bare_end();
}
END_TEST

/*
 * Those that were collected and then moved are put back before they end a
 * sleep; but no turn puts back more than its part.
 */
START_TEST(moved_timers_end_few_sleeps)
{
	enum { N = 1000 };
	static uint64_t id[N];
	int turns = 0;

	begin(1);
	for (int i = 0; i < N; i++)
		id[i] = bare_schedule(0, start + 1000 + i, fn, NULL);
	bare_schedule(0, start, fn, NULL);
	ck_assert_int_eq(turn_at(start), 1);
	for (int i = 0; i < N; i++)
		move_to(id[i], start + hour + i, false);
	while (next_of_all() < start + hour) {
		ck_assert_int_eq(turn_at(start), 0);
		turns++;
	}
	ck_assert_int_le(turns, N / 60);
	ck_assert_uint_eq(entries_of(&engine.pending), N);
	ck_assert_uint_eq(entries_pending(&engine.pending), 0);
	ck_assert_int_eq(turn_at(start + hour + N), N);
	bare_end();
}
END_TEST

/*
 * The cancelled.
 */

/*
 * Many in flight, cancelled in order and long before they are due, while a
 * nearer timer waits: what is kept must follow the live.
 */
START_TEST(holds_few_of_the_dead)
{
	enum { WINDOW = 20000, PAIRS = 10 * WINDOW, TURN = 3000 };
	static uint64_t ring[WINDOW];
	int64_t base;

	bare_begin(2, CLOCK_MONOTONIC);
	base = clock_now(CLOCK_MONOTONIC) + hour;
	schedule(base - hour / 2);
	for (int i = 0; i < PAIRS; i++) {
		if (i >= WINDOW)
			cancel(ring[i % WINDOW]);
		ring[i % WINDOW] = schedule(base + i);
		if (i % TURN == 0) {
			owe_round(&engine);
			bare_turn();
		}
		if (i % 100 == 0)
			ck_assert_uint_le(entries_of(&engine.pending),
					  4 * WINDOW);
	}
	for (uint32_t i = 0; i < engine.intake->n; i++)
		ck_assert_uint_le(engine.intake->bucket[i].slots.fresh,
				  3 * WINDOW / SLOT_FIRST_NUMBER);
	bare_end();
}
END_TEST

/* A slow machine has something to reclaim in the first turn already. */
static void turn_to_the_end(void)
{
	do
		bare_turn();
	while (engine.next == INT64_MIN);
}

/*
 * Large batches that fire, and masses that are cancelled and recycled, turn
 * after turn: their blocks do not pile up.
 */
START_TEST(keeps_few_blocks)
{
	enum { N = 50000, ROUNDS = 4 };
	static uint64_t ids[N];

	bare_begin(2, CLOCK_MONOTONIC);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < N; i++)
			schedule(-2);
		turn_to_the_end();
		for (int i = 0; i < N; i++)
			ids[i] = schedule(INT64_MAX / 2);
		for (int i = 0; i < N; i++)
			cancel(ids[i]);
		for (int i = 0; i < N; i++)
			cancel(schedule(INT64_MAX / 2));
		turn_to_the_end();
		ck_assert_uint_le(block_pool_bytes(&engine.intake->pool),
				  2 * N / BLOCK_ENTRIES * BLOCK_BYTES);
	}
	bare_end();
}
END_TEST

/* All are cancelled and one timer runs: all slots are free again. */
START_TEST(recycles_all)
{
	enum { N = 100000 };
	static uint64_t ids[N];
	int64_t base;

	bare_begin(2, CLOCK_MONOTONIC);
	base = clock_now(CLOCK_MONOTONIC) + hour;
	for (int i = 0; i < N; i++) {
		ids[i] = schedule(base + i);
		if (i == N / 2)
			turn_to_the_end();
	}
	ck_assert_uint_eq(bare_slots_used(), N);
	for (int i = 0; i < N; i++)
		cancel(ids[i]);
	owe_round(&engine);
	schedule(-1);
	bare_turn();
	ck_assert_int_eq(engine.ran, 1);
	if (engine.next == INT64_MIN)
		turn_to_the_end();
	ck_assert_uint_eq(entries_of(&engine.pending), 0);
	ck_assert_uint_eq(bare_slots_used(), 0);
	ck_assert_uint_le(engine.pending.heap.size, HEAP_KEEP);
	bare_end();
}
END_TEST

/* For what is not due a turn does a part, and the next one is at once. */
START_TEST(leaves_a_part_to_the_next)
{
	enum { N = 50000, PART = 17 * BLOCK_ENTRIES };
	static uint64_t ids[N];
	int turns = 0;

	begin(1);
	for (int i = 0; i < N; i++)
		ids[i] = bare_schedule(0, start + hour + i, fn, NULL);
	for (int i = 0; i < N; i++)
		cancel(ids[i]);
	watch_set(&engine.watch, start + hour);
	/* Nothing is reclaimed where it is. */
	atom32_store(&engine.wakeup.limit, GARBAGE_TOLD - 1);
	do {
		size_t before = entries_of(&engine.pending);

		ck_assert_int_eq(turn_at(start + hour), 0);
		ck_assert_uint_lt(engine.effort, PART + BLOCK_ENTRIES);
		ck_assert_uint_le(before - entries_of(&engine.pending),
				  PART + 2 * BLOCK_ENTRIES);
		turns++;
	} while (engine.next == INT64_MIN);
	ck_assert_int_ge(turns, N / PART);
	/* And one for each 8 of the blocks, to free them. */
	ck_assert_int_le(turns, 2 * N / PART + N / BLOCK_ENTRIES / 8);
	ck_assert_int_eq(next_of_all(), INT64_MAX);
	ck_assert_uint_eq(entries_of(&engine.pending), 0);
	ck_assert_uint_eq(bare_slots_used(), 0);
	bare_end();
}
END_TEST

/*
 * The time to which a virtual clock is to be set.
 */
START_TEST(no_time_for_the_cancelled)
{
	static const int64_t after[] = {
		5, 5000000, 100000000, INT64_C(60000000000), hour, 100 * hour,
	};
	uint64_t id;

	for (int i = 0; i < 6; i++) {
		int64_t live = start + after[i] + 1;

		begin(2);
		id = schedule(start + after[i]);
		schedule(live);
		ck_assert_int_eq(engine_next(&engine, INT64_MAX),
				 start + after[i]);
		cancel(id);
		cancel(schedule(start + 1));
		cancel(schedule(start + after[i] / 2));
		ck_assert_int_eq(engine_next(&engine, INT64_MAX), live);
		ck_assert_int_eq(engine_next(&engine, live), live);
		ck_assert_int_eq(engine_next(&engine, live - 1), live - 1);
		ck_assert_int_eq(turn_at(live), 1);
		cancel(schedule(live + after[i]));
		ck_assert_int_eq(engine_next(&engine, live + 1000 * hour),
				 live + 1000 * hour);
		ck_assert_uint_eq(entries_of(&engine.pending), 0);
		bare_end();
	}
}
END_TEST

/* Not a bound either, however many there are. */
START_TEST(no_time_for_the_cancelled_of_very_many)
{
	enum { N = 3 * BLOCKS_MANY * BLOCK_ENTRIES };
	static uint64_t id[N];

	begin(2);
	for (int i = 0; i < N; i++)
		id[i] = schedule(start + hour + (int64_t)i * 7919 % N * 100000);
	ck_assert_int_eq(engine_next(&engine, INT64_MAX), start + hour);
	cancel(id[0]);
	ck_assert_int_eq(engine_next(&engine, INT64_MAX),
			 start + hour + 100000);
	bare_end();
}
END_TEST

/* What is later than the limit it leaves alone. */
START_TEST(looks_no_further_than_the_limit)
{
	enum { N = BLOCKS_FEW * BLOCK_ENTRIES };

	begin(2);
	for (int i = 0; i < N; i++)
		schedule(start + hour + i);
	ck_assert_int_eq(engine_next(&engine, start + hour - 1),
			 start + hour - 1);
	ck_assert_uint_eq(entries_pending(&engine.pending), 0);
	ck_assert_int_eq(engine_next(&engine, start + hour), start + hour);
	bare_end();
}
END_TEST

enum { TIMERS = 400 };

struct model {
	uint64_t id[TIMERS];
	int64_t deadline[TIMERS]; /* INT64_MAX: there is none */
};

static int64_t earliest_of(const struct model *m)
{
	int64_t earliest = INT64_MAX;

	for (int i = 0; i < TIMERS; i++) {
		if (m->deadline[i] < earliest)
			earliest = m->deadline[i];
	}
	return earliest;
}

/* Returns how many are over then. */
static int pass(struct model *m, int64_t now)
{
	int n = 0;

	for (int i = 0; i < TIMERS; i++) {
		if (m->deadline[i] <= now) {
			m->deadline[i] = INT64_MAX;
			n++;
		}
	}
	return n;
}

/* From now, at any distance. */
static int64_t any_time(uint64_t *rng, int64_t now)
{
	return now + 1 +
	       (int64_t)(random_below(rng, UINT64_C(1) << 50) >>
			 random_below(rng, 50));
}

static void meddle(struct model *m, uint64_t *rng, int64_t now)
{
	int i = (int)random_below(rng, TIMERS);

	if (m->deadline[i] == INT64_MAX) {
		m->deadline[i] = any_time(rng, now);
		m->id[i] = schedule(m->deadline[i]);
	} else if (random_below(rng, 2)) {
		cancel(m->id[i]);
		m->deadline[i] = INT64_MAX;
	}
}

START_TEST(next_against_a_model)
{
	enum { STEPS = 20000 };
	static struct model m;
	uint64_t rng = test_seed();
	int64_t now = start;

	begin(2);
	for (int i = 0; i < TIMERS; i++)
		m.deadline[i] = INT64_MAX;
	for (int step = 0; step < STEPS; step++) {
		meddle(&m, &rng, now);
		if (step % 4)
			continue;
		ck_assert_int_eq(engine_next(&engine, INT64_MAX),
				 earliest_of(&m));
		if (earliest_of(&m) == INT64_MAX)
			continue;
		now = earliest_of(&m);
		ck_assert_int_eq(turn_at(now), pass(&m, now));
	}
	bare_end();
}
END_TEST

static void stop(void *arg)
{
	count(arg);
	wakeup_stop(&engine.wakeup);
}

START_TEST(stops_between_callbacks)
{
	begin(2);
	bare_schedule(0, start - 2, stop, number(0));
	bare_schedule(0, start - 1, count, number(0));
	ck_assert_int_eq(turn_at(start), 1);
	ck_assert_int_eq(runs[0], 1);
	bare_end();
}
END_TEST

/*
 * The time of a turn.  This one is over when it begins, by any clock.
 */
#define OVER (-1)

/* What came due since is for the next batch, after what came earlier. */
START_TEST(a_cut_batch_grows_no_more)
{
	int64_t deadline[] = {start + 1, start + 2, start + 10, start + 6};
	int n;

	begin(1);
	engine.dispatch_time = OVER;
	last = INT64_MIN;
	disorder = 0;
	for (int i = 0; i < 3; i++)
		bare_schedule(0, deadline[i], note_order, &deadline[i]);
	n = turn_at(start + 2);
	ck_assert_int_eq(n, 1);
	ck_assert(engine.cut);
	/* The driver has the one that is due at 10, and not this one. */
	bare_schedule(0, deadline[3], note_order, &deadline[3]);
	while (n < 4)
		n += turn_at(start + 20);
	ck_assert_int_eq(disorder, 0);
	ck_assert_int_eq(last, deadline[2]);
	bare_end();
}
END_TEST

/* Many are dead, and a round is owed. */
enum { GARBAGE = 30000 };

static void make_garbage(void)
{
	static uint64_t ids[GARBAGE];

	for (int i = 0; i < GARBAGE; i++)
		ids[i] = bare_schedule(0, start + hour + i, fn, NULL);
	for (int i = 0; i < GARBAGE; i++)
		cancel(ids[i]);
	owe_round(&engine);
}

/* Whatever is left to do when its time is over. */
START_TEST(reclaims_no_longer_than_it_may)
{
	/* So many in a step, at most. */
	enum { MOST = (2 * TURN_STEPS + 2) * 2 * 256 };

	begin(1);
	engine.dispatch_time = OVER;
	make_garbage();
	while (bare_slots_used() > 0) {
		size_t before = bare_slots_used();

		ck_assert_int_eq(turn_at(start), 0);
		must(before - bare_slots_used() <= MOST);
		must(engine.next == INT64_MIN || bare_slots_used() == 0);
	}
	bare_end();
}
END_TEST

/* So many turns are enough, if each takes its steps; one is a round's begin. */
enum { ENOUGH = 4 + GARBAGE / 256 / TURN_STEPS * 2 };

/*
 * The backlog never ends: each turn runs one, and is over, and its batch is cut
 * again and again.
 */
START_TEST(reclaims_beside_a_backlog)
{
	enum { DUE = 20 };
	const size_t looks = 256 + pages_size() / sizeof(struct slot);
	int turns = 0;

	begin(1);
	engine.dispatch_time = OVER;
	make_garbage();
	runs[3] = 0;
	for (int i = 0; i < DUE; i++)
		bare_schedule(0, 0, plan_again, number(3));
	for (; bare_slots_used() > DUE; turns++) {
		size_t before = bare_slots_used();

		ck_assert_int_lt(turns, ENOUGH);
		ck_assert_int_eq(turn_at(start), 1);
		/* And no other steps: its time was over before. */
		must(before - bare_slots_used() <= TURN_STEPS * looks);
		ck_assert_int_eq(engine.next, INT64_MIN);
	}
	ck_assert_int_eq(runs[3], turns);
	bare_end();
}
END_TEST

/* A callback is longer than a turn may be, and is due again at once. */
START_TEST(reclaims_beside_a_long_callback)
{
	int turns = 0;

	begin(1);
	engine.dispatch_time = OVER;
	make_garbage();
	runs[0] = 0;
	self = bare_schedule(0, 0, arm_again, number(0));
	for (; bare_slots_used() > 1; turns++) {
		ck_assert_int_lt(turns, ENOUGH);
		ck_assert_int_eq(turn_at(start), 1);
	}
	/* Its entries are sifted, too. */
	for (; entries_of(&engine.pending) > GARBAGE / 4; turns++) {
		ck_assert_int_lt(turns, 2 * ENOUGH);
		ck_assert_int_eq(turn_at(start), 1);
	}
	ck_assert_int_eq(runs[0], turns);
	bare_end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		runs_in_deadline_order,
#ifndef FAIL_ALLOC_UNAVAILABLE
		in_order_without_memory,
		in_order_without_room_for_blocks,
#endif
		never_before_its_deadline,
		what_arrives_meanwhile_is_for_the_next,
		armed_again_it_holds_up_nobody,
		armed_again_on_a_clock_that_goes_on,
		armed_again_for_later,
		far_timers_stay,
		what_came_with_it_goes_back,
		a_moved_timer_goes_back,
		moved_timers_end_few_sleeps,
		holds_few_of_the_dead,
		keeps_few_blocks,
		recycles_all,
		leaves_a_part_to_the_next,
		no_time_for_the_cancelled,
		no_time_for_the_cancelled_of_very_many,
		looks_no_further_than_the_limit,
		next_against_a_model,
		stops_between_callbacks,
		a_cut_batch_grows_no_more,
		reclaims_no_longer_than_it_may,
		reclaims_beside_a_backlog,
		reclaims_beside_a_long_callback,
	};

	const TTest *const twice[] = {
#ifndef FAIL_ALLOC_UNAVAILABLE
		unqueued_ones_in_order_without_memory,
#else
		never_before_its_deadline,
#endif
	};
	TCase *tcase = tcase_create("turn");

	ADD_TESTS(tcase, tests);
	ADD_LOOP_TESTS(tcase, twice, 2);
	return run_case("turn", tcase);
}
