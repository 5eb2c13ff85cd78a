/* SPDX-License-Identifier: MIT */
/*
 * When the driver's rounds are.  reclaim.c is compiled again here, with a
 * steady clock that the test sets; the instance's clock is another one.  The
 * system's pages may be larger than they are.
 */
#include "bare.h"
#include "intake/garbage.h"

static int64_t steady = INT64_C(1000000000000);

static int64_t steady_now(clockid_t clock)
{
	ck_assert_int_eq(clock, CLOCK_MONOTONIC);
	return steady;
}

#define clock_now steady_now
#include "engine/reclaim.c"
#undef clock_now

size_t __real_pages_size(void);
size_t __wrap_pages_size(void);

static size_t page; /* 0: as they are */

size_t __wrap_pages_size(void)
{
	return page > 0 ? page : __real_pages_size();
}

static const int64_t second = INT64_C(1000000000);
static const int64_t hour = INT64_C(3600000000000);

/* So many that the driver looks at them now and then; so few that not. */
enum { MANY = 12000, FEW = 8000, ALL = 40000 };

static uint64_t ids[ALL];
static int ran;

static void fn(void *arg)
{
	(void)arg;
	ran++;
}

static void begin(void)
{
	engine_init(&engine, NULL);
	engine.watch = WATCH_VIRTUAL(hour);
	bare_open(1, CLOCK_MONOTONIC);
	engine.reclaim.began = engine.reclaim.window = steady;
}

static int64_t shown(void)
{
	return watch_now(&engine.watch);
}

static void turns(void)
{
	do
		ck_assert(engine_turn(&engine, shown()));
	while (engine.next == INT64_MIN);
}

/* Returns how often the driver wakes up in this time, while nothing is due. */
static int idle(int64_t ns)
{
	int64_t end = steady + ns;
	int wakes = 0;

	for (; engine.reclaim.due <= end; wakes++) {
		/* Else it would not sleep at all. */
		ck_assert_int_gt(engine.reclaim.due, steady);
		steady = engine.reclaim.due;
		turns();
	}
	steady = end;
	return wakes;
}

static void schedule(int n)
{
	for (int i = 0; i < n; i++)
		ids[i] = bare_schedule(0, shown() + hour + i, fn, NULL);
	turns();
}

static void cancel(int n)
{
	for (int i = 0; i < n; i++)
		ck_assert_int_eq(bare_cancel(ids[i]), 0);
}

static void expire(int n)
{
	ran = 0;
	watch_set(&engine.watch, shown() + 2 * hour);
	turns();
	ck_assert_int_eq(ran, n);
}

static size_t room(void)
{
	return slots_room(&engine.intake->bucket[0].slots);
}

static void is_given_back(void)
{
	const struct bucket *b = &engine.intake->bucket[0];

	ck_assert_uint_le(room(), (SLOTS_LEAST + 2) * SLOT_FIRST_NUMBER);
	ck_assert_uint_le(garbage_blocks(b), LANES);
	for (const struct lane *l = b->lane; l < b->lane + LANES; l++)
		ck_assert_uint_eq(l->queue.size, queue_wants_rows(&l->queue));
}

/* However long the peak has lasted, and whatever has been found meanwhile. */
START_TEST(what_was_cancelled_goes_back_in_ten_seconds)
{
	begin();
	for (int lasts = 0; lasts < 40; lasts += 3) {
		schedule(MANY);
		idle(lasts * second);
		ck_assert_uint_ge(room(), MANY);
		cancel(MANY);
		idle(11 * second);
		is_given_back();
	}
	bare_end();
}
END_TEST

/* The driver is told of its growth again and again, and finds nothing. */
START_TEST(a_peak_of_a_moment_goes_back_soon)
{
	begin();
	for (int i = 0; i < ALL; i++) {
		ids[i] = bare_schedule(0, shown() + hour + i, fn, NULL);
		if (i % 1000 == 0)
			turns();
	}
	cancel(ALL);
	idle(4 * second + second / 2);
	is_given_back();
	bare_end();
}
END_TEST

START_TEST(what_expired_goes_back_in_ten_seconds)
{
	begin();
	for (int lasts = 0; lasts < 40; lasts += 3) {
		schedule(MANY);
		idle(lasts * second);
		expire(MANY);
		idle(5 * second);
		is_given_back();
	}
	bare_end();
}
END_TEST

/* They are too few for the driver to look at them now and then. */
START_TEST(a_few_that_expired_go_back)
{
	begin();
	schedule(FEW);
	idle(20 * second);
	expire(FEW);
	idle(5 * second);
	is_given_back();
	bare_end();
}
END_TEST

START_TEST(it_seldom_wakes_up)
{
	begin();
	ck_assert_int_eq(idle(hour), 0);
	schedule(FEW);
	ck_assert_int_eq(idle(hour), 0);
	expire(FEW);
	/* And then never again. */
	ck_assert_int_le(idle(hour), 8);
	schedule(MANY);
	ck_assert_int_le(idle(hour), 455);
	cancel(MANY);
	ck_assert_int_le(idle(hour), 10);
	bare_end();
}
END_TEST

/* Each word keeps one, and the driver looks whether they have gone. */
START_TEST(what_a_few_timers_keep_goes_with_them)
{
	int wakes;

	begin();
	schedule(ALL);
	for (int i = 0; i < ALL; i++)
		if (i % SLOT_FIRST_NUMBER != 0)
			ck_assert_int_eq(bare_cancel(ids[i]), 0);
	idle(60 * second);
	ck_assert_uint_lt(engine.intake->bucket[0].slots.used, FEW);
	wakes = idle(600 * second);
	ck_assert_int_ge(wakes, 600 / 8 - 1);
	ck_assert_int_le(wakes, 600 / 8 + 1);
	for (int i = 0; i < ALL; i += SLOT_FIRST_NUMBER)
		ck_assert_int_eq(bare_cancel(ids[i]), 0);
	idle(11 * second);
	is_given_back();
	ck_assert_int_eq(idle(hour / 2), 0);
	bare_end();
}
END_TEST

/* A few timers that expire now and then cost no more wake-ups. */
START_TEST(what_runs_now_and_then_owes_nothing)
{
	begin();
	schedule(FEW / 4);
	for (int i = 0; i < 100; i++) {
		bare_schedule(0, shown() + 1, fn, NULL);
		watch_set(&engine.watch, shown() + 1);
		turns();
		ck_assert_int_eq(idle(60 * second), 0);
	}
	bare_end();
}
END_TEST

/* The instance's clock shows a day; the steady one stands still. */
START_TEST(a_day_that_passes_at_once_gives_nothing_back)
{
	begin();
	schedule(MANY);
	expire(MANY);
	for (int i = 0; i < 24; i++) {
		bare_schedule(0, shown() + hour, fn, NULL);
		watch_set(&engine.watch, shown() + hour);
		turns();
	}
	ck_assert_uint_ge(room(), MANY);
	idle(5 * second);
	is_given_back();
	bare_end();
}
END_TEST

START_TEST(a_clock_that_is_set_back_changes_nothing)
{
	begin();
	schedule(MANY);
	idle(20 * second);
	cancel(MANY);
	watch_set(&engine.watch, shown() - hour / 2);
	idle(11 * second);
	is_given_back();
	bare_end();
}
END_TEST

/* The sleep ends a slack later than what it is told. */
START_TEST(the_slack_is_not_for_it)
{
	int64_t slack = 60 * second;

	engine_init(&engine, NULL);
	engine.watch = WATCH_VIRTUAL(hour);
	engine.wakeup.slack = slack;
	bare_open(1, CLOCK_MONOTONIC);
	engine.reclaim.began = engine.reclaim.window = steady;
	ck_assert_int_eq(reclaim_at(&engine), INT64_MAX);
	schedule(MANY);
	steady += 2 * second;
	turns();
	ck_assert_int_gt(engine.reclaim.due, steady);
	ck_assert_int_eq(reclaim_at(&engine) - shown(),
			 engine.reclaim.due - steady);
	bare_end();
}
END_TEST

/* Recycling drops what was cancelled, and nothing is ever due. */
START_TEST(blocks_that_rent_empties_go_back)
{
	begin();
	schedule(ALL);
	cancel(ALL);
	for (int i = 0; i < 2 * ALL; i++)
		bare_cancel(bare_schedule(0, shown() + hour, fn, NULL));
	steady += 2 * second;
	turns();
	idle(5 * second);
	ck_assert_uint_le(block_pool_bytes(&engine.intake->pool),
			  64 * sizeof(struct block));
	bare_end();
}
END_TEST

/* As that of a server without clients, which pings somebody now and then. */
START_TEST(a_few_that_are_cancelled_owe_nothing)
{
	int wakes = 0;

	begin();
	for (int i = 0; i < 200; i++) {
		bare_cancel(bare_schedule(0, shown() + hour, fn, NULL));
		turns();
		wakes += idle(second / 2);
	}
	ck_assert_int_le(wakes, 2);
	bare_end();
}
END_TEST

/* Then it has no more memory than should stay, and wakes up no more. */
static void large_pages_have_gone_back(void)
{
	size_t least = SLOTS_LEAST * SLOT_FIRST_NUMBER;

	idle(60 * second);
	ck_assert_uint_le(room(), least + 2 * page / sizeof(struct slot));
	ck_assert_int_eq(idle(hour), 0);
}

/* Ever lower peaks: the slots in use end in the middle of some page. */
START_TEST(large_pages_go_back)
{
	for (page = 16384; page <= 262144; page *= 4) {
		begin();
		for (int n = ALL; n > 100; n -= n / 6) {
			schedule(n);
			expire(n);
			large_pages_have_gone_back();
		}
		bare_end();
	}
	page = 0;
}
END_TEST

/* Several threads have made the bucket grow at the same time. */
START_TEST(what_was_never_used_goes_back)
{
	for (page = 4096; page <= 262144; page *= 4) {
		begin();
		schedule(FEW / 4);
		for (int i = 0; i < 50; i++)
			arrival_grow_slots(&engine.intake->bucket[0]);
		expire(FEW / 4);
		large_pages_have_gone_back();
		bare_end();
	}
	page = 0;
}
END_TEST

/*
 * A round is put off while a thread is preempted with a bucket's lock: here, it
 * is this one.  Timers run meanwhile, and then the round goes on.
 */
START_TEST(nobody_waits_for_a_lock_that_is_stuck)
{
	struct lock *l;

	begin();
	schedule(MANY);
	cancel(MANY);
	l = &engine.intake->bucket[0].lock;
	steady += 2 * second;
	lock_acquire(l);
	for (int i = 0; i < 3; i++) {
		turns();
		ck_assert(engine.reclaim.active);
		ck_assert_int_eq(reclaim_at(&engine) - shown(), second / 1000);
		ck_assert_uint_eq(engine.effort, 0);
	}
	lock_release(l);
	turns();
	ck_assert(!engine.reclaim.active);
	ck_assert_int_eq(reclaim_at(&engine) - shown(),
			 engine.reclaim.due - steady);
	ck_assert_uint_eq(bare_slots_used(), 0);
	bare_end();
}
END_TEST

/* What a round gives back of it is bounded in each step. */
START_TEST(a_chain_of_blocks_goes_back_in_steps)
{
	enum { BLOCKS = 2000 };
	struct bucket *b;
	struct block_pool *p;
	size_t was;
	int steps = 0;

	begin();
	schedule(1);
	b = &engine.intake->bucket[0];
	p = b->pool;
	for (int i = 0; i < BLOCKS; i++)
		block_push(&b->spares, block_pool_take(p));
	steady += 2 * second;
	was = block_pool_bytes(p);
	for (; reclaim_step(&engine); steps++) {
		ck_assert_uint_le(was - block_pool_bytes(p),
				  SURPLUS_MAX * sizeof(struct block));
		was = block_pool_bytes(p);
	}
	ck_assert_int_ge(steps, BLOCKS / SURPLUS_MAX);
	ck_assert_uint_le(block_pool_bytes(p), 64 * sizeof(struct block));
	bare_end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		what_was_cancelled_goes_back_in_ten_seconds,
		a_peak_of_a_moment_goes_back_soon,
		what_expired_goes_back_in_ten_seconds,
		a_few_that_expired_go_back,
		it_seldom_wakes_up,
		what_a_few_timers_keep_goes_with_them,
		what_runs_now_and_then_owes_nothing,
		a_day_that_passes_at_once_gives_nothing_back,
		a_clock_that_is_set_back_changes_nothing,
		the_slack_is_not_for_it,
		blocks_that_rent_empties_go_back,
		a_few_that_are_cancelled_owe_nothing,
		large_pages_go_back,
		what_was_never_used_goes_back,
		nobody_waits_for_a_lock_that_is_stuck,
		a_chain_of_blocks_goes_back_in_steps,
	};

	return RUN_TESTS("rounds", tests);
}
