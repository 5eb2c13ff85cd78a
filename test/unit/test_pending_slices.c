/* SPDX-License-Identifier: MIT */
/*
 * Where many timers are near: slices of a wheel keep the heap small, and
 * nothing comes out of its turn.
 */
#include "config.h"

#include "bare_pending.h"
#include "checks/wheel.h"

#define SLICE (NEAR_NS / SLICES)

enum { MANY = 2000 };
static int64_t due[MANY];

/* As many as the heap takes by itself: from then on slices are used. */
static void fill_small_heap(uint64_t *id, int64_t deadline)
{
	for (int i = 0; i < 64; i++)
		id[i] = schedule_in(&intake->bucket[0], deadline);
	collect(deadline);
	must(next_pending() == deadline);
	must(pending.heap.n >= 64);
}

/* The k-th of them to run, whose times are mixed in all blocks. */
static int nth(int k)
{
	return k * 7 % MANY;
}

/* MANY in both buckets, spread over 8 slices from NOW + 2 of them on. */
static void fill_slices(uint64_t *id)
{
	fill_small_heap(id, NOW + 1);
	for (int k = 0; k < MANY; k++)
		due[nth(k)] = NOW + 2 * SLICE + k * 8 * SLICE / MANY;
	for (int i = 0; i < MANY; i++)
		id[i] = schedule_in(&intake->bucket[i & 1], due[i]);
	collect(NOW + 2 * SLICE);
	watch_set(&watch, NOW + 1);
	for (int i = 0; i < 64; i++)
		run();
	ck_assert_int_eq(earliest(), NOW + 2 * SLICE);
}

/* Where many are near the heap has only those that come next. */
START_TEST(slices_keep_the_heap_small)
{
	static uint64_t id[MANY];
	size_t most = 0;

	begin_pending(2);
	fill_slices(id);
	for (int k = 0; k < MANY; k++) {
		size_t waiting = wheel_count(&pending.wheel);

		most = waiting > most ? waiting : most;
		must(pending.heap.n <= 64 + MANY / 8 + 1);
		must(earliest() == due[nth(k)]);
		must(run() == slot_of(id[nth(k)]));
		check();
	}
	ck_assert_uint_gt(most, MANY / 2);
	ck_assert_int_eq(earliest(), INT64_MAX);
	ck_assert_uint_eq(entries(), 0);
	end_pending();
}
END_TEST

/* Whatever becomes of a timer in a slice is seen when that is opened. */
START_TEST(what_is_in_a_slice_may_change)
{
	static uint64_t id[MANY];

	begin_pending(2);
	fill_slices(id);
	for (int k = 0; k < MANY; k++) {
		if (k % 3 == 1)
			must_cancel(id[nth(k)]);
		else if (k % 3 == 2)
			must_reschedule(id[nth(k)], NOW + HOUR + k);
	}
	for (int k = 0; k < MANY; k += 3)
		must(run() == slot_of(id[nth(k)]));
	for (int i = 0; i < 2; i++)
		bucket_check_owner(&intake->bucket[i]);
	for (int k = 2; k < MANY; k += 3)
		must(run() == slot_of(id[nth(k)]));
	ck_assert_int_eq(earliest(), INT64_MAX);
	ck_assert_uint_eq(used(), 0);
	end_pending();
}
END_TEST

/* What was due meanwhile is sorted by slices, too. */
START_TEST(slices_for_one_who_is_behind)
{
	enum { N = 20000 };
	static int64_t late[N];
	uint64_t rng = test_seed();

	begin_pending(2);
	for (int i = 0; i < N; i++) {
		late[i] = NOW + (int64_t)random_below(&rng, 40 * SECOND);
		schedule(late[i]);
	}
	qsort(late, N, sizeof(late[0]), by_value);
	watch_set(&watch, NOW + 40 * SECOND);
	collect(now());
	for (int i = 0; i < N; i++) {
		must(earliest() == late[i]);
		must(pending.heap.n <= 2 * 64);
		run();
		if (i % 100 == 0)
			check();
	}
	ck_assert_int_eq(earliest(), INT64_MAX);
	ck_assert_uint_eq(used(), 0);
	end_pending();
}
END_TEST

/* Nothing is due, and the first deadline is wanted. */
START_TEST(a_slice_is_opened_early)
{
	static uint64_t id[MANY];

	begin_pending(2);
	/* All in one slice. */
	fill_small_heap(id, NOW + 6 * SLICE);
	for (int i = 0; i < MANY; i++)
		id[i] = schedule_in(&intake->bucket[0], NOW + 5 * SLICE + i);
	collect(NOW + 5 * SLICE);
	ck_assert_int_eq(earliest(), NOW + 5 * SLICE);
	for (int i = 0; i < MANY; i++)
		must(run() == slot_of(id[i]));
	ck_assert_int_eq(earliest(), NOW + 6 * SLICE);
	end_pending();
}
END_TEST

/*
 * A block is opened long before it is due, to know what is next: then too it
 * comes out, and is not sent back to be collected again.
 */
START_TEST(slices_long_before)
{
	enum { MANY_LATER = 100 };
	const int64_t first = NOW + 700 * SECOND / 1000;
	uint64_t id;

	begin_pending(2);
	for (int i = 0; i < MANY_LATER; i++)
		schedule_in(&intake->bucket[0], first + SECOND / 250);
	id = schedule_in(&intake->bucket[0], first);
	collect(first);
	ck_assert_int_eq(next_pending(), first);
	ck_assert_int_eq(wakeup_nearest(&wakeup), INT64_MAX);
	watch_set(&watch, first);
	ck_assert_ptr_eq(run(), slot_of(id));
	ck_assert_int_eq(earliest(), first + SECOND / 250);
	end_pending();
}
END_TEST

enum { VERY_MANY = 2 * BLOCKS_MANY * BLOCK_ENTRIES };

/* The k-th of VERY_MANY to run, whose times are mixed in all blocks. */
static size_t mixed(size_t k)
{
	return k * 7919 % VERY_MANY;
}

/* Due in no order, over half a second from then on. */
static void collect_very_many(uint64_t *id, int64_t first)
{
	for (size_t i = 0; i < VERY_MANY; i++)
		id[i] = 0;
	for (size_t i = 0; i < VERY_MANY; i++)
		id[mixed(i)] = schedule_in(&intake->bucket[0],
					   first + (int64_t)mixed(i) * SECOND /
							   2 / VERY_MANY);
	collect(first);
	ck_assert_uint_ge(pending.blocks.n, 2 * BLOCKS_MANY - 1);
}

/* Steps of a driver that has nothing else to do. */
static void open_ahead(void)
{
	while (pending_open_ahead(&pending, now()))
		check();
}

/*
 * While there are very many, those that are due within seconds are kept, and
 * the next is not looked for before its time.
 */
START_TEST(very_many_are_kept)
{
	static uint64_t id[VERY_MANY];
	const int64_t first = NOW + 3 * SECOND;
	int64_t next;

	begin_pending(1);
	collect_very_many(id, first);
	watch_set(&watch, first - SECOND / 4);
	open_ahead();
	ck_assert_uint_le(pending.blocks.n, BLOCKS_MANY);
	ck_assert_uint_gt(wheel_count(&pending.wheel), VERY_MANY / 3);
	ck_assert(wheel_is_deep(&pending.wheel));
	while (!pending_next(&pending, now(), &next))
		;
	ck_assert_int_le(next, first);
	ck_assert(!pending_has_found(&pending, next));
	/* So an earlier one fits into the wheel, too. */
	ck_assert_int_lt(wheel_level(&pending.wheel, now() + SECOND / 100),
			 WHEEL_LEVELS);
	for (size_t k = 0; k < VERY_MANY; k++) {
		watch_set(&watch, first + (int64_t)k * SECOND / 2 / VERY_MANY);
		open_ahead();
		must(run() == slot_of(id[k]));
	}
	ck_assert_uint_eq(used(), 0);
	end_pending();
}
END_TEST

/* A long slice is empty when its time comes. */
START_TEST(long_slices_are_opened_ahead)
{
	static uint64_t id[VERY_MANY];
	const int64_t first = NOW + 3 * SECOND;

	begin_pending(1);
	collect_very_many(id, first);
	for (int64_t at = first - SECOND / 4; at < first; at += MS) {
		watch_set(&watch, at);
		open_ahead();
	}
	for (size_t k = 0; k < VERY_MANY; k++) {
		watch_set(&watch, first + (int64_t)k * SECOND / 2 / VERY_MANY);
		open_ahead();
		must(wheel_next(&pending.wheel, WHEEL_LONG) > now());
		must(run() == slot_of(id[k]));
	}
	end_pending();
}
END_TEST

/* Each block has one of the first to run: then all are opened. */
static void open_many(int n)
{
	for (int i = 0; i < n; i++)
		schedule_in(&intake->bucket[0],
			    NOW + SECOND +
				    (int64_t)i * 7919 % n * (NEAR_NS / 2 / n));
	collect(NOW + SECOND + NEAR_NS / 2);
	while (pending.blocks.n > 0) {
		watch_set(&watch, next_pending());
		run();
	}
}

static size_t all_bytes(void)
{
	return pending_bytes(&pending) + block_pool_bytes(&intake->pool);
}

/* Its memory: in the wheel, or in the heap. */
START_TEST(bytes)
{
	enum { N = 20000, ALL = N * (int)sizeof(struct entry) };

	begin_pending(2);
	ck_assert_uint_lt(all_bytes(), 1 << 16);
	open_many(N);
	ck_assert_uint_ge(all_bytes(), ALL * 9 / 10);
	ck_assert_uint_le(all_bytes(), 2 * ALL);
	end_pending();

	begin_reserve(N);
	open_many(N);
	ck_assert_uint_ge(pending_bytes(&pending), 2 * ALL);
	ck_assert_uint_le(pending_bytes(&pending), 3 * ALL);
	end_pending();
}
END_TEST

/* With a reserve the heap has room for all, and blocks may be scarce. */
START_TEST(a_reserve_does_without_slices)
{
	static uint64_t id[MANY];

	begin_reserve(MANY);
	fill_slices(id);
	ck_assert_uint_eq(wheel_count(&pending.wheel), 0);
	end_pending();
}
END_TEST

/* What it has no room for is unqueued; what is of no use then goes. */
START_TEST(a_reserve_takes_no_more)
{
	enum { LIVE = 500, DEAD = 2000 };
	static uint64_t id[DEAD];
	size_t size;

	begin_reserve(LIVE);
	size = pending.heap.size;
	for (int i = 0; i < DEAD; i++)
		id[i] = schedule(NOW + 1 + i * 7919 % DEAD);
	collect(NOW + DEAD);
	while (pending.blocks.n > 0)
		run();
	ck_assert_uint_gt(intake->bucket[0].unqueued.first, 0);
	for (int i = 0; i < DEAD; i++)
		cancel(id[i]);
	for (int i = 0; i < LIVE; i++)
		schedule(NOW + MS + i);
	for (int i = 0; i < LIVE; i++) {
		pending_begin_turn(&pending);
		must(earliest() == NOW + MS + i);
		run();
		must(pending.heap.size == size);
	}
	pending_begin_turn(&pending);
	ck_assert_int_eq(earliest(), INT64_MAX);
	ck_assert_uint_eq(used(), 0);
	/* More timers than it is for: as if there were none. */
	atom32_store(&intake->pool.fixed, 0);
	for (int i = 0; i < MANY; i++)
		schedule(NOW + 2 * MS);
	collect(NOW + 2 * MS);
	ck_assert_int_eq(earliest(), NOW + 2 * MS);
	ck_assert_uint_eq(in_buckets(), 0);
	while (earliest() != INT64_MAX)
		run();
	end_pending();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		slices_keep_the_heap_small,
		what_is_in_a_slice_may_change,
		slices_for_one_who_is_behind,
		a_slice_is_opened_early,
		slices_long_before,
		very_many_are_kept,
		long_slices_are_opened_ahead,
		bytes,
		a_reserve_does_without_slices,
		a_reserve_takes_no_more,
	};

	return RUN_TESTS("pending_slices", tests);
}
