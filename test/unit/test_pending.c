/* SPDX-License-Identifier: MIT */
#include "blocks.h"
#include "checks/bucket.h"
#include "checks/pending.h"
#include "checks/wheel.h"
#include "entries.h"
#include "fail_alloc.h"
#include "harness.h"
#include "intake/expiry.h"
#include "intake/handover.h"
#include "must.h"
#include "os/clock.h"
#include "pending/pending.h"
#include "use_all.h"

#define NOW    (INT64_C(1) << 50)
#define MS     INT64_C(1000000)
#define SECOND (1000 * MS)
#define HOUR   (3600 * SECOND)

enum { BUCKETS = 2 };

static struct watch watch;
static struct wakeup wakeup;
static struct intake *intake;
static struct pending pending;

static void fn(void *arg)
{
	(void)arg;
}

static int64_t now(void)
{
	return watch_now(&watch);
}

static void collect(int64_t by);

static void begin(void)
{
	watch_init_virtual(&watch, NOW);
	wakeup_init(&wakeup, &watch);
	ck_assert(wakeup_open(&wakeup, BUCKETS));
	intake = intake_create(BUCKETS);
	ck_assert_ptr_nonnull(intake);
	intake_open(intake);
	use_all(intake);
	ck_assert(pending_init(&pending, intake, &wakeup));
}

static void check(void)
{
	pending_check(&pending);
	for (uint32_t i = 0; i < BUCKETS; i++)
		bucket_check(&intake->bucket[i]);
}

static void end(void)
{
	check();
	pending_destroy(&pending);
	intake_destroy(intake);
	wakeup_close(&wakeup);
}

static uint64_t schedule_in(uint32_t bucket, int64_t deadline)
{
	uint64_t id = 0;

	must(bucket_schedule(&intake->bucket[bucket], &wakeup,
			     &(struct timer){deadline, 0, fn, NULL, 0},
			     &id) == 0);
	return id;
}

static uint64_t schedule(int64_t deadline)
{
	return schedule_in((uint32_t)(deadline & 1), deadline);
}

static struct slot *slot_of(uint64_t id)
{
	return intake_slot(intake, id);
}

static struct bucket *bucket_of(uint64_t id)
{
	return intake_bucket(intake, slot_index(id));
}

static void cancel(uint64_t id)
{
	must(slot_cancel(slot_of(id), id) == 0);
}

static void reschedule(uint64_t id, int64_t deadline)
{
	must(bucket_reschedule(bucket_of(id), &wakeup, slot_of(id), id,
			       deadline, false) == 0);
}

/* As if it were that time by now: the first of them is to stay. */
static void file_stranded(struct bucket *b, struct slot *s, int64_t by)
{
	while (s) {
		struct slot *next = s->next;

		pending_file(&pending, handover_collect(b, s), by);
		s = next;
	}
}

static void visit(struct bucket *b, int64_t by)
{
	struct visit v;
	bool more;

	visit_begin(&v, by, now());
	do {
		more = bucket_collect(b, &wakeup, &v, &pending.spares);
		for (uint32_t i = 0; i < v.cursor.taken; i++)
			pending_add(&pending, v.cursor.row[i]);
		file_stranded(b, v.stranded, by);
	} while (more);
}

/* What is due by then comes in, and more. */
static void collect(int64_t by)
{
	struct bucket_set due;
	uint32_t i;

	if (!wakeup_collect(&wakeup, by, &due))
		return;
	while (bucket_set_take(&due, &i))
		visit(&intake->bucket[i], by);
	check();
}

/* The earliest of what was collected. */
static int64_t next_pending(void)
{
	int64_t bound = INT64_MIN, next;

	while (!pending_next(&pending, now(), &next)) {
		bound = next > bound ? next : bound;
		pending_check(&pending);
	}
	must(next >= bound);
	return next;
}

/* The earliest of all. */
static int64_t next(void)
{
	for (;;) {
		int64_t t = next_pending(), arrivals = wakeup_arrivals(&wakeup);

		if (arrivals >= t)
			return t;
		collect(arrivals);
	}
}

/* Runs the earliest one and returns its slot, which is free then. */
static const struct slot *run(void)
{
	int64_t deadline = next();
	struct entry e = pending_take(&pending);
	struct slot *s = intake_slot_of(intake, &e);
	uint64_t overrun = 0;
	enum expiry x;

	must(e.deadline == deadline);
	if (deadline > now())
		watch_set(&watch, deadline);
	x = expiry_begin(intake_bucket(intake, e.index), s, &e, deadline,
			 &overrun);
	if (x == EXPIRY_LATER) {
		pending_file(&pending, e, now());
		return run();
	}
	must(x == EXPIRY_RUN && s->deadline == deadline && expiry_end(s));
	intake_recycle(intake, s);
	return s;
}

static size_t in_buckets(void)
{
	return entries_of(&pending) - entries_pending(&pending);
}

/* In blocks that are not open. */
static size_t in_blocks(void)
{
	return entries_pending(&pending) - pending.heap.n;
}

static size_t entries(void)
{
	return entries_of(&pending);
}

static size_t used(void)
{
	size_t n = 0;

	intake_flush(intake);
	for (uint32_t i = 0; i < BUCKETS; i++)
		n += slots_used(&intake->bucket[i].slots);
	return n;
}

START_TEST(empty)
{
	int64_t t = 7;

	begin();
	ck_assert(pending_next(&pending, NOW, &t));
	ck_assert_int_eq(t, INT64_MAX);
	ck_assert(!pending_first_moved(&pending));
	pending_trim(&pending);
	collect(INT64_MAX);
	ck_assert_int_eq(next(), INT64_MAX);
	end();
}
END_TEST

START_TEST(next_is_live)
{
	uint64_t a, b;

	begin();
	a = schedule(NOW + 1);
	b = schedule(NOW + 2);
	schedule(NOW + 3);
	collect(NOW + 3);
	ck_assert_int_eq(next(), NOW + 1);
	cancel(a);
	cancel(b);
	ck_assert_int_eq(next(), NOW + 3);
	ck_assert_uint_eq(pending.heap.n, 1);
	ck_assert_uint_eq(used(), 1);
	run();
	ck_assert_int_eq(next(), INT64_MAX);
	end();
}
END_TEST

START_TEST(the_cancelled_never_enter)
{
	begin();
	cancel(schedule(NOW + 1));
	collect(NOW + 1);
	ck_assert_int_eq(next(), INT64_MAX);
	ck_assert_uint_eq(entries(), 0);
	ck_assert_uint_eq(used(), 0);
	end();
}
END_TEST

/* A block is opened when it may hold the earliest, and not before. */
START_TEST(blocks_wait)
{
	enum { BLOCKS = 10 };
	int64_t t;

	begin();
	for (unsigned i = 0; i < BLOCKS * BLOCK_ENTRIES; i++)
		schedule_in(0, NOW + 10 * (int64_t)(i / BLOCK_ENTRIES));
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
	ck_assert_int_eq(next(), INT64_MAX);
	end();
}
END_TEST

/* Of equal times any comes first: nothing more need be opened. */
START_TEST(equal_times_open_one_block)
{
	begin();
	for (unsigned i = 0; i < 3 * BLOCK_ENTRIES; i++)
		schedule_in(0, NOW);
	collect(NOW);
	ck_assert_int_eq(next(), NOW);
	ck_assert_uint_eq(pending.heap.n, BLOCK_ENTRIES);
	end();
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
			first[blocks++] = schedule_in(0, NOW + 1);
		id[i] = schedule_in(0, NOW + 2 + (int64_t)(n - i));
	}
	if (fails)
		fail_arm(0, UINT32_MAX);
	collect(NOW + 1);
	for (size_t i = 0; i < blocks; i++)
		cancel(first[i]);
	for (size_t i = 0; pending.blocks.n > 0 && i < n; i++)
		pending_next(&pending, NOW, &t);
	if (fails)
		ck_assert_uint_gt(fail_disarm(), 0);
	ck_assert_uint_eq(pending.blocks.n, 0);
}

/* Dead ones at the top are dropped a few at a time. */
START_TEST(steps_are_short)
{
	enum { N = 1000 };
	static uint64_t id[N];
	int64_t t = INT64_MIN;
	bool done;

	begin();
	fill_heap(id, N, false);
	ck_assert_uint_eq(pending.heap.n, N);
	for (int i = 1; i < N; i++)
		cancel(id[i]);
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
	end();
}
END_TEST

/* What is near of a block is kept, the rest goes where it came from. */
START_TEST(what_is_far_goes_back)
{
	enum { N = 100 };
	const int64_t first = NOW + HOUR;

	begin();
	for (int i = 0; i < N; i++)
		schedule_in(1, first + i * MS);
	for (int i = 0; i < N; i++)
		schedule_in(1, first + i * 10 * SECOND);
	watch_set(&watch, first);
	collect(first);
	ck_assert_uint_eq(in_buckets(), 0);
	ck_assert_int_eq(next_pending(), first);
	ck_assert_uint_eq(pending.heap.n, 1 + PENDING_NEAR_NS / MS + 1);
	ck_assert_uint_eq(bucket_size(&intake->bucket[1]),
			  2 * N - pending.heap.n);
	/* They are announced again. */
	ck_assert_int_eq(wakeup_arrivals(&wakeup),
			 first + (PENDING_NEAR_NS / MS + 1) * MS);
	check();
	for (int64_t i = 0, last = 0; i < 2 * N; i++) {
		ck_assert_int_ge(next(), last);
		last = next();
		run();
	}
	ck_assert_int_eq(next(), INT64_MAX);
	end();
}
END_TEST

/* One that was collected early is compared to the first of its block. */
START_TEST(near_is_counted_from_the_first)
{
	const int64_t first = NOW + SECOND;

	begin();
	schedule_in(0, first);
	schedule_in(0, first + PENDING_NEAR_NS);
	schedule_in(0, first + PENDING_NEAR_NS + 1);
	collect(first);
	ck_assert_int_eq(next_pending(), first);
	ck_assert_uint_eq(pending.heap.n, 2);
	ck_assert_uint_eq(in_buckets(), 1);
	end();

	/* But where the driver is late, from now. */
	begin();
	schedule_in(0, first);
	schedule_in(0, first + SECOND + PENDING_NEAR_NS);
	schedule_in(0, first + SECOND + PENDING_NEAR_NS + 1);
	watch_set(&watch, first + SECOND);
	collect(first + SECOND);
	ck_assert_int_eq(next_pending(), first);
	ck_assert_uint_eq(pending.heap.n, 2);
	ck_assert_uint_eq(in_buckets(), 1);
	end();
}
END_TEST

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

#define SLICE (NEAR_NS / SLICES)

enum { MANY = 2000 };
static int64_t due[MANY];

/* As many as the heap takes by itself: from then on slices are used. */
static void fill_small_heap(uint64_t *id, int64_t deadline)
{
	for (int i = 0; i < 64; i++)
		id[i] = schedule_in(0, deadline);
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
		id[i] = schedule_in((uint32_t)i & 1, due[i]);
	collect(NOW + 2 * SLICE);
	watch_set(&watch, NOW + 1);
	for (int i = 0; i < 64; i++)
		run();
	ck_assert_int_eq(next(), NOW + 2 * SLICE);
}

/* Where many are near the heap has only those that come next. */
START_TEST(slices_keep_the_heap_small)
{
	static uint64_t id[MANY];
	size_t most = 0;

	begin();
	fill_slices(id);
	for (int k = 0; k < MANY; k++) {
		size_t waiting = wheel_count(&pending.wheel);

		most = waiting > most ? waiting : most;
		must(pending.heap.n <= 64 + MANY / 8 + 1);
		must(next() == due[nth(k)]);
		must(run() == slot_of(id[nth(k)]));
		check();
	}
	ck_assert_uint_gt(most, MANY / 2);
	ck_assert_int_eq(next(), INT64_MAX);
	ck_assert_uint_eq(entries(), 0);
	end();
}
END_TEST

/* Whatever becomes of a timer in a slice is seen when that is opened. */
START_TEST(what_is_in_a_slice_may_change)
{
	static uint64_t id[MANY];

	begin();
	fill_slices(id);
	for (int k = 0; k < MANY; k++) {
		if (k % 3 == 1)
			cancel(id[nth(k)]);
		else if (k % 3 == 2)
			reschedule(id[nth(k)], NOW + HOUR + k);
	}
	for (int k = 0; k < MANY; k += 3)
		must(run() == slot_of(id[nth(k)]));
	for (int i = 0; i < BUCKETS; i++)
		bucket_check_owner(&intake->bucket[i]);
	for (int k = 2; k < MANY; k += 3)
		must(run() == slot_of(id[nth(k)]));
	ck_assert_int_eq(next(), INT64_MAX);
	ck_assert_uint_eq(used(), 0);
	end();
}
END_TEST

/* What was due meanwhile is sorted by slices, too. */
START_TEST(slices_for_one_who_is_behind)
{
	enum { N = 20000 };
	static int64_t late[N];
	uint64_t rng = test_seed();

	begin();
	for (int i = 0; i < N; i++) {
		late[i] = NOW + (int64_t)random_below(&rng, 40 * SECOND);
		schedule(late[i]);
	}
	qsort(late, N, sizeof(late[0]), by_value);
	watch_set(&watch, NOW + 40 * SECOND);
	collect(now());
	for (int i = 0; i < N; i++) {
		must(next() == late[i]);
		must(pending.heap.n <= 2 * 64);
		run();
		if (i % 100 == 0)
			check();
	}
	ck_assert_int_eq(next(), INT64_MAX);
	ck_assert_uint_eq(used(), 0);
	end();
}
END_TEST

/* Nothing is due, and the first deadline is wanted. */
START_TEST(a_slice_is_opened_early)
{
	static uint64_t id[MANY];

	begin();
	/* All in one slice. */
	fill_small_heap(id, NOW + 6 * SLICE);
	for (int i = 0; i < MANY; i++)
		id[i] = schedule_in(0, NOW + 5 * SLICE + i);
	collect(NOW + 5 * SLICE);
	ck_assert_int_eq(next(), NOW + 5 * SLICE);
	for (int i = 0; i < MANY; i++)
		must(run() == slot_of(id[i]));
	ck_assert_int_eq(next(), NOW + 6 * SLICE);
	end();
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

	begin();
	for (int i = 0; i < MANY_LATER; i++)
		schedule_in(0, first + SECOND / 250);
	id = schedule_in(0, first);
	collect(first);
	ck_assert_int_eq(next_pending(), first);
	ck_assert_int_eq(wakeup_arrivals(&wakeup), INT64_MAX);
	watch_set(&watch, first);
	ck_assert_ptr_eq(run(), slot_of(id));
	ck_assert_int_eq(next(), first + SECOND / 250);
	end();
}
END_TEST

/* Each block has one of the first to run: then all are opened. */
static void open_many(int n)
{
	for (int i = 0; i < n; i++)
		schedule_in(0,
			    NOW + SECOND +
				    (int64_t)i * 7919 % n * (NEAR_NS / 2 / n));
	collect(NOW + SECOND + NEAR_NS / 2);
	while (pending.blocks.n > 0) {
		watch_set(&watch, next_pending());
		run();
	}
}

/* Its memory: in the wheel, or in the heap. */
START_TEST(bytes)
{
	enum { N = 20000, ALL = N * (int)sizeof(struct entry) };

	begin();
	ck_assert_uint_lt(pending_bytes(&pending), 1 << 16);
	open_many(N);
	ck_assert_uint_ge(pending_bytes(&pending), ALL * 9 / 10);
	ck_assert_uint_le(pending_bytes(&pending), 2 * ALL);
	end();

	begin();
	ck_assert(pending_reserve(&pending, N));
	open_many(N);
	ck_assert_uint_ge(pending_bytes(&pending), 2 * ALL);
	ck_assert_uint_le(pending_bytes(&pending), 3 * ALL);
	end();
}
END_TEST

/* With a reserve the heap has room for all, and blocks may be scarce. */
START_TEST(a_reserve_does_without_slices)
{
	static uint64_t id[MANY];

	begin();
	ck_assert(pending_reserve(&pending, MANY));
	fill_slices(id);
	ck_assert_uint_eq(wheel_count(&pending.wheel), 0);
	end();
}
END_TEST

/* Of what was cancelled there may be a hole, near or far. */
START_TEST(holes_are_passed_over)
{
	static const int64_t in[] = {1, 2, 3, SECOND, SECOND + 1, SECOND + 2};
	struct queue *q;

	begin();
	for (int i = 0; i < 6; i++)
		schedule_in(0, NOW + in[i]);
	for (int i = 0; i < 6; i += 3) {
		unsigned lane = distance_lane(distance_base(NOW), NOW + in[i]);

		q = &intake->bucket[0].lane[lane].queue;
		ck_assert_uint_eq(queue_size(q), 3);
		for (size_t k = 0; k < 3; k += 2)
			queue_at(q, k)->index = 0;
	}
	collect(NOW + 3);
	collect(NOW + SECOND);
	ck_assert_int_eq(next(), NOW + 2);
	run();
	ck_assert_int_eq(next(), NOW + SECOND + 1);
	run();
	ck_assert_int_eq(next(), INT64_MAX);
	ck_assert_uint_eq(entries(), 0);
	end();
}
END_TEST

/* Who was rescheduled while it waited comes with its new deadline. */
START_TEST(the_moved_are_refreshed)
{
	uint64_t a, b, c;
	unsigned lane;

	begin();
	a = schedule_in(0, NOW + 1);
	b = schedule_in(0, NOW + 2);
	c = schedule_in(0, NOW + 3);
	reschedule(a, NOW + HOUR);
	reschedule(b, NOW + MS);
	collect(NOW + 3);
	ck_assert_int_eq(next(), NOW + 3);
	ck_assert_uint_eq(pending.heap.n, 2);
	lane = distance_lane(distance_base(NOW), NOW + HOUR);
	ck_assert_uint_eq(queue_size(&intake->bucket[0].lane[lane].queue), 1);
	ck_assert_int_eq(slot_state(atom32_load(&slot_of(a)->state)),
			 SLOT_ARMED);
	ck_assert_int_eq(slot_of(a)->queued, NOW + HOUR);
	ck_assert_int_eq(slot_of(b)->queued, NOW + MS);
	ck_assert_ptr_eq(run(), slot_of(c));
	ck_assert_int_eq(next(), NOW + MS);
	ck_assert_ptr_eq(run(), slot_of(b));
	ck_assert_int_eq(next(), NOW + HOUR);
	ck_assert_ptr_eq(run(), slot_of(a));
	end();
}
END_TEST

/* The entry that does not count any more is dropped. */
START_TEST(the_stale_are_dropped)
{
	uint64_t id;

	begin();
	id = schedule_in(0, NOW + MS);
	schedule_in(0, NOW + 2 * MS);
	collect(NOW + MS);
	reschedule(id, NOW + 1);
	ck_assert_int_eq(next(), NOW + 1);
	ck_assert_uint_eq(pending.heap.n, 2);
	ck_assert_ptr_eq(run(), slot_of(id));
	ck_assert_int_eq(next(), NOW + 2 * MS);
	end();
}
END_TEST

START_TEST(first_moved)
{
	uint64_t a, b;

	begin();
	a = schedule_in(0, NOW + 1);
	b = schedule_in(0, NOW + 2);
	collect(NOW + 1);
	next();
	ck_assert(!pending_first_moved(&pending));
	reschedule(b, NOW + HOUR);
	ck_assert(!pending_first_moved(&pending));
	reschedule(a, NOW + HOUR);
	ck_assert(pending_first_moved(&pending));
	end();
}
END_TEST

static struct entry entry_of(uint64_t id)
{
	return slot_entry(slot_of(id));
}

START_TEST(files_near_and_far)
{
	struct entry near, far;

	begin();
	near = entry_of(schedule_in(0, NOW + PENDING_NEAR_NS));
	far = entry_of(schedule_in(0, NOW + PENDING_NEAR_NS + 1));
	collect(NOW + SECOND);
	ck_assert_int_eq(next_pending(), near.deadline);
	while (pending.heap.n > 0)
		pending_take(&pending);
	ck_assert_uint_eq(entries(), 0);
	pending_file(&pending, far, NOW);
	ck_assert_uint_eq(pending.heap.n, 0);
	ck_assert_int_eq(wakeup_arrivals(&wakeup), far.deadline);
	pending_file(&pending, near, NOW);
	ck_assert_uint_eq(pending.heap.n, 1);
	ck_assert(!pending.full);
	/* However near it is. */
	pending_send_back(&pending, pending_take(&pending));
	ck_assert_uint_eq(pending.heap.n, 0);
	ck_assert_uint_eq(in_buckets(), 2);
	ck_assert_int_eq(wakeup_arrivals(&wakeup), near.deadline);
	run();
	run();
	end();
}
END_TEST

/* Of those that buckets hand out, too; and freeing them goes by steps. */
START_TEST(trims_its_spares)
{
	enum { BLOCKS = 300 };
	size_t before, after;
	bool more;

	begin();
	for (unsigned i = 0; i < BLOCKS * BLOCK_ENTRIES; i++)
		schedule_in(0, NOW + (int64_t)(i / BLOCK_ENTRIES));
	collect(NOW + BLOCKS);
	for (unsigned i = 0; i < BLOCKS * BLOCK_ENTRIES; i++)
		run();
	ck_assert_uint_le(count_blocks(pending.spares), 20);
	for (unsigned i = 0; i < BLOCKS; i++)
		block_push(&pending.spares, block_alloc());
	after = count_blocks(pending.spares);
	do {
		before = after;
		more = pending_trim(&pending);
		after = count_blocks(pending.spares);
		ck_assert_uint_le(before - after, 64);
		ck_assert(!more || after < before);
	} while (more);
	ck_assert_uint_gt(after, 0);
	ck_assert_uint_le(after, 20);
	end();
}
END_TEST

/* Times near and far: all come out at their time, in order. */
START_TEST(keeps_the_order)
{
	enum { N = 10000 };
	static int64_t deadline[N];
	uint64_t rng = test_seed();

	for (int round = 0; round < 4; round++) {
		begin();
		for (int i = 0; i < N; i++) {
			uint64_t bits = random_below(&rng, 10 + 15 * round);

			deadline[i] = NOW + (int64_t)(next_random(&rng) >>
						      (63 - bits));
			schedule(deadline[i]);
		}
		qsort(deadline, N, sizeof(deadline[0]), by_value);
		for (int i = 0; i < N; i++) {
			must(next() == deadline[i]);
			run();
		}
		ck_assert_int_eq(next(), INT64_MAX);
		ck_assert_uint_eq(used(), 0);
		ck_assert_uint_eq(entries(), 0);
		end();
	}
}
END_TEST

/* A crowd that is cancelled after it was collected goes when it is looked at */
START_TEST(the_dead_go_in_their_time)
{
	enum { N = 50000 };
	static uint64_t id[N];

	begin();
	for (int i = 0; i < N; i++)
		id[i] = schedule(NOW + i);
	collect(NOW);
	for (int i = 1; i < N; i++)
		cancel(id[i]);
	ck_assert_int_eq(next(), NOW);
	run();
	ck_assert_int_eq(next(), INT64_MAX);
	ck_assert_uint_eq(entries(), 0);
	ck_assert_uint_eq(used(), 0);
	ck_assert_uint_le(pending.heap.chunks, 2);
	end();
}
END_TEST

/* A model: the timers that live. */
enum { MODEL_MAX = 4000 };
static struct {
	uint64_t id;
	int64_t deadline;
} model[MODEL_MAX];
static size_t model_n;

static int64_t random_deadline(uint64_t *rng, int spread)
{
	return now() + (int64_t)(random_below(rng, 99999) << spread);
}

static void model_schedule(int64_t deadline)
{
	model[model_n].deadline = deadline;
	model[model_n].id = schedule(deadline);
	model_n++;
}

static void model_reschedule(uint64_t *rng, int64_t deadline)
{
	size_t i = random_below(rng, model_n);

	model[i].deadline = deadline;
	reschedule(model[i].id, deadline);
}

static void model_cancel(uint64_t *rng)
{
	size_t i = random_below(rng, model_n);

	cancel(model[i].id);
	model[i] = model[--model_n];
}

/* It is the earliest, and one of those that are. */
static void model_run(void)
{
	int64_t earliest = INT64_MAX;
	const struct slot *s;
	size_t i;

	for (i = 0; i < model_n; i++) {
		if (model[i].deadline < earliest)
			earliest = model[i].deadline;
	}
	s = run();
	for (i = 0; s != slot_of(model[i].id);)
		i++;
	must(model[i].deadline == earliest);
	model[i] = model[--model_n];
}

/* What the driver does, without memory or with it. */
static void model_drive(uint64_t dice)
{
	pending.full = false;
	if (dice % 4 == 0)
		collect(now());
	if (dice % 10 == 1)
		next();
	if (model_n > 0 && dice >= 90)
		model_run();
	if (dice % 16 == 0) {
		pending_trim(&pending);
		intake_flush(intake);
	}
}

static void model_step(uint64_t *rng, bool grow, int spread, uint64_t dice)
{
	int64_t deadline = random_deadline(rng, spread);

	if (model_n < MODEL_MAX && dice < (grow ? 85 : 30))
		model_schedule(deadline);
	else if (model_n > 0 && dice >= 75 && dice < 83)
		model_cancel(rng);
	else if (model_n > 0 && dice >= 83 && dice < 90)
		model_reschedule(rng, deadline);
	else if (dice >= 98)
		watch_set(&watch, now() + (INT64_C(50) << spread));
}

/*
 * Random steps; times are spread by so many bits.  With fail the driver finds
 * no memory but what is there.  Returns how many allocations failed.
 */
static uint32_t random_steps(bool fail, int spread)
{
	enum { STEPS = 12000 };
	uint64_t rng = test_seed();
	uint32_t failures = 0;

	model_n = 0;
	begin();
	for (int i = 0; i < STEPS; i++) {
		uint64_t dice = random_below(&rng, 100);

		/* What comes in needs memory of its own. */
		model_step(&rng, i / (STEPS / 2) % 2 == 0, spread, dice);
		if (fail)
			fail_arm(0, UINT32_MAX);
		model_drive(dice);
		if (fail)
			failures += fail_disarm();
		check();
	}
	if (fail)
		fail_arm(0, UINT32_MAX);
	while (model_n > 0)
		model_run();
	ck_assert_int_eq(next(), INT64_MAX);
	if (fail)
		failures += fail_disarm();
	end();
	return failures;
}

START_TEST(random_against_array)
{
	ck_assert_uint_eq(random_steps(false, 0), 0);
	ck_assert_uint_eq(random_steps(false, 8), 0);
	ck_assert_uint_eq(random_steps(false, 14), 0);
	ck_assert_uint_eq(random_steps(false, 25), 0);
	ck_assert_uint_eq(random_steps(false, 40), 0);
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

/* What the heap has no room for waits elsewhere, and it says so. */
START_TEST(a_full_heap_keeps_the_earliest)
{
	enum { N = HEAP_CHUNK + 1000 };
	static uint64_t id[N];
	struct entry e;

	begin();
	/* Taken out, so that this one is nowhere. */
	e = entry_of(schedule_in(1, NOW));
	visit(&intake->bucket[1], NOW);
	ck_assert_int_eq(next_pending(), NOW);
	pending_take(&pending);

	fill_heap(id, N, true);
	ck_assert(pending.full);
	ck_assert(!heap_has_room(&pending.heap));
	ck_assert_int_eq(next_pending(), NOW + 3);
	ck_assert_int_gt(wakeup_arrivals(&wakeup), NOW + 3);
	check();

	pending.full = false;
	fail_arm(0, UINT32_MAX);
	pending_file(&pending, e, NOW);
	ck_assert_uint_gt(fail_disarm(), 0);
	ck_assert(pending.full);
	ck_assert_int_eq(next_pending(), NOW);
	ck_assert_int_eq(wakeup_arrivals(&wakeup), NOW + 3);
	check();

	for (int64_t i = 0; i <= N; i++) {
		run();
		must(next() == (i < N ? NOW + 3 + i : INT64_MAX));
	}
	end();
}
END_TEST

/* Blocks that there is no room for in their heap hang on others there. */
START_TEST(out_of_memory_for_blocks)
{
	enum { BLOCKS = HEAP_CHUNK + 100 };
	static int64_t deadline[BLOCKS];
	uint64_t rng = test_seed();
	int64_t last = INT64_MIN;

	begin();
	for (int i = 0; i < BLOCKS; i++) {
		deadline[i] = NOW + (int64_t)random_below(&rng, 10000);
		for (size_t k = 0; k < BLOCK_ENTRIES; k++)
			schedule_in(0, deadline[i]);
	}
	fail_arm(0, UINT32_MAX);
	visit(&intake->bucket[0], NOW + 10000);
	ck_assert_uint_gt(fail_disarm(), 0);
	check();
	ck_assert_uint_lt(pending.blocks.n, BLOCKS);
	ck_assert_uint_eq(in_blocks(), BLOCKS * BLOCK_ENTRIES);
	qsort(deadline, BLOCKS, sizeof(deadline[0]), by_value);
	for (size_t i = 0; i < BLOCKS * BLOCK_ENTRIES; i++) {
		int64_t t = deadline[i / BLOCK_ENTRIES];

		must(t == last || next() == t);
		last = t;
		run();
	}
	ck_assert_int_eq(next(), INT64_MAX);
	ck_assert_uint_eq(used(), 0);
	end();
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

	begin();
	for (int i = 0; i < N; i++)
		ids[i] = schedule(NOW + (int64_t)random_below(&rng, 10000));
	fail_arm(0, UINT32_MAX);
	collect(NOW + 5000);
	for (int i = 0; i < N; i += 3)
		cancel(ids[i]);
	while (next() != INT64_MAX) {
		int64_t deadline = next();

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
	end();
}
END_TEST

START_TEST(random_out_of_memory)
{
	ck_assert_uint_gt(random_steps(true, 0), 0);
	ck_assert_uint_gt(random_steps(true, 8), 0);
	ck_assert_uint_gt(random_steps(true, 14), 0);
	ck_assert_uint_gt(random_steps(true, 30), 0);
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
		near_is_counted_from_the_first,
		slices_keep_the_heap_small,
		what_is_in_a_slice_may_change,
		slices_for_one_who_is_behind,
		a_slice_is_opened_early,
		slices_long_before,
		bytes,
		a_reserve_does_without_slices,
		holes_are_passed_over,
		the_moved_are_refreshed,
		the_stale_are_dropped,
		first_moved,
		files_near_and_far,
		trims_its_spares,
		keeps_the_order,
		the_dead_go_in_their_time,
		random_against_array,
#ifndef FAIL_ALLOC_UNAVAILABLE
		a_full_heap_keeps_the_earliest,
		out_of_memory_for_blocks,
		out_of_memory_keeps_order,
		random_out_of_memory,
#endif
	};

	return RUN_TESTS("pending", tests);
}
