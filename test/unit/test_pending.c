/* SPDX-License-Identifier: MIT */
#include "entries.h"
#include "fail_alloc.h"
#include "harness.h"
#include "intake/expiry.h"
#include "pending/pending.h"

static struct wakeup wakeup;
static struct intake *intake;
static struct pending pending;
static bool sort_at_once = true;

static void fn(void *arg)
{
	(void)arg;
}

static void begin(void)
{
	wakeup_init(&wakeup);
	intake = intake_create(2);
	ck_assert_ptr_nonnull(intake);
	intake_open(intake);
	ck_assert(pending_init(&pending, intake));
}

static void end(void)
{
	pending_destroy(&pending);
	intake_destroy(intake);
}

static uint64_t schedule(int64_t deadline)
{
	struct bucket *b = &intake->bucket[deadline & 1];
	uint64_t id;

	ck_assert_int_eq(bucket_schedule(b, &wakeup,
					 &(struct timer){deadline, 0, fn, NULL},
					 &id),
			 0);
	return id;
}

static void cancel(uint64_t id)
{
	ck_assert_int_eq(slot_cancel(intake_slot(intake, id), id), 0);
}

static void collect(void)
{
	struct slot *rearmed;

	for (uint32_t i = 0; i < intake->n; i++)
		pending_add(&pending,
			    bucket_collect(&intake->bucket[i],
					   &pending.filed.spares, &rearmed));
	while (sort_at_once && pending_file_block(&pending))
		pending_check(&pending);
	pending_check(&pending);
}

/* True: another one is worth the while. */
static bool sweep(void)
{
	uint64_t left = 0;

	pending_sweep(&pending, &left);
	return left > 0;
}

/* Towards the earliest one.  What is far is opened, as if it were due. */
static enum pending_next step(int64_t *ret_deadline)
{
	enum pending_next found = pending_next(&pending, ret_deadline);

	if (found == PENDING_FAR)
		pending_open(&pending);
	return found;
}

static int64_t next(void)
{
	int64_t deadline;

	while (step(&deadline) != PENDING_FIRST)
		pending_check(&pending);
	return deadline;
}

/* Runs the earliest one and returns its deadline. */
static int64_t run(void)
{
	int64_t deadline = next();
	struct entry e = pending_take(&pending);
	struct slot *s = intake_slot_of(intake, &e);

	ck_assert_int_eq(s->deadline, deadline);
	ck_assert(slot_begin(s, &e));
	ck_assert(expiry_end(s));
	intake_recycle(intake, s);
	return deadline;
}

START_TEST(empty)
{
	begin();
	ck_assert_int_eq(next(), INT64_MAX);
	ck_assert(!sweep());
	collect();
	ck_assert_int_eq(next(), INT64_MAX);
	end();
}
END_TEST

START_TEST(next_is_live)
{
	uint64_t a, b;

	begin();
	a = schedule(1);
	b = schedule(2);
	schedule(3);
	collect();
	ck_assert_int_eq(next(), 1);
	cancel(a);
	cancel(b);
	ck_assert_int_eq(next(), 3);
	ck_assert_uint_eq(pending.filed.heap.n, 1);
	ck_assert_int_eq(run(), 3);
	ck_assert_int_eq(next(), INT64_MAX);
	end();
}
END_TEST

START_TEST(cancelled_arrivals_never_enter)
{
	begin();
	cancel(schedule(1));
	collect();
	ck_assert_uint_eq(pending.filed.heap.n, 0);
	end();
}
END_TEST

/* All are cancelled; one sweep after another finds them, and then stops. */
START_TEST(sweep_empties_it)
{
	enum { N = 50000 };
	static uint64_t ids[N];
	int sweeps = 1;

	begin();
	for (int i = 0; i < N; i++)
		ids[i] = schedule(i);
	collect();
	ck_assert_uint_eq(entries_pending(&pending), N);
	ck_assert_uint_gt(pending.filed.wheel.n, 0);
	ck_assert(!sweep());
	for (int i = 1; i < N; i++)
		cancel(ids[i]);
	while (sweep())
		sweeps++;
	ck_assert_uint_le(entries_pending(&pending), 2);
	ck_assert_uint_le(pending.filed.heap.chunks, 2);
	ck_assert_int_le(sweeps, N / 32);
	intake_flush(intake);
	for (uint32_t i = 0; i < 2; i++)
		bucket_check(&intake->bucket[i]);
	end();
}
END_TEST

/* Long-lived timers in the heap; the cancelled ones among them are found. */
START_TEST(rent_bounds_garbage)
{
	enum { LIVE = 1000, ROUNDS = 300 };
	static uint64_t ids[LIVE];

	begin();
	for (int i = 0; i < LIVE; i++)
		ids[i] = schedule(i);
	for (int64_t round = 1; round < ROUNDS; round++) {
		for (int i = 0; i < LIVE; i++) {
			cancel(ids[i]);
			ids[i] = schedule(round * LIVE + i);
			if (i % 100 == 0)
				collect();
		}
		ck_assert_uint_le(entries_pending(&pending), 3 * LIVE);
	}
	intake_flush(intake);
	ck_assert_uint_le(intake->bucket[0].slots.fresh, 2 * LIVE);
	end();
}
END_TEST

/* The same far away, where nothing comes up that might be found. */
START_TEST(rent_bounds_garbage_far_away)
{
	enum { LIVE = 5000, ROUNDS = 40 };
	const int64_t hour = INT64_C(3600000000000);
	static uint64_t ids[LIVE];

	begin();
	pending.near = 16;
	wheel_advance(&pending.filed.wheel, 0);
	for (int i = 0; i < LIVE; i++)
		ids[i] = schedule(hour + i * (hour / LIVE));
	for (int64_t round = 1; round < ROUNDS; round++) {
		for (int i = 0; i < LIVE; i++) {
			cancel(ids[i]);
			ids[i] = schedule(hour + i * (hour / LIVE) + round);
			if (i % 100 == 0)
				collect();
		}
		ck_assert_uint_le(entries_pending(&pending), 4 * LIVE);
	}
	end();
}
END_TEST

/*
 * Random steps against an array.  What is collected stays unfiled until it
 * must be; with fail, there is no memory to sort it into but what is there
 * from the start.  The wheel begins with so many near, and time is spread by so
 * many bits.  Returns how many allocations failed.
 */
static uint32_t random_steps(bool fail, size_t near, int spread)
{
	enum { STEPS = 12000, MAX = 4000 };
	static struct {
		uint64_t id;
		int64_t deadline;
	} model[MAX];
	uint64_t rng = test_seed();
	uint32_t failures = 0;
	size_t n = 0;

	sort_at_once = false;
	begin();
	pending.near = near;
	wheel_advance(&pending.filed.wheel, 0);
	for (int step = 0; step < STEPS; step++) {
		uint64_t dice = random_below(&rng, 100);
		size_t i, earliest = 0;

		/* What comes in needs memory of its own. */
		if (n < MAX && dice < (step / 6000 % 2 ? 30 : 85)) {
			model[n].deadline = (int64_t)random_below(&rng, 99999)
					    << spread;
			model[n].id = schedule(model[n].deadline);
			n++;
		}
		if (fail)
			fail_arm(0, UINT32_MAX);
		if (n > 0 && dice >= 80 && dice < 90) {
			i = random_below(&rng, n);
			cancel(model[i].id);
			model[i] = model[--n];
		} else if (n > 0 && dice >= 90) {
			collect();
			for (i = 1; i < n; i++) {
				if (model[i].deadline <
				    model[earliest].deadline)
					earliest = i;
			}
			ck_assert_int_eq(next(), model[earliest].deadline);
			for (i = 0; slot_index(model[i].id) !=
				    heap_at(&pending.filed.heap, 0)->index;)
				i++;
			ck_assert_int_eq(run(), model[earliest].deadline);
			model[i] = model[--n];
		}
		if (dice % 10 == 0)
			sweep();
		if (dice % 4 == 0)
			collect();
		if (fail)
			failures += fail_disarm();
	}
	/* All that is left comes out, in order. */
	if (fail)
		fail_arm(0, UINT32_MAX);
	collect();
	for (int64_t last = INT64_MIN; n > 0; n--) {
		int64_t deadline = run();

		ck_assert_int_le(last, deadline);
		last = deadline;
	}
	ck_assert_int_eq(next(), INT64_MAX);
	if (fail)
		failures += fail_disarm();
	end();
	return failures;
}

START_TEST(random_against_array)
{
	ck_assert_uint_eq(random_steps(false, PENDING_NEAR, 0), 0);
	ck_assert_uint_eq(random_steps(false, 16, 0), 0);
	ck_assert_uint_eq(random_steps(false, 16, 8), 0);
	ck_assert_uint_eq(random_steps(false, 0, 16), 0);
	ck_assert_uint_eq(random_steps(false, 300, 40), 0);
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

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
		ids[i] = schedule((int64_t)random_below(&rng, 10000));
	fail_arm(0, UINT32_MAX);
	collect();
	ck_assert(!backlog_empty(&pending.backlog));
	for (int i = 0; i < N; i += 3)
		cancel(ids[i]);
	while (next() != INT64_MAX) {
		int64_t deadline = run();

		ck_assert_int_le(last, deadline);
		last = deadline;
		pending_check(&pending);
		if (++runs == N / 2)
			fail_disarm();
	}
	ck_assert_int_eq(runs, N - N / 3);
	ck_assert(backlog_empty(&pending.backlog));
	end();
}
END_TEST

START_TEST(random_out_of_memory)
{
	ck_assert_uint_gt(random_steps(true, PENDING_NEAR, 0), 0);
	ck_assert_uint_gt(random_steps(true, 16, 8), 0);
	ck_assert_uint_gt(random_steps(true, 0, 30), 0);
}
END_TEST

#endif

int main(void)
{
	const TTest *const tests[] = {
		empty,
		next_is_live,
		cancelled_arrivals_never_enter,
		sweep_empties_it,
		rent_bounds_garbage,
		rent_bounds_garbage_far_away,
		random_against_array,
#ifndef FAIL_ALLOC_UNAVAILABLE
		out_of_memory_keeps_order,
		random_out_of_memory,
#endif
	};

	return RUN_TESTS("pending", tests);
}
