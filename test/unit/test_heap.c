/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "heap.h"

static int by_deadline(const void *a, const void *b)
{
	int64_t x = ((const struct entry *)a)->deadline;
	int64_t y = ((const struct entry *)b)->deadline;

	return (x > y) - (x < y);
}

START_TEST(empty)
{
	struct heap h;

	heap_init(&h);
	heap_check(&h);
	ck_assert_uint_eq(h.n, 0);
	heap_destroy(&h);
}
END_TEST

START_TEST(sorts_any_deadline)
{
	static const int64_t deadlines[] = {
		5, INT64_MAX, -1, INT64_MIN, 0, 5, INT64_MAX, 7, -1,
	};
	const size_t n = sizeof(deadlines) / sizeof(deadlines[0]);
	int64_t last = INT64_MIN;
	struct heap h;

	heap_init(&h);
	for (size_t i = 0; i < n; i++) {
		ck_assert(heap_reserve(&h));
		heap_push(&h, (struct entry){deadlines[i], i + 1});
		heap_check(&h);
	}
	for (size_t i = 0; i < n; i++) {
		ck_assert_int_le(last, h.entry[0].deadline);
		last = h.entry[0].deadline;
		heap_remove(&h, 0);
		heap_check(&h);
	}
	ck_assert_uint_eq(h.n, 0);
	heap_destroy(&h);
}
END_TEST

/* Push and remove at random, against an array that is sorted. */
START_TEST(random_against_sorted)
{
	enum { STEPS = 4000, MAX = 700 };
	uint64_t rng = test_seed();
	struct entry model[MAX];
	size_t n = 0;
	struct heap h;

	heap_init(&h);
	for (int step = 0; step < STEPS; step++) {
		bool grow = random_below(&rng, 8) < (step / 1000 % 2 ? 3 : 5);

		if (n < MAX && (n == 0 || grow)) {
			int64_t d = (int64_t)random_below(&rng, 500) - 100;
			struct entry e = {d, (uint64_t)step};

			ck_assert(heap_reserve(&h));
			heap_push(&h, e);
			model[n++] = e;
		} else {
			size_t at = random_below(&rng, 2)
					    ? 0
					    : random_below(&rng, n);
			uint64_t id = h.entry[at].id;
			size_t i = 0;

			while (model[i].id != id)
				i++;
			ck_assert_int_eq(model[i].deadline,
					 h.entry[at].deadline);
			heap_remove(&h, at);
			model[i] = model[--n];
		}
		heap_check(&h);
		ck_assert_uint_eq(h.n, n);
	}
	qsort(model, n, sizeof(model[0]), by_deadline);
	for (size_t i = 0; i < n; i++) {
		ck_assert_int_eq(h.entry[0].deadline, model[i].deadline);
		heap_remove(&h, 0);
	}
	heap_destroy(&h);
}
END_TEST

START_TEST(gives_memory_back)
{
	struct heap h;
	size_t full;

	heap_init(&h);
	for (uint64_t i = 0; i < 10000; i++) {
		ck_assert(heap_reserve(&h));
		heap_push(&h, (struct entry){(int64_t)i, i});
	}
	full = h.capacity;
	ck_assert_uint_le(full, 20000);
	while (h.n > 1) {
		heap_remove(&h, h.n - 1);
		heap_check(&h);
		ck_assert(h.capacity <= 4 * h.n + 4 || h.capacity == 64);
	}
	ck_assert_uint_lt(h.capacity, full / 64);
	heap_destroy(&h);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		empty,
		sorts_any_deadline,
		random_against_sorted,
		gives_memory_back,
	};

	return RUN_TESTS("heap", tests);
}
