/* SPDX-License-Identifier: MIT */
#include "blocks.h"
#include "checks/slices.h"
#include "harness.h"
#include "must.h"
#include "pending/slices.h"

#define SHIFT 17
#define SLICE (INT64_C(1) << SHIFT)
#define NOW   (1000 * SLICE)

static struct slices slices;
static struct block *spares;

static void begin(int64_t now)
{
	slices_init(&slices, SHIFT);
	slices_advance(&slices, now);
}

static void end(void)
{
	slices_check(&slices);
	slices_destroy(&slices);
	block_free_all(spares);
	spares = NULL;
}

static bool add(int64_t deadline)
{
	struct entry e = {deadline, 1, 1};

	return slices_fit(&slices, deadline) &&
	       slices_add(&slices, e, some(&spares));
}

/* Opens the first one; returns how many were in that block. */
static size_t open_first(void)
{
	struct block *b = slices_open(&slices);
	size_t n = b->n;

	block_push(&spares, b);
	slices_check(&slices);
	return n;
}

START_TEST(empty)
{
	begin(NOW);
	ck_assert_int_eq(slices_next(&slices), INT64_MAX);
	ck_assert_uint_eq(slices_count(&slices), 0);
	end();
}
END_TEST

/* From the slice after that of now to the end of the window. */
START_TEST(what_fits)
{
	begin(NOW + 5);
	ck_assert(!slices_fit(&slices, INT64_MIN));
	ck_assert(!slices_fit(&slices, NOW - 1));
	ck_assert(!slices_fit(&slices, NOW));
	ck_assert(!slices_fit(&slices, NOW + SLICE - 1));
	ck_assert(slices_fit(&slices, NOW + SLICE));
	ck_assert(slices_fit(&slices, NOW + SLICES * SLICE - 1));
	ck_assert(!slices_fit(&slices, NOW + SLICES * SLICE));
	ck_assert(!slices_fit(&slices, INT64_MAX));
	ck_assert(add(NOW + SLICES * SLICE - 1));
	ck_assert_int_eq(slices_next(&slices), NOW + (SLICES - 1) * SLICE);
	ck_assert(add(NOW + SLICE + 1));
	ck_assert_int_eq(slices_next(&slices), NOW + SLICE);
	end();
}
END_TEST

/* At both ends of time. */
START_TEST(extremes)
{
	begin(INT64_MIN);
	ck_assert(add(INT64_MIN + SLICE));
	ck_assert_int_eq(slices_next(&slices), INT64_MIN + SLICE);
	ck_assert(!slices_fit(&slices, INT64_MAX));
	end();

	begin(INT64_MAX - SLICE);
	ck_assert(add(INT64_MAX));
	ck_assert_int_eq(slices_next(&slices), INT64_MAX - (SLICE - 1));
	ck_assert(!slices_fit(&slices, INT64_MIN));
	slices_advance(&slices, INT64_MAX);
	ck_assert_uint_eq(open_first(), 1);
	ck_assert(!slices_fit(&slices, INT64_MAX));
	end();
}
END_TEST

/* What is in a slice that has passed stays there until it is opened. */
START_TEST(advances_to_the_first)
{
	begin(NOW);
	must(add(NOW + 3 * SLICE));
	slices_advance(&slices, NOW + 2 * SLICE);
	ck_assert(!slices_fit(&slices, NOW + 2 * SLICE));
	ck_assert(slices_fit(&slices, NOW + 65 * SLICE));
	slices_advance(&slices, NOW + 1000 * SLICE);
	ck_assert_int_eq(slices_next(&slices), NOW + 3 * SLICE);
	ck_assert(!slices_fit(&slices, NOW + 3 * SLICE));
	ck_assert(slices_fit(&slices, NOW + 66 * SLICE));
	ck_assert(!slices_fit(&slices, NOW + 67 * SLICE));
	ck_assert(add(NOW + 66 * SLICE));
	ck_assert_uint_eq(open_first(), 1);
	ck_assert_int_eq(slices_next(&slices), NOW + 66 * SLICE);
	end();
}
END_TEST

/* The clock may be set back: what is there keeps its place. */
START_TEST(goes_back_when_empty)
{
	begin(NOW);
	must(add(NOW + SLICE));
	slices_advance(&slices, NOW - 500 * SLICE);
	ck_assert_int_eq(slices_next(&slices), NOW + SLICE);
	ck_assert(!slices_fit(&slices, NOW - 400 * SLICE));
	ck_assert_uint_eq(open_first(), 1);
	slices_advance(&slices, NOW - 500 * SLICE);
	ck_assert(add(NOW - 499 * SLICE));
	ck_assert_int_eq(slices_next(&slices), NOW - 499 * SLICE);
	end();
}
END_TEST

/* A slice with several blocks is opened block by block, and takes no more. */
START_TEST(several_blocks)
{
	enum { N = 2 * BLOCK_ENTRIES + 10 };

	begin(NOW);
	for (size_t i = 0; i < N; i++)
		must(add(NOW + 2 * SLICE + (int64_t)i));
	slices_check(&slices);
	ck_assert_uint_eq(slices_count(&slices), N);
	ck_assert_uint_eq(open_first(), 10);
	ck_assert(!slices_fit(&slices, NOW + 2 * SLICE));
	ck_assert(slices_fit(&slices, NOW + 3 * SLICE));
	ck_assert_int_eq(slices_next(&slices), NOW + 2 * SLICE);
	ck_assert_uint_eq(open_first(), BLOCK_ENTRIES);
	ck_assert_uint_eq(open_first(), BLOCK_ENTRIES);
	ck_assert_int_eq(slices_next(&slices), INT64_MAX);
	/* The blocks are used again. */
	must(add(NOW + 3 * SLICE));
	ck_assert_uint_eq(slices_count(&slices), 1);
	end();
}
END_TEST

/* Against a model: how many there are in each slice. */
START_TEST(random_against_counts)
{
	enum { SPAN = 4096 };
	static size_t count[SPAN + 2 * SLICES];
	uint64_t rng = test_seed();
	int64_t now = 0;
	size_t n = 0;

	begin(0);
	while (now < SPAN * SLICE) {
		int64_t t = now + (int64_t)random_below(&rng, 70 * SLICE);

		if (random_below(&rng, 3) > 0 && add(t)) {
			count[slice_of(&slices, t)]++;
			n++;
		}
		if (random_below(&rng, 5) == 0 && n > 0) {
			int64_t first = slices_next(&slices);
			size_t opened = open_first();

			for (int64_t i = 0; i < slice_of(&slices, first); i++)
				must(count[i] == 0);
			must(count[slice_of(&slices, first)] >= opened);
			count[slice_of(&slices, first)] -= opened;
			n -= opened;
		}
		must(slices_count(&slices) == n);
		now += (int64_t)random_below(&rng, SLICE);
		slices_advance(&slices, now);
		slices_check(&slices);
	}
	end();
}
END_TEST

START_TEST(without_spares)
{
	begin(NOW);
	ck_assert(!slices_add(&slices, (struct entry){NOW + SLICE, 1, 1},
			      &spares));
	ck_assert_uint_eq(slices_count(&slices), 0);
	ck_assert_int_eq(slices_next(&slices), INT64_MAX);
	slices_check(&slices);
	/* A block that is there will do. */
	block_push(&spares, block_alloc());
	ck_assert(add(NOW + SLICE));
	ck_assert_ptr_null(spares);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		empty,
		what_fits,
		extremes,
		advances_to_the_first,
		goes_back_when_empty,
		several_blocks,
		random_against_counts,
		without_spares,
	};

	return RUN_TESTS("slices", tests);
}
