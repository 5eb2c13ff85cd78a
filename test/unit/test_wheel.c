/* SPDX-License-Identifier: MIT */
#include "fail_alloc.h"
#include "harness.h"
#include "pending/wheel.h"

#include <string.h>

#define TICK (INT64_C(1) << WHEEL_TICK_LOG2)

static struct wheel wheel;
static struct block *spares;

static void begin(int64_t now)
{
	wheel_init(&wheel);
	wheel_advance(&wheel, now);
	spares = NULL;
}

static void end(void)
{
	wheel_check(&wheel);
	wheel_destroy(&wheel);
	block_free_all(spares);
}

static void file(int64_t deadline)
{
	ck_assert(wheel_takes(&wheel, deadline));
	ck_assert(wheel_file(&wheel, (struct entry){deadline, 7, 8}, &spares));
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/*
 * Opens the first slot.  What has no place any more is put behind ret, and what
 * has one is filed again.  Returns how many had none.
 */
static size_t open_first(int64_t *ret)
{
	struct chain c = wheel_take(&wheel, true);
	struct block *b;
	size_t n = 0;

	while ((b = block_pop(&c.first)) != NULL) {
		for (uint32_t i = 0; i < b->n; i++) {
			int64_t deadline = b->entry[i].deadline;

			ck_assert_int_ge(deadline, c.nearest);
			if (wheel_takes(&wheel, deadline))
				file(deadline);
			else
				ret[n++] = deadline;
		}
		block_push(&spares, b);
	}
	return n;
}

/* All n of deadline must come out, in the order of their ticks. */
static void check_order(int64_t *deadline, size_t n)
{
	int64_t *out = malloc(n * sizeof(*out));
	size_t got = 0;

	while (wheel_first(&wheel)) {
		got += open_first(out + got);
		wheel_check(&wheel);
	}
	ck_assert_uint_eq(wheel.n, 0);
	ck_assert_uint_eq(got, n);
	for (size_t i = 1; i < n; i++)
		ck_assert(wheel_tick(out[i - 1]) <= wheel_tick(out[i]));
	qsort(deadline, n, sizeof(*deadline), by_value);
	qsort(out, n, sizeof(*out), by_value);
	ck_assert_int_eq(memcmp(out, deadline, n * sizeof(*out)), 0);
	free(out);
}

START_TEST(empty)
{
	begin(0);
	ck_assert_ptr_null(wheel_first(&wheel));
	ck_assert_ptr_null(wheel_visit(&wheel));
	ck_assert(!wheel_takes(&wheel, -TICK));
	ck_assert(!wheel_takes(&wheel, 0));
	ck_assert(!wheel_takes(&wheel, TICK - 1));
	ck_assert(wheel_takes(&wheel, TICK));
	end();
}
END_TEST

/* Each edge of the range has a place, seen from each edge. */
START_TEST(all_times)
{
	static const int64_t times[] = {
		INT64_MIN,
		INT64_MIN + TICK,
		-TICK - 1,
		-1,
		0,
		TICK - 1,
		TICK,
		64 * TICK - 1,
		64 * TICK,
		INT64_MAX / 2,
		INT64_MAX - TICK,
		INT64_MAX - 1,
		INT64_MAX,
	};
	const size_t n = sizeof(times) / sizeof(times[0]);

	for (size_t from = 0; from < n; from++) {
		int64_t filed[sizeof(times) / sizeof(times[0])];
		size_t k = 0;

		begin(times[from]);
		for (size_t i = 0; i < n; i++) {
			if (!wheel_takes(&wheel, times[i]))
				continue;
			filed[k++] = times[i];
			file(times[i]);
			wheel_check(&wheel);
		}
		ck_assert_uint_le(n - from, k + 3);
		check_order(filed, k);
		end();
	}
}
END_TEST

START_TEST(first_is_nearest)
{
	begin(0);
	file(5000 * TICK);
	ck_assert_int_eq(wheel_first(&wheel)->nearest.deadline, 5000 * TICK);
	file(70 * TICK + 5);
	file(70 * TICK + 3);
	file(70 * TICK + 4);
	ck_assert_int_eq(wheel_first(&wheel)->nearest.deadline, 70 * TICK + 3);
	file(TICK);
	ck_assert_int_eq(wheel_first(&wheel)->nearest.deadline, TICK);
	file(INT64_MAX);
	ck_assert_int_eq(wheel_first(&wheel)->nearest.deadline, TICK);
	end();
}
END_TEST

/* The base follows the time, but not into a slot that is not empty. */
START_TEST(advances)
{
	begin(0);
	file(100 * TICK);
	wheel_advance(&wheel, 50 * TICK);
	wheel_check(&wheel);
	ck_assert(!wheel_takes(&wheel, 50 * TICK));
	ck_assert(wheel_takes(&wheel, 51 * TICK));
	/* The slot of the entry begins at 64. */
	wheel_advance(&wheel, 1000 * TICK);
	wheel_check(&wheel);
	ck_assert(!wheel_takes(&wheel, 63 * TICK));
	ck_assert(wheel_takes(&wheel, 64 * TICK));
	wheel_advance(&wheel, 10 * TICK);
	ck_assert(!wheel_takes(&wheel, 63 * TICK));
	end();

	begin(1000 * TICK);
	wheel_advance(&wheel, 10 * TICK); /* an empty one goes back, too */
	ck_assert(wheel_takes(&wheel, 11 * TICK));
	end();
}
END_TEST

/* Times near and far, in clusters. */
static int64_t random_time(uint64_t *rng, int64_t now)
{
	int64_t distance = (int64_t)(next_random(rng) >> random_below(rng, 62));

	if (distance < 0)
		distance = -(distance + 1);
	if (random_below(rng, 4) == 0)
		distance &= ~(int64_t)0xffffff;
	return distance > INT64_MAX - now ? INT64_MAX : now + distance;
}

START_TEST(random_order)
{
	enum { N = 3000 };
	static int64_t filed[N];
	uint64_t rng = test_seed();

	for (int round = 0; round < 5; round++) {
		int64_t now = random_time(&rng, 0);
		size_t n = 0;

		begin(now);
		for (int i = 0; i < N; i++) {
			int64_t t = random_time(&rng, now);

			if (!wheel_takes(&wheel, t))
				continue;
			file(t);
			filed[n++] = t;
		}
		wheel_check(&wheel);
		ck_assert_uint_gt(n, N / 4);
		check_order(filed, n);
		end();
	}
}
END_TEST

/* Removes nine in ten from the block.  Returns how many. */
static uint32_t remove_most(struct block *b)
{
	uint32_t n = b->n, kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (b->entry[i].deadline % 10 == 0)
			b->entry[kept++] = b->entry[i];
	}
	b->n = kept;
	return n - kept;
}

/* One round meets all; what is left is in few blocks. */
START_TEST(visits_all)
{
	enum { N = 100000 };
	static int64_t kept[N];
	uint64_t rng = test_seed();
	size_t met = 0, n = 0, blocks = 0, slots = 0;
	struct block *b;

	begin(0);
	for (int i = 0; i < N; i++) {
		int64_t t = (int64_t)random_below(&rng, 4000000) * TICK / 4;

		t += TICK + (int64_t)random_below(&rng, 100);
		file(t);
		if (t % 10 == 0)
			kept[n++] = t;
	}
	while ((b = wheel_visit(&wheel)) != NULL) {
		met += b->n;
		wheel_visited(&wheel, remove_most(b), &spares);
		wheel_check(&wheel);
	}
	ck_assert_uint_eq(met, N);
	ck_assert_uint_eq(wheel.n, n);
	for (int level = 0; level < WHEEL_LEVELS; level++) {
		for (unsigned i = 0; wheel.level[level] && i < WHEEL_SLOTS;
		     i++) {
			struct wheel_slot *s = &wheel.level[level]->slot[i];

			slots += s->n > 0;
			for (b = s->first; b; b = b->next)
				blocks++;
		}
	}
	ck_assert_uint_le(blocks, slots + 2 * n / BLOCK_ENTRIES + 1);
	check_order(kept, n);
	end();
}
END_TEST

/* The cursor is where slots are opened, filled and emptied. */
START_TEST(visits_amid_changes)
{
	enum { STEPS = 20000 };
	uint64_t rng = test_seed();
	static int64_t out[STEPS];
	int64_t now = 0;

	begin(0);
	for (int i = 0; i < STEPS; i++) {
		uint64_t dice = random_below(&rng, 100);
		int64_t t = random_time(&rng, now);
		struct block *b;

		if (dice < 70 && wheel_takes(&wheel, t)) {
			file(t);
		} else if (dice < 90) {
			b = wheel_visit(&wheel);
			if (b)
				wheel_visited(&wheel, remove_most(b), &spares);
		} else if (dice < 93 && wheel_first(&wheel)) {
			open_first(out);
		} else {
			now += (int64_t)random_below(&rng, 300) * TICK;
			wheel_advance(&wheel, now);
		}
		wheel_check(&wheel);
	}
	end();
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

START_TEST(out_of_memory)
{
	begin(0);
	fail_arm(0, UINT32_MAX);
	ck_assert(!wheel_file(&wheel, (struct entry){TICK, 1, 1}, &spares));
	ck_assert_uint_gt(fail_disarm(), 0);
	wheel_check(&wheel);
	file(TICK);
	fail_arm(0, UINT32_MAX);
	file(TICK + 1); /* there is room */
	ck_assert(!wheel_file(&wheel, (struct entry){2 * TICK, 1, 1}, &spares));
	ck_assert_uint_gt(fail_disarm(), 0);
	wheel_check(&wheel);
	ck_assert_uint_eq(wheel.n, 2);
	end();
}
END_TEST

#endif

int main(void)
{
	const TTest *const tests[] = {
		empty,         all_times,  first_is_nearest,    advances,
		random_order,  visits_all, visits_amid_changes,
#ifndef FAIL_ALLOC_UNAVAILABLE
		out_of_memory,
#endif
	};

	return RUN_TESTS("wheel", tests);
}
