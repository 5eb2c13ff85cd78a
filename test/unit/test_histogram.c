/* SPDX-License-Identifier: MIT */
#include "base/histogram.h"
#include "harness.h"

static struct histogram h;
static struct histogram_counts c;

static void read_counts(void)
{
	c = (struct histogram_counts){0};
	histogram_add_to(&c, &h);
}

static void begin(void)
{
	h = (struct histogram){0};
}

/* The lowest rank's is v's then, and the longest does not cut it off. */
static int64_t told_for(int64_t v)
{
	begin();
	histogram_count(&h, v);
	histogram_count(&h, INT64_MAX);
	read_counts();
	return histogram_quantile(&c, 0);
}

static void check_told(int64_t v)
{
	int64_t told = told_for(v);
	int64_t off = told > v ? told - v : v - told;

	if (v < 64)
		ck_assert_int_le(off, 4);
	else if (v < INT64_C(1) << (HISTOGRAM_LAST_LOG2 + 1))
		ck_assert_double_lt((double)off, 0.06 * (double)v);
	else
		ck_assert_int_gt(told, INT64_C(500000000000));
}

START_TEST(each_is_told_nearly)
{
	uint64_t r = test_seed();

	for (int64_t v = 0; v < 5000; v++)
		check_told(v);
	for (int log2 = 6; log2 < 63; log2++) {
		for (int64_t d = -2; d <= 2; d++)
			check_told((INT64_C(1) << log2) + d);
	}
	for (int i = 0; i < 20000; i++)
		check_told((int64_t)(next_random(&r) >> (1 + i % 60)));
}
END_TEST

/* Longer ones are never in an earlier step, and each step has some. */
START_TEST(steps_are_in_order)
{
	unsigned last = 0;

	ck_assert_uint_eq(histogram_step(0), 0);
	for (uint64_t v = 0; v >> (HISTOGRAM_LAST_LOG2 + 1) == 0;
	     v += 1 + v / 100) {
		unsigned step = histogram_step(v);

		ck_assert_uint_ge(step, last);
		ck_assert_uint_le(step, last + 1);
		last = step;
	}
	ck_assert_uint_eq(last, HISTOGRAM_SIZE - 1);
	ck_assert_uint_eq(histogram_step(UINT64_MAX), HISTOGRAM_SIZE - 1);
}
END_TEST

START_TEST(sums)
{
	begin();
	histogram_count(&h, 5);
	histogram_count(&h, 1000);
	histogram_count(&h, -7);
	histogram_count(&h, 300);
	read_counts();
	ck_assert_uint_eq(c.sum, 1305);
	ck_assert_uint_eq(c.longest, 1000);
	ck_assert_uint_eq(histogram_number(&c), 4);
	ck_assert_uint_eq(histogram_below(&c, histogram_step(64)), 2);
	ck_assert_double_eq_tol((double)histogram_quantile(&c, 1), 1000, 60);

	histogram_add_to(&c, &h);
	ck_assert_uint_eq(c.sum, 2610);
	ck_assert_uint_eq(c.longest, 1000);
	ck_assert_uint_eq(histogram_number(&c), 8);
}
END_TEST

/* The longest is told as it is, if the value of its step is above it. */
START_TEST(the_longest_of_two)
{
	static struct histogram other;

	begin();
	histogram_count(&h, 961);
	histogram_count(&other, 100);
	read_counts();
	ck_assert_int_eq(histogram_quantile(&c, 1), 961);
	histogram_add_to(&c, &other);
	ck_assert_uint_eq(c.longest, 961);
	ck_assert_uint_eq(c.sum, 1061);
	ck_assert_int_eq(histogram_quantile(&c, 1), 961);
}
END_TEST

/* What is read while one is counted may have its step, and an old longest. */
START_TEST(an_old_longest)
{
	begin();
	histogram_count(&h, 1000);
	histogram_count(&h, 1000000000);
	read_counts();
	c.longest = 1000;
	ck_assert_double_eq_tol((double)histogram_quantile(&c, 1), 1e9, 6e7);
	c.longest = 0;
	ck_assert_double_eq_tol((double)histogram_quantile(&c, 0), 1000, 60);
}
END_TEST

/* Some that began at a deadline of 1970. */
START_TEST(the_sum_does_not_overflow)
{
	begin();
	for (int i = 0; i < 3; i++)
		histogram_count(&h, INT64_MAX);
	read_counts();
	ck_assert_uint_eq(c.sum, UINT64_MAX);
	histogram_add_to(&c, &h);
	ck_assert_uint_eq(c.sum, UINT64_MAX);
}
END_TEST

START_TEST(differences)
{
	struct histogram_counts before, after;

	begin();
	histogram_count(&h, 100);
	histogram_count(&h, 100);
	read_counts();
	before = c;
	histogram_count(&h, 5000);
	read_counts();
	after = c;
	ck_assert(histogram_subtract(&c, &before));
	ck_assert_uint_eq(histogram_number(&c), 1);
	ck_assert_uint_eq(c.sum, 5000);
	ck_assert_double_eq_tol((double)histogram_quantile(&c, 0.5), 5000, 300);
	ck_assert(!histogram_subtract(&before, &after));
}
END_TEST

enum { VALUES = 2000 };

static int64_t value[VALUES];

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The shares that are asked for most, and any other. */
static void check_part(double part)
{
	double rank = part * VALUES;
	int i = (int)rank - (rank == (int)rank && rank > 0);
	int64_t v = value[i < VALUES ? i : VALUES - 1];
	int64_t told = histogram_quantile(&c, part);

	ck_assert_double_le((double)(told > v ? told - v : v - told),
			    v < 64 ? 4 : 0.06 * (double)v);
}

START_TEST(quantiles_are_those_of_the_values)
{
	uint64_t r = test_seed();

	for (int round = 0; round < 50; round++) {
		begin();
		for (int i = 0; i < VALUES; i++) {
			value[i] = (int64_t)(next_random(&r) >>
					     (26 + next_random(&r) % 34));
			histogram_count(&h, value[i]);
		}
		qsort(value, VALUES, sizeof(value[0]), compare);
		read_counts();
		check_part(0);
		check_part(0.5);
		check_part(0.99);
		check_part(0.999);
		check_part(1);
		for (int i = 0; i < 100; i++)
			check_part((double)(next_random(&r) % 1000001) / 1e6);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		each_is_told_nearly,
		steps_are_in_order,
		sums,
		the_longest_of_two,
		an_old_longest,
		the_sum_does_not_overflow,
		differences,
		quantiles_are_those_of_the_values,
	};

	return RUN_TESTS("histogram", tests);
}
