/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "intake/bucket.h"
#include "intake/expiry.h"
#include "intake/intake.h"
#include "intake/rent.h"

#include <errno.h>

static struct wakeup wakeup;
static struct bucket *bucket;
static struct intake *intake;

static void fn(void *arg)
{
	(void)arg;
}

/* One bucket, open. */
static void begin(void)
{
	wakeup_init(&wakeup);
	intake = intake_create(1);
	ck_assert_ptr_nonnull(intake);
	intake_open(intake);
	bucket = &intake->bucket[0];
}

static void end(void)
{
	intake_destroy(intake);
}

static uint64_t schedule(int64_t deadline)
{
	uint64_t id = 0;

	ck_assert_int_eq(bucket_schedule(bucket, &wakeup,
					 &(struct timer){deadline, 0, fn, NULL},
					 &id),
			 0);
	ck_assert_uint_ne(id, 0);
	return id;
}

static int cancel(uint64_t id)
{
	return slot_cancel(intake_slot(intake, id), id);
}

/* Empties the bucket as the driver does; returns how many were live. */
static size_t collect(void)
{
	struct block *spares = NULL;
	struct slot *rearmed;
	struct block *taken = bucket_collect(bucket, &spares, &rearmed).first;
	size_t live = 0;

	for (struct block *b = taken; b; b = b->next) {
		for (size_t i = 0; i < b->n; i++) {
			const struct entry *e = &b->entry[i];
			struct slot *s = intake_slot_of(intake, e);

			if (slot_begin(s, e)) {
				ck_assert_int_eq(s->deadline, e->deadline);
				ck_assert(expiry_end(s));
				live++;
			}
			intake_recycle(intake, s);
		}
	}
	intake_flush(intake);
	block_free_all(taken);
	block_free_all(spares);
	return live;
}

/* Begins a collection. */
static void collect_set(void)
{
	struct bucket_set listed;

	wakeup_collect(&wakeup, &listed);
	ck_assert(!bucket_set_empty(&listed));
}

START_TEST(only_while_open)
{
	uint64_t id = 77;

	begin();
	bucket_shut(bucket);
	ck_assert_int_eq(bucket_schedule(bucket, &wakeup,
					 &(struct timer){1, 0, fn, NULL}, &id),
			 -ESHUTDOWN);
	ck_assert_uint_eq(id, 77);
	bucket_open(bucket);
	schedule(1);
	ck_assert_uint_eq(collect(), 1);
	end();
}
END_TEST

START_TEST(announces_what_is_earlier)
{
	begin();
	ck_assert_int_eq(wakeup_arrivals(&wakeup), INT64_MAX);
	schedule(100);
	ck_assert_int_eq(wakeup_arrivals(&wakeup), 100);
	schedule(200);
	ck_assert_int_eq(wakeup_arrivals(&wakeup), 100);
	schedule(-5);
	ck_assert_int_eq(wakeup_arrivals(&wakeup), -5);
	ck_assert_int_eq(bucket->nearest, -5);
	ck_assert_uint_eq(collect(), 3);
	ck_assert_int_eq(bucket->nearest, INT64_MAX);
	end();
}
END_TEST

/* What is never due still must be found when it is cancelled. */
START_TEST(lists_what_is_never_due)
{
	struct bucket_set listed;
	uint32_t number;

	begin();
	schedule(TIMERTHREAD_NEVER);
	wakeup_collect(&wakeup, &listed);
	ck_assert(bucket_set_take(&listed, &number));
	ck_assert_uint_eq(number, 0);
	ck_assert(!bucket_set_take(&listed, &number));
	end();
}
END_TEST

/* So that the driver files a burst while it comes in. */
START_TEST(a_burst_asks_to_be_collected)
{
	const size_t burst = BUCKET_BURST * BLOCK_ENTRIES;

	begin();
	bucket->full = 2 * BUCKET_BURST;
	for (int round = 0; round < 2; round++) {
		size_t n = 0;

		do {
			schedule(1000);
			n++;
		} while (wakeup_arrivals(&wakeup) == 1000);
		ck_assert_int_eq(wakeup_arrivals(&wakeup), 1000 - BUCKET_LEAD);
		ck_assert_uint_ge(n, burst - 2 * BLOCK_ENTRIES);
		ck_assert_uint_le(n, burst);
		collect_set();
		ck_assert_uint_eq(collect(), n);
	}
	end();
}
END_TEST

/* The lock that it takes to ask is that of all CPUs. */
START_TEST(a_burst_asks_once)
{
	begin();
	bucket->full = 4 * BUCKET_BURST;
	do
		schedule(1000);
	while (wakeup_arrivals(&wakeup) == 1000);
	wakeup.asked = INT64_MAX;
	for (unsigned i = 0; i < 3 * BLOCK_ENTRIES; i++)
		schedule(1000);
	ck_assert_int_eq(wakeup.asked, INT64_MAX);
	for (unsigned i = 0; i < BLOCK_ENTRIES; i++)
		schedule(500);
	ck_assert_int_eq(wakeup.asked, 500 - BUCKET_LEAD);
	end();
}
END_TEST

/* Its holder was probably preempted, on the same CPU. */
START_TEST(a_held_bucket_is_passed_over)
{
	struct intake *in = intake_create(4);

	for (uint32_t i = 0; i < 4; i++)
		lock_acquire(&in->bucket[i].lock);
	for (uint32_t i = 0; i < 4; i++) {
		ck_assert_ptr_eq(intake_pick_other(in, &in->bucket[i]),
				 &in->bucket[i]);
		lock_release(&in->bucket[i].lock);
		for (uint32_t k = 0; k < 4; k++)
			if (k != i)
				ck_assert_ptr_eq(
					intake_pick_other(in, &in->bucket[k]),
					&in->bucket[i]);
		ck_assert_ptr_eq(intake_pick(in), &in->bucket[i]);
		lock_acquire(&in->bucket[i].lock);
	}
	intake_destroy(in);

	in = intake_create(1);
	lock_acquire(&in->bucket[0].lock);
	ck_assert_ptr_eq(intake_pick(in), &in->bucket[0]);
	intake_destroy(in);
}
END_TEST

/* However far they are, they are never so many that collecting takes long. */
START_TEST(a_full_bucket_asks_to_be_collected_now)
{
	const size_t blocks = 2 * BUCKET_BURST, full = blocks * BLOCK_ENTRIES;
	size_t n = 0;

	begin();
	bucket->full = blocks;
	do {
		schedule(INT64_MAX - 1);
		n++;
	} while (wakeup_arrivals(&wakeup) > INT64_MIN);
	ck_assert_uint_ge(n, full - 2 * BLOCK_ENTRIES);
	ck_assert_uint_le(n, full);
	end();
}
END_TEST

/* All buckets together hold about as many, and each a burst. */
START_TEST(far_timers_are_shared_out)
{
	static const uint32_t buckets[] = {1, 3, 16, 1000};

	for (size_t i = 0; i < 4; i++) {
		uint32_t n = buckets[i];
		struct intake *in = intake_create(n);

		ck_assert_uint_eq(in->bucket[0].full, BUCKET_BURST);
		intake_hold_far(in);
		for (uint32_t k = 0; k < n; k++) {
			size_t full = in->bucket[k].full;

			ck_assert_uint_ge(full, BUCKET_BURST);
			ck_assert(full == BUCKET_BURST ||
				  (full * n <= 2048 && full * n > 2000));
		}
		intake_destroy(in);
	}
}
END_TEST

/* What comes in while rent rests, and a few. */
#define RESTED (64 + 8)

/*
 * The promise that garbage follows the live: any number of schedules, a
 * window of live timers, and never many more entries and slots than live.
 */
START_TEST(rent_bounds_garbage)
{
	static const size_t windows[] = {1, 10, 1000, 20000};
	static uint64_t ring[20000];

	for (size_t w = 0; w < 4; w++) {
		size_t window = windows[w];

		begin();
		for (size_t i = 0; i < 12 * window + 1000; i++) {
			uint64_t *id = &ring[i % window];

			if (i >= window)
				ck_assert_int_eq(cancel(*id), 0);
			*id = schedule(1000 + (int64_t)i);
			ck_assert_uint_le(queue_size(&bucket->arrivals),
					  2 * window + RESTED);
		}
		bucket_check(bucket);
		ck_assert_uint_le(bucket->slots.fresh - SLOT_FIRST_NUMBER,
				  2 * window + RESTED);
		ck_assert_uint_eq(collect(), window);
		end();
	}
}
END_TEST

/* The same where some live long and some are soon gone, in no order. */
START_TEST(rent_bounds_garbage_in_any_order)
{
	enum { WINDOW = 5000, STEPS = 60 * WINDOW };
	static uint64_t ring[WINDOW];
	uint64_t rng = test_seed();

	begin();
	for (int i = 0; i < STEPS; i++) {
		uint64_t *id = &ring[random_below(&rng, WINDOW)];

		if (*id)
			ck_assert_int_eq(cancel(*id), 0);
		*id = schedule(1000 + i);
		ck_assert_uint_le(queue_size(&bucket->arrivals),
				  2 * WINDOW + RESTED);
	}
	bucket_check(bucket);
	end();
}
END_TEST

/* The oldest arrival is never cancelled, and must not shield the rest. */
START_TEST(rent_gets_past_an_immortal)
{
	enum { WINDOW = 100 };
	uint64_t ring[WINDOW];

	begin();
	schedule(TIMERTHREAD_NEVER);
	for (int i = 0; i < 100000; i++) {
		if (i >= WINDOW)
			ck_assert_int_eq(cancel(ring[i % WINDOW]), 0);
		ring[i % WINDOW] = schedule(i);
		ck_assert_uint_le(queue_size(&bucket->arrivals),
				  2 * WINDOW + RESTED);
	}
	end();
}
END_TEST

/* Pairs among timers that stay: these are turned over, and hide nothing. */
START_TEST(rent_among_those_that_stay)
{
	static const size_t windows[] = {50, 300};

	for (size_t w = 0; w < 2; w++) {
		size_t live = windows[w];

		begin();
		for (size_t i = 0; i < live; i++)
			schedule(1000000 + (int64_t)i);
		for (int i = 0; i < 50000; i++) {
			ck_assert_int_eq(cancel(schedule(i)), 0);
			ck_assert_uint_le(queue_size(&bucket->arrivals),
					  3 * live + 80);
		}
		bucket_check(bucket);
		ck_assert_uint_eq(collect(), live);
		end();
	}
}
END_TEST

/* A hundred thousand cancelled at once go as new ones come. */
START_TEST(rent_drains_a_mass_cancel)
{
	enum { N = 100000 };
	static uint64_t ids[N];
	uint32_t end_before;

	begin();
	for (int i = 0; i < N; i++)
		ids[i] = schedule(i);
	end_before = bucket->slots.end;
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(cancel(ids[i]), 0);
	for (int i = 0; i < N; i++) {
		ids[i] = schedule(i);
		ck_assert_int_eq(cancel(ids[i]), 0);
	}
	ck_assert_uint_le(queue_size(&bucket->arrivals), RESTED);
	ck_assert_uint_eq(bucket->slots.end, end_before);
	bucket_check(bucket);
	end();
}
END_TEST

/* Goes on while any of so many looks is left; returns in how many steps. */
static int reclaim(uint64_t looks, struct block **spares)
{
	struct slot *rearmed;
	int steps = 0;

	for (; looks > 0; steps++) {
		bucket_reclaim(bucket, &wakeup, spares, &looks, &rearmed);
		ck_assert_ptr_null(rearmed);
		if (!lock_is_held(&bucket->lock))
			bucket_check(bucket);
	}
	return steps;
}

/* All live: no further than what was paid for, and once around. */
START_TEST(reclaiming_ends)
{
	enum { LIVE = 160 * RENT_RECLAIM };
	struct block *spares = NULL;
	int64_t last;

	begin();
	for (int i = 0; i < LIVE; i++)
		schedule(i);
	ck_assert_int_eq(reclaim(RENT_RECLAIM, &spares), 1);
	ck_assert_int_eq(reclaim(RENT_RECLAIM + 1, &spares), 2);
	last = queue_front(&bucket->arrivals)->deadline;
	ck_assert_int_gt(last, 0);
	ck_assert_int_eq(reclaim(UINT64_MAX, &spares), LIVE / RENT_RECLAIM);
	ck_assert_int_eq(queue_front(&bucket->arrivals)->deadline, last);
	ck_assert_uint_eq(queue_size(&bucket->arrivals), LIVE);
	block_free_all(spares);
	end();
}
END_TEST

/*
 * Nobody schedules any more; those who live came first, and there is no spare
 * block to turn them over.  The driver finds the rest.
 */
START_TEST(reclaiming_gets_past_the_living)
{
	enum { LIVE = 300, DEAD = 20 * BLOCK_ENTRIES };
	static uint64_t ids[DEAD];
	struct block *spares = NULL;

	begin();
	for (int i = 0; i < LIVE; i++)
		schedule(i);
	for (unsigned i = 0; i < DEAD; i++)
		ids[i] = schedule(i);
	for (unsigned i = 0; i < DEAD; i++)
		ck_assert_int_eq(cancel(ids[i]), 0);
	reclaim(UINT64_MAX, &spares);
	ck_assert_uint_eq(queue_size(&bucket->arrivals), LIVE);
	block_free_all(spares);
	end();
}
END_TEST

/* Who has the lock is not held up. */
START_TEST(reclaiming_waits_for_nobody)
{
	struct block *spares = NULL;
	uint64_t id;

	begin();
	id = schedule(1);
	ck_assert_int_eq(cancel(id), 0);
	lock_acquire(&bucket->lock);
	ck_assert_int_eq(reclaim(1, &spares), 1);
	ck_assert_uint_eq(queue_size(&bucket->arrivals), 1);
	lock_release(&bucket->lock);
	ck_assert_int_eq(reclaim(1, &spares), 1);
	ck_assert_uint_eq(queue_size(&bucket->arrivals), 0);
	block_free_all(spares);
	end();
}
END_TEST

START_TEST(random_steps)
{
	enum { STEPS = 30000, MAX = 2000 };
	static uint64_t ids[MAX];
	uint64_t rng = test_seed();
	size_t n = 0;

	begin();
	for (int step = 0; step < STEPS; step++) {
		uint64_t dice = random_below(&rng, 1000);

		if (n < MAX && dice < 550) {
			ids[n++] = schedule((int64_t)next_random(&rng));
		} else if (n > 0 && dice < 998) {
			size_t i = random_below(&rng, n);

			ck_assert_int_eq(cancel(ids[i]), 0);
			ck_assert_int_eq(cancel(ids[i]), -ENOENT);
			ids[i] = ids[--n];
		} else {
			ck_assert_uint_eq(collect(), n);
			n = 0;
		}
		bucket_check(bucket);
	}
	ck_assert_uint_eq(collect(), n);
	end();
}
END_TEST

START_TEST(many_buckets_make_distinct_ids)
{
	enum { BUCKETS = 1024 };
	static uint64_t ids[BUCKETS];
	struct slot *s;

	wakeup_init(&wakeup);
	intake = intake_create(BUCKETS);
	intake_open(intake);
	for (uint32_t i = 0; i < BUCKETS; i++) {
		bucket = &intake->bucket[i];
		ids[i] = schedule(1);
	}
	for (uint32_t i = 0; i < BUCKETS; i++) {
		ck_assert_int_eq(cancel(ids[i]), 0);
		ck_assert_int_eq(cancel(ids[i]), -ENOENT);
		s = intake_slot(intake, ids[i]);
		ck_assert_ptr_eq(s, slots_of(&intake->bucket[i].slots, ids[i]));
	}
	end();

	/* An index can name a fourth bucket of three. */
	intake = intake_create(3);
	intake_open(intake);
	for (uint32_t i = 0; i < 3; i++) {
		bucket = &intake->bucket[i];
		schedule(1);
	}
	for (uint64_t number = 0; number < 300; number++)
		ck_assert_ptr_null(intake_slot(intake, number << 2 | 3));
	end();
}
END_TEST

START_TEST(bucket_sets)
{
	struct bucket_set set = {0};
	static const uint32_t in[] = {1023, 0, 31, 32, 512, 0};
	static const uint32_t out[] = {0, 31, 32, 512, 1023};
	uint32_t got;

	ck_assert(bucket_set_empty(&set));
	for (size_t i = 0; i < 6; i++)
		bucket_set_add(&set, in[i]);
	for (size_t i = 0; i < 5; i++) {
		ck_assert(bucket_set_take(&set, &got));
		ck_assert_uint_eq(got, out[i]);
	}
	ck_assert(!bucket_set_take(&set, &got));
	ck_assert(bucket_set_empty(&set));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		only_while_open,
		announces_what_is_earlier,
		lists_what_is_never_due,
		a_burst_asks_to_be_collected,
		a_burst_asks_once,
		a_held_bucket_is_passed_over,
		a_full_bucket_asks_to_be_collected_now,
		far_timers_are_shared_out,
		rent_bounds_garbage,
		rent_bounds_garbage_in_any_order,
		rent_gets_past_an_immortal,
		rent_among_those_that_stay,
		rent_drains_a_mass_cancel,
		reclaiming_ends,
		reclaiming_gets_past_the_living,
		reclaiming_waits_for_nobody,
		random_steps,
		many_buckets_make_distinct_ids,
		bucket_sets,
	};

	return RUN_TESTS("bucket", tests);
}
