/* SPDX-License-Identifier: MIT */
#include "blocks.h"
#include "checks/wheel.h"
#include "harness.h"
#include "must.h"
#include "pending/wheel.h"

#define FINE   (INT64_C(1) << 17)
#define MIDDLE (FINE << FINER_LOG2)
#define COARSE (MIDDLE << FINER_LOG2)
#define AGE    (COARSE << FINER_LOG2)
#define NOW    (100 * AGE * SLICES)

static struct wheel wheel;
static struct block *spares;

static void begin(int64_t now)
{
	wheel = (struct wheel){0};
	wheel_advance(&wheel, now);
}

static int64_t last_due; /* of the slice that was opened last */

static void end(void)
{
	wheel_check(&wheel);
	wheel_destroy(&wheel);
	block_free_all(spares);
	spares = NULL;
}

static bool add(int64_t deadline)
{
	return wheel_add(&wheel, (struct entry){deadline, 1, 1}, some(&spares));
}

/* Opens the first slice; returns how many were in its block. */
static size_t open_first(void)
{
	struct block *b = wheel_open(&wheel, &last_due);
	size_t n = b->n;

	block_push(&spares, b);
	wheel_check(&wheel);
	return n;
}

START_TEST(empty)
{
	begin(NOW);
	ck_assert_int_eq(wheel_nearest(&wheel), INT64_MAX);
	ck_assert_uint_eq(wheel_count(&wheel), 0);
	end();
}
END_TEST

START_TEST(each_in_the_finest_that_it_fits)
{
	begin(NOW);
	ck_assert_int_eq(wheel_level(&wheel, NOW - 1), WHEEL_LEVELS);
	ck_assert_int_eq(wheel_level(&wheel, NOW + FINE - 1), WHEEL_LEVELS);
	ck_assert_int_eq(wheel_level(&wheel, NOW + FINE), 0);
	ck_assert_int_eq(wheel_level(&wheel, NOW + SLICES * FINE - 1), 0);
	ck_assert_int_eq(wheel_level(&wheel, NOW + SLICES * FINE), 1);
	ck_assert_int_eq(wheel_level(&wheel, NOW + SLICES * MIDDLE - 1), 1);
	ck_assert_int_eq(wheel_level(&wheel, NOW + SLICES * MIDDLE), 2);
	ck_assert_int_eq(wheel_level(&wheel, NOW + SLICES * COARSE - 1), 2);
	ck_assert_int_eq(wheel_level(&wheel, NOW + SLICES * COARSE), 3);
	ck_assert_int_eq(wheel_level(&wheel, NOW + SLICES * AGE - 1), 3);
	ck_assert_int_eq(wheel_level(&wheel, NOW + SLICES * AGE), WHEEL_LEVELS);
	ck_assert(!add(NOW));
	ck_assert(!add(NOW + SLICES * AGE));
	ck_assert_uint_eq(wheel_count(&wheel), 0);
	end();
}
END_TEST

/* At both ends of time. */
START_TEST(extremes)
{
	begin(INT64_MIN);
	ck_assert(add(INT64_MIN + FINE));
	ck_assert_int_eq(wheel_nearest(&wheel), INT64_MIN + FINE);
	ck_assert_int_eq(wheel_level(&wheel, INT64_MAX), WHEEL_LEVELS);
	end();

	begin(INT64_MAX - FINE);
	ck_assert(add(INT64_MAX));
	ck_assert_int_eq(wheel_nearest(&wheel), INT64_MAX - (FINE - 1));
	ck_assert_int_eq(wheel_level(&wheel, INT64_MIN), WHEEL_LEVELS);
	wheel_advance(&wheel, INT64_MAX);
	ck_assert_uint_eq(open_first(), 1);
	ck_assert_int_eq(last_due, INT64_MAX);
	ck_assert_int_eq(wheel_level(&wheel, INT64_MAX), WHEEL_LEVELS);
	end();
}
END_TEST

/* What is in a slice that has passed stays there until it is opened. */
START_TEST(advances_to_the_first)
{
	begin(NOW);
	must(add(NOW + 3 * FINE));
	wheel_advance(&wheel, NOW + 2 * FINE);
	ck_assert_int_eq(wheel_level(&wheel, NOW + 2 * FINE), WHEEL_LEVELS);
	ck_assert_int_eq(wheel_level(&wheel, NOW + 65 * FINE), 0);
	wheel_advance(&wheel, NOW + 1000 * FINE);
	ck_assert_int_eq(wheel_nearest(&wheel), NOW + 3 * FINE);
	ck_assert_int_eq(wheel_level(&wheel, NOW + 3 * FINE), WHEEL_LEVELS);
	ck_assert_int_eq(wheel_level(&wheel, NOW + 66 * FINE), 0);
	ck_assert_int_eq(wheel_level(&wheel, NOW + 67 * FINE), WHEEL_LEVELS);
	ck_assert(add(NOW + 66 * FINE));
	ck_assert_uint_eq(open_first(), 1);
	ck_assert_int_eq(wheel_nearest(&wheel), NOW + 66 * FINE);
	end();
}
END_TEST

/* The clock may be set back: what is there keeps its place. */
START_TEST(goes_back_when_empty)
{
	begin(NOW);
	must(add(NOW + FINE));
	wheel_advance(&wheel, NOW - 500 * FINE);
	ck_assert_int_eq(wheel_nearest(&wheel), NOW + FINE);
	/* Only the coarser levels went back. */
	ck_assert_int_eq(wheel_level(&wheel, NOW - 499 * FINE), WHEEL_LEVELS);
	ck_assert_int_eq(wheel_level(&wheel, NOW - 400 * FINE), 1);
	ck_assert_uint_eq(open_first(), 1);
	wheel_advance(&wheel, NOW - 500 * FINE);
	ck_assert(add(NOW - 499 * FINE));
	ck_assert_int_eq(wheel_nearest(&wheel), NOW - 499 * FINE);
	end();
}
END_TEST

/* A slice with several blocks is opened block by block, and takes no more. */
START_TEST(several_blocks)
{
	enum { N = 2 * BLOCK_ENTRIES + 10 };

	begin(NOW);
	for (size_t i = 0; i < N; i++)
		must(add(NOW + 2 * FINE + (int64_t)i));
	wheel_check(&wheel);
	ck_assert_uint_eq(wheel_count(&wheel), N);
	ck_assert_uint_eq(open_first(), 10);
	ck_assert_int_eq(wheel_level(&wheel, NOW + 2 * FINE), WHEEL_LEVELS);
	ck_assert_int_eq(wheel_level(&wheel, NOW + 3 * FINE), 0);
	ck_assert_int_eq(wheel_nearest(&wheel), NOW + 2 * FINE);
	ck_assert_uint_eq(open_first(), BLOCK_ENTRIES);
	ck_assert_uint_eq(open_first(), BLOCK_ENTRIES);
	ck_assert_int_eq(wheel_nearest(&wheel), INT64_MAX);
	/* The blocks are used again. */
	must(add(NOW + 3 * FINE));
	ck_assert_uint_eq(wheel_count(&wheel), 1);
	end();
}
END_TEST

START_TEST(without_spares)
{
	const struct entry e = {NOW + FINE, 1, 1};

	begin(NOW);
	ck_assert(!wheel_add(&wheel, e, &spares));
	ck_assert_uint_eq(wheel_count(&wheel), 0);
	ck_assert_int_eq(wheel_nearest(&wheel), INT64_MAX);
	wheel_check(&wheel);
	/* A block that is there will do. */
	block_push(&spares, block_alloc());
	ck_assert(wheel_add(&wheel, e, &spares));
	ck_assert_ptr_null(spares);
	end();
}
END_TEST

/* What was in a coarse slice goes to finer ones when that is opened. */
START_TEST(opens_from_coarse_to_fine)
{
	struct block *b;

	begin(NOW);
	must(add(NOW + 3 * COARSE + 2 * MIDDLE + FINE + 7));
	must(add(NOW + 3 * COARSE + 4 * MIDDLE));
	ck_assert_int_eq(wheel_nearest(&wheel), NOW + 3 * COARSE);
	b = wheel_open(&wheel, &last_due);
	ck_assert_uint_eq(b->n, 2);
	ck_assert_int_eq(wheel_level(&wheel, b->entry[0].deadline), 1);
	must(add(b->entry[0].deadline) && add(b->entry[1].deadline));
	block_push(&spares, b);
	ck_assert_int_eq(wheel_nearest(&wheel), NOW + 3 * COARSE + 2 * MIDDLE);
	b = wheel_open(&wheel, &last_due);
	ck_assert_uint_eq(b->n, 1);
	must(add(b->entry[0].deadline));
	block_push(&spares, b);
	ck_assert_int_eq(wheel_nearest(&wheel),
			 NOW + 3 * COARSE + 2 * MIDDLE + FINE);
	b = wheel_open(&wheel, &last_due);
	ck_assert_int_eq(wheel_level(&wheel, b->entry[0].deadline),
			 WHEEL_LEVELS);
	block_push(&spares, b);
	ck_assert_int_eq(wheel_nearest(&wheel), NOW + 3 * COARSE + 4 * MIDDLE);
	end();
}
END_TEST

/* A slice of each level begins then: in the coarsest may be the earliest. */
START_TEST(of_equals_the_coarsest)
{
	const int64_t then = NOW + 2 * COARSE;

	begin(NOW);
	must(add(then));
	wheel_advance(&wheel, then - FINE);
	must(add(then + 1));
	ck_assert_int_eq(wheel_nearest(&wheel), then);
	block_push(&spares, wheel_open(&wheel, &last_due));
	ck_assert_int_eq(spares->entry[0].deadline, then);
	ck_assert_int_eq(wheel_nearest(&wheel), then);
	block_push(&spares, wheel_open(&wheel, &last_due));
	ck_assert_int_eq(spares->entry[0].deadline, then + 1);
	ck_assert_int_eq(wheel_nearest(&wheel), INT64_MAX);
	end();
}
END_TEST

/* Also where the next coarse slice begins between now and it. */
START_TEST(never_to_a_coarser_one)
{
	const int64_t deadline = NOW + MIDDLE + 3 * FINE + 5;

	begin(NOW + MIDDLE / 2);
	ck_assert_int_eq(wheel_level(&wheel, deadline), 0);
	must(add(deadline));
	block_push(&spares, wheel_open(&wheel, &last_due));
	ck_assert_int_eq(last_due, NOW + MIDDLE + 4 * FINE - 1);
	ck_assert_int_eq(wheel_level(&wheel, deadline), WHEEL_LEVELS);
	end();
}
END_TEST

static struct block *open_ahead_at(int64_t now)
{
	wheel_advance(&wheel, now);
	return wheel_open_ahead(&wheel, &last_due);
}

/*
 * A long slice is opened before its time: not before the finer level has room
 * for all of it, and then it goes there.
 */
START_TEST(opens_ahead)
{
	const int64_t then = NOW + 5 * COARSE;
	const int64_t from = then + COARSE - (SLICES - 1) * MIDDLE - MIDDLE;
	struct block *b;

	begin(NOW);
	ck_assert_ptr_null(open_ahead_at(NOW));
	must(add(then));
	must(add(then + COARSE - 1));
	ck_assert_ptr_null(open_ahead_at(from - 1));
	b = open_ahead_at(from);
	ck_assert_ptr_nonnull(b);
	ck_assert_uint_eq(b->n, 2);
	ck_assert_int_eq(last_due, then + COARSE - 1);
	for (size_t i = 0; i < b->n; i++)
		ck_assert_int_eq(wheel_level(&wheel, b->entry[i].deadline), 1);
	block_push(&spares, b);
	ck_assert(!wheel_is_deep(&wheel));
	ck_assert_ptr_null(open_ahead_at(then));
	end();
}
END_TEST

/* The finer level was turned to a later time, and has an entry there. */
START_TEST(opens_nothing_ahead_that_comes_back)
{
	const int64_t then = NOW + 5 * COARSE;

	begin(then + 2 * COARSE);
	must(add(then + 2 * COARSE + SLICES * FINE));
	wheel_advance(&wheel, NOW);
	must(add(then));
	ck_assert(wheel_is_deep(&wheel));
	for (int64_t now = NOW; now < then; now += MIDDLE)
		ck_assert_ptr_null(open_ahead_at(now));
	end();
}
END_TEST

/* What comes out is added again; what does not fit then is due. */
static size_t take_due(int64_t *last)
{
	int64_t time = wheel_nearest(&wheel);
	struct block *b = wheel_open(&wheel, &last_due);
	size_t n = 0;

	must(time >= *last);
	for (size_t i = 0; i < b->n; i++) {
		int64_t deadline = b->entry[i].deadline;
		int level = wheel_level(&wheel, deadline);

		must(deadline >= time && deadline <= last_due);
		must(level == WHEEL_LEVELS ||
		     FINE << FINER_LOG2 * level < last_due - time);
		n += !add(deadline);
	}
	block_push(&spares, b);
	*last = time;
	return n;
}

/* Random deadlines, far and near: all come out, and none after its time. */
START_TEST(random_comes_out_in_time)
{
	enum { ROUNDS = 200 };
	uint64_t rng = test_seed();
	int64_t now = NOW, last = INT64_MIN;
	size_t added = 0, out = 0;

	begin(now);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < 300; i++) {
			uint64_t bits = 18 + random_below(&rng, 18);

			added += add(now + (int64_t)(next_random(&rng) >>
						     (64 - bits)));
		}
		wheel_check(&wheel);
		now += (int64_t)(next_random(&rng) >>
				 (64 - 20 - random_below(&rng, 12)));
		while (wheel_nearest(&wheel) <= now)
			out += take_due(&last);
		wheel_advance(&wheel, now);
		must(added - out == wheel_count(&wheel));
	}
	while (wheel_nearest(&wheel) < INT64_MAX)
		out += take_due(&last);
	ck_assert_uint_eq(out, added);
	ck_assert_uint_gt(added, 10000);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		empty,
		each_in_the_finest_that_it_fits,
		extremes,
		advances_to_the_first,
		goes_back_when_empty,
		several_blocks,
		without_spares,
		opens_from_coarse_to_fine,
		of_equals_the_coarsest,
		never_to_a_coarser_one,
		opens_ahead,
		opens_nothing_ahead_that_comes_back,
		random_comes_out_in_time,
	};

	return RUN_TESTS("wheel", tests);
}
