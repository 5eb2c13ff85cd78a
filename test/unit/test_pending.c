/* SPDX-License-Identifier: MIT */
/*
 * What is pending: which entries are opened when, which go back to their
 * bucket, and in which order they run; with memory and without.
 */
#include "config.h"

#include "bare_pending.h"
#include "blocks.h"
#include "fail_alloc.h"

START_TEST(empty)
{
	int64_t t = 7;

	begin_pending(2);
	ck_assert(pending_next(&pending, NOW, &t));
	ck_assert_int_eq(t, INT64_MAX);
	pending_open_ahead(&pending, now());
	collect(INT64_MAX);
	ck_assert_int_eq(earliest(), INT64_MAX);
	end_pending();
}
END_TEST

START_TEST(next_is_live)
{
	uint64_t a, b;

	begin_pending(2);
	a = schedule(NOW + 1);
	b = schedule(NOW + 2);
	schedule(NOW + 3);
	collect(NOW + 3);
	ck_assert_int_eq(earliest(), NOW + 1);
	must_cancel(a);
	must_cancel(b);
	ck_assert_int_eq(earliest(), NOW + 3);
	ck_assert_uint_eq(pending.heap.n, 1);
	ck_assert_uint_eq(used(), 1);
	run();
	ck_assert_int_eq(earliest(), INT64_MAX);
	end_pending();
}
END_TEST

START_TEST(the_cancelled_never_enter)
{
	begin_pending(2);
	must_cancel(schedule(NOW + 1));
	collect(NOW + 1);
	ck_assert_int_eq(earliest(), INT64_MAX);
	ck_assert_uint_eq(entries(), 0);
	ck_assert_uint_eq(used(), 0);
	end_pending();
}
END_TEST

/* A block is opened when it may hold the earliest, and not before. */
START_TEST(blocks_wait)
{
	enum { BLOCKS = 10 };
	int64_t t;

	begin_pending(2);
	for (unsigned i = 0; i < BLOCKS * BLOCK_ENTRIES; i++)
		schedule_in(&intake->bucket[0],
			    NOW + 10 * (int64_t)(i / BLOCK_ENTRIES));
	collect(NOW + 10 * BLOCKS);
	ck_assert_uint_eq(in_buckets(), 0);
	ck_assert_uint_eq(in_blocks(), BLOCKS * BLOCK_ENTRIES);
	ck_assert_uint_eq(pending.heap.n, 0);
	ck_assert(!pending_next(&pending, NOW, &t));
	ck_assert_int_eq(t, NOW);
	for (size_t i = 0; i < BLOCKS * BLOCK_ENTRIES; i++) {
		run();
		ck_assert_uint_le(pending.heap.n, BLOCK_ENTRIES);
	}
	ck_assert_int_eq(earliest(), INT64_MAX);
	end_pending();
}
END_TEST

/* Of equal times any comes first: nothing more need be opened. */
START_TEST(equal_times_open_one_block)
{
	begin_pending(2);
	for (unsigned i = 0; i < 3 * BLOCK_ENTRIES; i++)
		schedule_in(&intake->bucket[0], NOW);
	collect(NOW);
	ck_assert_int_eq(earliest(), NOW);
	ck_assert_uint_eq(pending.heap.n, BLOCK_ENTRIES);
	end_pending();
}
END_TEST

/*
 * So many in bucket 0, due after NOW + 2 and each before the last, that are all
 * in the heap after this; where it cannot grow, those that it has room for.
 */
static void fill_heap(uint64_t *id, size_t n, bool fails)
{
	uint64_t first[100];
	size_t blocks = 0;
	int64_t t;

	for (size_t i = 0; i < n; i++) {
		/* It makes its block an early one, and does not run. */
		if (i % 100 == 0)
			first[blocks++] =
				schedule_in(&intake->bucket[0], NOW + 1);
		id[i] = schedule_in(&intake->bucket[0],
				    NOW + 2 + (int64_t)(n - i));
	}
	if (fails)
		fail_arm(0, UINT32_MAX);
	collect(NOW + 1);
	for (size_t i = 0; i < blocks; i++)
		must_cancel(first[i]);
	for (size_t i = 0; pending.blocks.n > 0 && i < n; i++)
		pending_next(&pending, NOW, &t);
	if (fails)
		ck_assert_uint_gt(fail_disarm(), 0);
	else
		ck_assert_uint_eq(pending.blocks.n, 0);
}

/* Dead ones at the top are dropped a few at a time. */
START_TEST(steps_are_short)
{
	enum { N = 1000 };
	static uint64_t id[N];
	int64_t t = INT64_MIN;
	bool done;

	begin_pending(2);
	fill_heap(id, N, false);
	ck_assert_uint_eq(pending.heap.n, N);
	for (int i = 1; i < N; i++)
		must_cancel(id[i]);
	do {
		size_t before = pending.heap.n;
		int64_t last = t;

		done = pending_next(&pending, NOW, &t);
		ck_assert_int_le(last, t);
		ck_assert_uint_le(before - pending.heap.n, 64);
		ck_assert(done || pending.heap.n < before);
	} while (!done);
	ck_assert_uint_eq(pending.heap.n, 1);
	ck_assert_int_eq(t, NOW + 2 + N);
	end_pending();
}
END_TEST

/* What is near of a block is kept, the rest goes where it came from. */
START_TEST(what_is_far_goes_back)
{
	enum { N = 100 };
	const int64_t first = NOW + HOUR;

	begin_pending(2);
	for (int i = 0; i < N; i++)
		schedule_in(&intake->bucket[1], first + i * MS);
	for (int i = 0; i < N; i++)
		schedule_in(&intake->bucket[1], first + i * 10 * SECOND);
	watch_set(&watch, first);
	collect(first);
	ck_assert_uint_eq(in_buckets(), 0);
	ck_assert_int_eq(next_pending(), first);
	ck_assert_uint_eq(pending.heap.n, 1 + NEAR_NS / MS + 1);
	ck_assert_uint_eq(bucket_size(&intake->bucket[1]),
			  2 * N - pending.heap.n);
	/* They are announced again. */
	ck_assert_int_eq(wakeup_nearest(&wakeup),
			 first + (NEAR_NS / MS + 1) * MS);
	check();
	for (int64_t i = 0, last = 0; i < 2 * N; i++) {
		ck_assert_int_ge(earliest(), last);
		last = earliest();
		run();
	}
	ck_assert_int_eq(earliest(), INT64_MAX);
	end_pending();
}
END_TEST

/* So that the driver does not wake up for it; but not if they are many. */
START_TEST(of_a_few_no_dead_goes_back)
{
	for (unsigned n = BLOCK_SMALL; n <= BLOCK_SMALL + 1; n++) {
		uint64_t id[BLOCK_SMALL + 1];

		begin_pending(2);
		schedule_in(&intake->bucket[0], NOW + 3 * SECOND);
		for (unsigned i = 1; i < n; i++)
			id[i] = schedule_in(&intake->bucket[0],
					    NOW + 4 * SECOND);
		for (unsigned i = 1; i < n; i++)
			must_cancel(id[i]);
		collect(NOW + 3 * SECOND);
		watch_set(&watch, NOW + 3 * SECOND);
		run();
		ck_assert_int_eq(wakeup_nearest(&wakeup),
				 n > BLOCK_SMALL ? NOW + 4 * SECOND
						 : INT64_MAX);
		ck_assert_uint_eq(used(), n > BLOCK_SMALL ? n - 1 : 0);
		end_pending();
	}
}
END_TEST

/* One that was collected early is compared to the first of its block. */
START_TEST(near_is_counted_from_the_first)
{
	const int64_t first = NOW + SECOND;

	begin_pending(2);
	schedule_in(&intake->bucket[0], first);
	schedule_in(&intake->bucket[0], first + NEAR_NS);
	schedule_in(&intake->bucket[0], first + NEAR_NS + 1);
	collect(first);
	ck_assert_int_eq(next_pending(), first);
	ck_assert_uint_eq(pending.heap.n, 2);
	ck_assert_uint_eq(in_buckets(), 1);
	end_pending();

	/* But where the driver is late, from now. */
	begin_pending(2);
	schedule_in(&intake->bucket[0], first);
	schedule_in(&intake->bucket[0], first + SECOND + NEAR_NS);
	schedule_in(&intake->bucket[0], first + SECOND + NEAR_NS + 1);
	watch_set(&watch, first + SECOND);
	collect(first + SECOND);
	ck_assert_int_eq(next_pending(), first);
	ck_assert_uint_eq(pending.heap.n, 2);
	ck_assert_uint_eq(in_buckets(), 1);
	end_pending();
}
END_TEST

/* What is of no use goes, and its slot; the others come when they are due. */
START_TEST(sifted)
{
	enum { N = BLOCK_ENTRIES };
	uint64_t id[N];
	struct bucket *b;
	uint32_t n;

	begin_pending(1);
	b = &intake->bucket[0];
	for (unsigned i = 0; i < N; i++)
		id[i] = schedule_in(b, NOW + HOUR + i);
	for (unsigned i = 0; i < N; i++) {
		if (i % 3 == 0)
			must_cancel(id[i]);
		else if (i % 3 == 1)
			must_reschedule(id[i], NOW + 2 * HOUR + i);
	}
	for (unsigned lane = 0; lane < LANES; lane++) {
		struct block *block = bucket_take_oldest(b, lane, &n);

		ck_assert_uint_eq(n, block != NULL);
		if (block)
			pending_sift(&pending, block);
	}
	ck_assert_uint_eq(in_buckets(), N / 3 * 2);
	ck_assert_uint_eq(used(), N / 3 * 2);
	for (unsigned i = 2; i < N; i += 3)
		ck_assert_int_eq(run()->deadline, NOW + HOUR + i);
	for (unsigned i = 1; i < N; i += 3)
		ck_assert_int_eq(run()->deadline, NOW + 2 * HOUR + i);
	ck_assert_int_eq(earliest(), INT64_MAX);
	ck_assert_uint_eq(entries(), 0);
	end_pending();
}
END_TEST

/* Who was rescheduled while it waited comes with its new deadline. */
START_TEST(the_moved_are_refreshed)
{
	uint64_t a, b, c;
	unsigned lane;

	begin_pending(2);
	a = schedule_in(&intake->bucket[0], NOW + 1);
	b = schedule_in(&intake->bucket[0], NOW + 2);
	c = schedule_in(&intake->bucket[0], NOW + 3);
	must_reschedule(a, NOW + HOUR);
	must_reschedule(b, NOW + MS);
	collect(NOW + 3);
	ck_assert_int_eq(earliest(), NOW + 3);
	ck_assert_uint_eq(pending.heap.n, 2);
	lane = LANE_OLD + distance_lane(distance_base(NOW), NOW + HOUR);
	ck_assert_uint_eq(queue_size(&intake->bucket[0].lane[lane].queue), 1);
	ck_assert_int_eq(slot_state(atom32_load(&slot_of(a)->state)),
			 SLOT_ARMED);
	ck_assert_int_eq(slot_of(a)->due, NOW + HOUR);
	ck_assert_int_eq(slot_of(b)->due, NOW + MS);
	ck_assert_ptr_eq(run(), slot_of(c));
	ck_assert_int_eq(earliest(), NOW + MS);
	ck_assert_ptr_eq(run(), slot_of(b));
	ck_assert_int_eq(earliest(), NOW + HOUR);
	ck_assert_ptr_eq(run(), slot_of(a));
	end_pending();
}
END_TEST

/* The entry that does not count any more is dropped. */
START_TEST(the_stale_are_dropped)
{
	uint64_t id;

	begin_pending(2);
	id = schedule_in(&intake->bucket[0], NOW + MS);
	schedule_in(&intake->bucket[0], NOW + 2 * MS);
	collect(NOW + MS);
	must_reschedule(id, NOW + 1);
	ck_assert_int_eq(earliest(), NOW + 1);
	ck_assert_uint_eq(pending.heap.n, 2);
	ck_assert_ptr_eq(run(), slot_of(id));
	ck_assert_int_eq(earliest(), NOW + 2 * MS);
	end_pending();
}
END_TEST

START_TEST(first_moved)
{
	uint64_t a, b;

	begin_pending(2);
	a = schedule_in(&intake->bucket[0], NOW + 1);
	b = schedule_in(&intake->bucket[0], NOW + 2);
	collect(NOW + 1);
	ck_assert_int_eq(next_pending(), NOW + 1);
	must_reschedule(b, NOW + HOUR);
	ck_assert_int_eq(next_pending(), NOW + 1);
	ck_assert_uint_eq(in_buckets(), 0);
	/* A little: it stays, with its new deadline. */
	must_reschedule(a, NOW + 3);
	ck_assert_int_eq(next_pending(), NOW + 3);
	ck_assert_uint_eq(in_buckets(), 1);
	must_reschedule(a, NOW + HOUR);
	ck_assert_int_eq(next_pending(), INT64_MAX);
	ck_assert_uint_eq(in_buckets(), 2);
	/* There and back: its entry is right. */
	a = schedule_in(&intake->bucket[0], NOW + 1);
	collect(NOW + 1);
	ck_assert_int_eq(next_pending(), NOW + 1);
	must_reschedule(a, NOW + HOUR);
	must_reschedule(a, NOW + 1);
	ck_assert_int_eq(next_pending(), NOW + 1);
	ck_assert_ptr_eq(run(), slot_of(a));
	end_pending();
}
END_TEST

static struct entry entry_of(uint64_t id)
{
	return slot_entry(slot_of(id));
}

START_TEST(files_near_and_far)
{
	struct entry near, far;

	begin_pending(2);
	near = entry_of(schedule_in(&intake->bucket[0], NOW + NEAR_NS));
	far = entry_of(schedule_in(&intake->bucket[0], NOW + NEAR_NS + 1));
	collect(NOW + SECOND);
	ck_assert_int_eq(next_pending(), near.deadline);
	while (pending.heap.n > 0)
		pending_take(&pending);
	ck_assert_uint_eq(entries(), 0);
	pending_file(&pending, far, NOW);
	ck_assert_uint_eq(pending.heap.n, 0);
	ck_assert_int_eq(wakeup_nearest(&wakeup), far.deadline);
	pending_file(&pending, near, NOW);
	ck_assert_uint_eq(pending.heap.n, 1);
	ck_assert(!pending.starved);
	/* By a clock that was set back, it is far. */
	near = pending_take(&pending);
	pending_file(&pending, near, NOW - SECOND);
	ck_assert_uint_eq(pending.heap.n, 0);
	ck_assert_uint_eq(in_buckets(), 2);
	ck_assert_int_eq(wakeup_nearest(&wakeup), near.deadline);
	run();
	run();
	end_pending();
}
END_TEST

/* A few stay in the pool, for the next timers. */
START_TEST(gives_its_blocks_back)
{
	enum { BLOCKS = 300 };

	begin_pending(2);
	for (unsigned i = 0; i < BLOCKS * BLOCK_ENTRIES; i++)
		schedule_in(&intake->bucket[0],
			    NOW + (int64_t)(i / BLOCK_ENTRIES));
	collect(NOW + BLOCKS);
	ck_assert_uint_ge(block_pool_bytes(&intake->pool),
			  BLOCKS * BLOCK_BYTES);
	for (unsigned i = 0; i < BLOCKS * BLOCK_ENTRIES; i++)
		run();
	ck_assert_uint_le(block_pool_bytes(&intake->pool),
			  (POOL_KEEP + 4) * BLOCK_BYTES);
	end_pending();
}
END_TEST

enum { AHEAD = 40, N_AHEAD = AHEAD * BLOCK_ENTRIES };

/*
 * Fills AHEAD blocks and collects them.  The first entry of each is due at the
 * same time, soon; the others up to `spread` later.
 */
static void collect_many(int64_t deadline[N_AHEAD], uint64_t spread)
{
	const int64_t first = NOW + 3 * SECOND;
	uint64_t rng = test_seed();

	for (int i = 0; i < N_AHEAD; i++) {
		deadline[i] = first;
		if (i % BLOCK_ENTRIES > 0)
			deadline[i] += (int64_t)(next_random(&rng) % spread);
		schedule_in(&intake->bucket[0], deadline[i]);
	}
	collect(first);
	ck_assert_uint_eq(pending.blocks.n, AHEAD);
	watch_set(&watch, first - MS);
}

/* While there is time: all but a few, the first one first, a block a step. */
START_TEST(opens_blocks_ahead)
{
	static int64_t deadline[N_AHEAD];

	begin_pending(2);
	collect_many(deadline, 2 * SECOND);
	for (size_t n = AHEAD; n > BLOCKS_FEW; n--) {
		ck_assert_uint_eq(pending.blocks.n, n);
		ck_assert(pending_open_ahead(&pending, now()));
		check();
	}
	while (pending_open_ahead(&pending, now()))
		;
	ck_assert_uint_eq(pending.blocks.n, BLOCKS_FEW);
	ck_assert_uint_eq(entries(), N_AHEAD);
	qsort(deadline, N_AHEAD, sizeof(deadline[0]), by_value);
	for (int i = 0; i < N_AHEAD; i++) {
		ck_assert_int_eq(earliest(), deadline[i]);
		run();
	}
	end_pending();
}
END_TEST

/* Of a reserve, others need the blocks that this empties. */
START_TEST(opens_blocks_of_a_reserve)
{
	static int64_t deadline[N_AHEAD];

	begin_reserve(N_AHEAD);
	collect_many(deadline, MS);
	while (pending.blocks.n > BLOCKS_FEW) {
		ck_assert(pending_open_ahead(&pending, now()));
		ck_assert_ptr_null(pending.spare);
		check();
	}
	end_pending();
}
END_TEST

/* In order, each is opened once, when it is due. */
START_TEST(blocks_in_order_wait)
{
	enum { BLOCKS = 40 };
	const int64_t first = NOW + 3 * SECOND;

	begin_pending(2);
	for (unsigned i = 0; i < BLOCKS * BLOCK_ENTRIES; i++)
		schedule_in(&intake->bucket[0],
			    first + (int64_t)i * MS / BLOCK_ENTRIES);
	collect(first);
	watch_set(&watch, first - MS);
	while (pending_open_ahead(&pending, now()))
		;
	ck_assert_uint_eq(pending.blocks.n, BLOCKS);
	end_pending();
}
END_TEST

/* Times near and far: all come out at their time, in order. */
START_TEST(keeps_the_order)
{
	enum { N = 10000 };
	static int64_t deadline[N];
	uint64_t rng = test_seed();

	for (int round = 0; round < 4; round++) {
		begin_pending(2);
		for (int i = 0; i < N; i++) {
			uint64_t bits = random_below(&rng, 10 + 15 * round);

			deadline[i] = NOW + (int64_t)(next_random(&rng) >>
						      (63 - bits));
			schedule(deadline[i]);
		}
		qsort(deadline, N, sizeof(deadline[0]), by_value);
		for (int i = 0; i < N; i++) {
			must(earliest() == deadline[i]);
			run();
		}
		ck_assert_int_eq(earliest(), INT64_MAX);
		ck_assert_uint_eq(used(), 0);
		ck_assert_uint_eq(entries(), 0);
		end_pending();
	}
}
END_TEST

/* A crowd that is cancelled after it was collected goes when it is looked at */
START_TEST(the_dead_go_in_their_time)
{
	enum { N = 50000 };
	static uint64_t id[N];

	begin_pending(2);
	for (int i = 0; i < N; i++)
		id[i] = schedule(NOW + i);
	collect(NOW);
	for (int i = 1; i < N; i++)
		must_cancel(id[i]);
	ck_assert_int_eq(earliest(), NOW);
	run();
	ck_assert_int_eq(earliest(), INT64_MAX);
	ck_assert_uint_eq(entries(), 0);
	ck_assert_uint_eq(used(), 0);
	ck_assert_uint_le(pending.heap.size, HEAP_KEEP);
	end_pending();
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

/* What the heap has no room for waits in its bucket, without an entry. */
START_TEST(a_full_heap_keeps_the_earliest)
{
	enum { N = HEAP_MIN + 1000 };
	static uint64_t id[N];
	struct entry e;

	begin_pending(2);
	/* Taken out, so that this one is nowhere. */
	e = entry_of(schedule_in(&intake->bucket[1], NOW));
	visit(&intake->bucket[1], NOW);
	ck_assert_int_eq(next_pending(), NOW);
	pending_take(&pending);

	fill_heap(id, N, true);
	ck_assert(pending.starved);
	ck_assert(pending.heap.n + HEAP_SHIFT == pending.heap.size);
	ck_assert_int_eq(next_pending(), NOW + 3);
	ck_assert_int_gt(wakeup_nearest(&wakeup), NOW + 3);
	check();

	pending_begin_turn(&pending);
	fail_arm(0, UINT32_MAX);
	pending_file(&pending, e, NOW);
	ck_assert_uint_gt(fail_disarm(), 0);
	ck_assert(pending.starved);
	ck_assert_int_eq(next_pending(), NOW);
	/* A later one went back, and nothing after that must run. */
	ck_assert_int_gt(pending.beyond, NOW + 3);
	ck_assert_int_eq(wakeup_nearest(&wakeup), pending.beyond);
	check();

	for (int64_t i = 0; i <= N; i++) {
		run();
		must(earliest() == (i < N ? NOW + 3 + i : INT64_MAX));
	}
	end_pending();
}
END_TEST

/* Blocks that there is no room for in their heap: their timers are unqueued. */
START_TEST(out_of_memory_for_blocks)
{
	enum { BLOCKS = HEAP_MIN + 100 };
	static int64_t deadline[BLOCKS];
	uint64_t rng = test_seed();

	begin_pending(2);
	for (int i = 0; i < BLOCKS; i++) {
		deadline[i] = NOW + (int64_t)random_below(&rng, 10000);
		for (size_t k = 0; k < BLOCK_ENTRIES; k++)
			schedule_in(&intake->bucket[0], deadline[i]);
	}
	fail_arm(0, UINT32_MAX);
	visit(&intake->bucket[0], NOW + 10000);
	ck_assert_uint_gt(fail_disarm(), 0);
	check();
	ck_assert_uint_lt(pending.blocks.n, BLOCKS);
	ck_assert_uint_ge(in_blocks(), pending.blocks.n * BLOCK_ENTRIES);
	/* Their blocks are of use again. */
	ck_assert_uint_le(block_pool_bytes(&intake->pool),
			  (pending.blocks.n + POOL_KEEP + 4) * BLOCK_BYTES);
	/* There is memory again. */
	pending_begin_turn(&pending);
	visit(&intake->bucket[0], NOW + 10000);
	ck_assert_uint_eq(in_buckets(), 0);
	qsort(deadline, BLOCKS, sizeof(deadline[0]), by_value);
	for (size_t i = 0; i < BLOCKS * BLOCK_ENTRIES; i++) {
		must(next_pending() == deadline[i / BLOCK_ENTRIES]);
		run();
	}
	ck_assert_int_eq(earliest(), INT64_MAX);
	ck_assert_uint_eq(used(), 0);
	end_pending();
}
END_TEST

/* What is far goes back without an entry: there is no block for one. */
START_TEST(out_of_memory_sends_back)
{
	enum { N = 100 };
	const int64_t first = NOW + HOUR;
	struct bucket *b;

	begin_pending(1);
	b = &intake->bucket[0];
	for (int i = 0; i < N; i++)
		schedule_in(b, first + i * SECOND);
	watch_set(&watch, first);
	collect(first);
	block_free_all(b->spares);
	b->spares = NULL;
	no_block(&intake->pool);
	fail_arm(0, UINT32_MAX);
	ck_assert_int_eq(next_pending(), first);
	ck_assert_uint_gt(fail_disarm(), 0);
	check();
	ck_assert_uint_eq(entries(), 1);
	ck_assert_int_eq(wakeup_nearest(&wakeup), first + SECOND);
	for (int i = 0; i < N; i++) {
		must(earliest() == first + i * SECOND);
		run();
	}
	ck_assert_int_eq(earliest(), INT64_MAX);
	ck_assert_uint_eq(used(), 0);
	end_pending();
}
END_TEST

/* The last ones have an entry again, in the one block that there is. */
START_TEST(out_of_memory_sends_some_back)
{
	enum { N = 2 * BLOCK_ENTRIES };
	const int64_t first = NOW + HOUR;
	static struct entry e[N];
	struct bucket *b;

	begin_pending(1);
	b = &intake->bucket[0];
	for (int i = 0; i < N; i++)
		e[i] = entry_of(schedule_in(b, first + i));
	visit(b, first + N);
	while (pending.blocks.n > 0)
		block_pool_give(&intake->pool, take_first_block(&pending));
	block_free_all(b->spares);
	b->spares = block_alloc();
	b->spares->next = NULL;
	no_block(&intake->pool);
	fail_arm(0, UINT32_MAX);
	pending_send_back(&pending, e, N);
	ck_assert_uint_gt(fail_disarm(), 0);
	check();
	ck_assert_uint_eq(entries(), BLOCK_ENTRIES);
	for (int i = 0; i < N; i++) {
		must(earliest() == first + i);
		run();
	}
	ck_assert_int_eq(earliest(), INT64_MAX);
	ck_assert_uint_eq(used(), 0);
	end_pending();
}
END_TEST

/* It gets no further, so it must not be asked again at once. */
START_TEST(out_of_memory_opens_none_ahead)
{
	static int64_t deadline[N_AHEAD];
	int steps = 0;

	begin_pending(2);
	collect_many(deadline, MS);
	no_block(&intake->pool);
	fail_arm(0, UINT32_MAX);
	pending_begin_turn(&pending);
	while (pending_open_ahead(&pending, now()))
		must(++steps <= AHEAD);
	ck_assert_uint_gt(fail_disarm(), 0);
	ck_assert_uint_gt(pending.blocks.n, BLOCKS_FEW);
	check();
	qsort(deadline, N_AHEAD, sizeof(deadline[0]), by_value);
	pending_begin_turn(&pending);
	for (int i = 0; i < N_AHEAD; i++) {
		must(earliest() == deadline[i]);
		run();
	}
	end_pending();
}
END_TEST

/* No heap can grow: all still come out, in order. */
START_TEST(out_of_memory_keeps_order)
{
	enum { N = 3000 };
	static uint64_t ids[N];
	uint64_t rng = test_seed();
	int64_t last = INT64_MIN;
	int runs = 0;

	begin_pending(2);
	for (int i = 0; i < N; i++)
		ids[i] = schedule(NOW + (int64_t)random_below(&rng, 10000));
	fail_arm(0, UINT32_MAX);
	collect(NOW + 5000);
	for (int i = 0; i < N; i += 3)
		must_cancel(ids[i]);
	while (earliest() != INT64_MAX) {
		int64_t deadline = earliest();

		must(last <= deadline);
		last = deadline;
		run();
		check();
		if (++runs == N / 2)
			ck_assert_uint_gt(fail_disarm(), 0);
	}
	ck_assert_int_eq(runs, N - N / 3);
	ck_assert_uint_eq(entries(), 0);
	ck_assert_uint_eq(used(), 0);
	end_pending();
}
END_TEST

#endif

int main(void)
{
	const TTest *const tests[] = {
		empty,
		next_is_live,
		the_cancelled_never_enter,
		blocks_wait,
		equal_times_open_one_block,
		steps_are_short,
		what_is_far_goes_back,
		of_a_few_no_dead_goes_back,
		near_is_counted_from_the_first,
		sifted,
		the_moved_are_refreshed,
		the_stale_are_dropped,
		first_moved,
		files_near_and_far,
		gives_its_blocks_back,
		opens_blocks_ahead,
		opens_blocks_of_a_reserve,
		blocks_in_order_wait,
		keeps_the_order,
		the_dead_go_in_their_time,
#ifndef FAIL_ALLOC_UNAVAILABLE
		a_full_heap_keeps_the_earliest,
		out_of_memory_for_blocks,
		out_of_memory_sends_back,
		out_of_memory_sends_some_back,
		out_of_memory_opens_none_ahead,
		out_of_memory_keeps_order,
#endif
	};

	return RUN_TESTS("pending", tests);
}
