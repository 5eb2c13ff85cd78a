/* SPDX-License-Identifier: MIT */
#include "checks/heap.h"
#include "harness.h"
#include "pending/heap.h"

static int by_deadline(const void *a, const void *b)
{
	int64_t x = ((const struct entry *)a)->deadline;
	int64_t y = ((const struct entry *)b)->deadline;

	return (x > y) - (x < y);
}

START_TEST(empty)
{
	struct heap h = {0};

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
	struct heap h = {0};

	for (size_t i = 0; i < n; i++) {
		ck_assert(heap_make_room(&h));
		heap_push(&h,
			  (struct entry){deadlines[i], (uint32_t)(i + 1), 0});
		heap_check(&h);
	}
	for (size_t i = 0; i < n; i++) {
		ck_assert_int_le(last, heap_at(&h, 0)->deadline);
		last = heap_at(&h, 0)->deadline;
		heap_pop(&h);
		heap_check(&h);
	}
	ck_assert_uint_eq(h.n, 0);
	heap_destroy(&h);
}
END_TEST

/* Push and pop at random, against an array that is sorted. */
START_TEST(random_against_sorted)
{
	enum { STEPS = 4000, MAX = 700 };
	uint64_t rng = test_seed();
	struct entry model[MAX];
	size_t n = 0;
	struct heap h = {0};

	for (int step = 0; step < STEPS; step++) {
		bool grow = random_below(&rng, 8) < (step / 1000 % 2 ? 3 : 5);

		if (n < MAX && (n == 0 || grow)) {
			int64_t d = (int64_t)random_below(&rng, 500) - 100;
			struct entry e = {d, (uint32_t)step, 0};

			ck_assert(heap_make_room(&h));
			heap_push(&h, e);
			model[n++] = e;
		} else {
			struct entry first = heap_pop(&h);
			size_t i = 0;

			while (model[i].ticket != first.ticket)
				i++;
			ck_assert_int_eq(model[i].deadline, first.deadline);
			model[i] = model[--n];
		}
		heap_check(&h);
		ck_assert_uint_eq(h.n, n);
	}
	qsort(model, n, sizeof(model[0]), by_deadline);
	for (size_t i = 0; i < n; i++) {
		ck_assert_int_eq(heap_at(&h, 0)->deadline, model[i].deadline);
		heap_pop(&h);
	}
	heap_destroy(&h);
}
END_TEST

START_TEST(gives_memory_back)
{
	enum { N = 50 * HEAP_MIN };
	struct heap h = {0};

	for (uint64_t i = 0; i < N; i++) {
		ck_assert(heap_make_room(&h));
		heap_push(&h, (struct entry){(int64_t)i, (uint32_t)(i), 0});
		ck_assert_uint_le(h.size, 2 * i + HEAP_MIN);
	}
	heap_check(&h);
	while (h.n > 0) {
		heap_pop(&h);
		heap_check(&h);
		ck_assert(h.size <= HEAP_KEEP || h.n >= h.size / 4);
	}
	ck_assert_uint_eq(h.size, HEAP_KEEP);
	heap_destroy(&h);
}
END_TEST

/* At the edge of the array nothing may be allocated and freed in turn. */
START_TEST(does_not_change_its_size_in_turn)
{
	struct heap h = {0};
	size_t size;

	do {
		ck_assert(heap_make_room(&h));
		heap_push(&h, (struct entry){(int64_t)h.n, (uint32_t)(h.n), 0});
	} while (h.n < 3 * HEAP_MIN || h.n + HEAP_SHIFT < h.size);
	ck_assert(heap_make_room(&h));
	size = h.size;
	for (int i = 0; i < 10; i++) {
		heap_push(&h, (struct entry){0, 0, 0});
		heap_pop(&h);
		heap_pop(&h);
		ck_assert_uint_eq(h.size, size);
		heap_push(&h, (struct entry){0, 0, 0});
		heap_check(&h);
	}
	heap_destroy(&h);
}
END_TEST

/*
 * What was there before stays, and so does the memory that was reserved: more
 * than what any heap keeps.
 */
START_TEST(keeps_a_reserve)
{
	enum { N = HEAP_KEEP + 5 * HEAP_MIN };
	struct heap h = {0};
	size_t size;

	ck_assert(heap_make_room(&h));
	heap_push(&h, (struct entry){7, 1, 0});
	ck_assert(heap_reserve(&h, N));
	heap_check(&h);
	ck_assert_int_eq(heap_at(&h, 0)->deadline, 7);
	size = h.size;
	ck_assert_uint_ge(size, N + HEAP_SHIFT);
	for (int64_t i = 1; i < N; i++)
		heap_push(&h, (struct entry){i, 0, 0});
	ck_assert_uint_eq(h.size, size);
	while (h.n > 0)
		heap_pop(&h);
	ck_assert_uint_eq(h.size, size);
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
		does_not_change_its_size_in_turn,
		keeps_a_reserve,
	};

	return RUN_TESTS("heap", tests);
}
