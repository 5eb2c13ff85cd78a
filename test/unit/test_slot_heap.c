/* SPDX-License-Identifier: MIT */
/*
 * A heap of slots: the first due is the first, whatever comes and goes; and no
 * order of calls makes the paths in it long.
 */
#include "config.h"

#include "bare_slots.h"
#include "checks/slot_heap.h"
#include "must.h"
#include "random.h"

enum { N = 700, DEEP = 20000 };

static struct slots t;
static struct slot_heap h;

static void begin_empty(void)
{
	init(&t, 0, 0);
	h = (struct slot_heap){0, 0};
}

static struct slot *add(int64_t due)
{
	struct slot *s = take(&t);

	arm(s, due, NULL);
	must(!slot_heap_has(s));
	/* An executor, which had it before, has left something there. */
	memset(s->below, 0xff, sizeof(s->below));
	slot_heap_add(&h, &t, s);
	must(slot_heap_has(s));
	return s;
}

static void drop(struct slot *s)
{
	slot_heap_remove(&h, &t, s);
	must(!slot_heap_has(s));
	finish(s);
	recycle(&t, s);
}

START_TEST(empty)
{
	begin_empty();
	ck_assert_ptr_null(slot_heap_first(&h, &t));
	ck_assert_int_eq(slot_heap_nearest(&h, &t), INT64_MAX);
	drop(add(INT64_MIN));
	ck_assert_ptr_null(slot_heap_first(&h, &t));
	slots_destroy(&t);
}
END_TEST

/* The first of those in an array. */
static int64_t first_of(struct slot **in, size_t n)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < n; i++)
		first = in[i]->due < first ? in[i]->due : first;
	return first;
}

/* Takes out the first, or any, and maybe puts it back for another time. */
static void take_out(struct slot **in, size_t *n, uint64_t *rng)
{
	size_t i = random_below(rng, *n);
	struct slot *s = in[i];

	if (random_below(rng, 2)) {
		s = slot_heap_first(&h, &t);
		for (i = 0; in[i] != s; i++)
			must(i < *n);
	}
	if (random_below(rng, 4) > 0) {
		drop(s);
		in[i] = in[--*n];
		return;
	}
	slot_heap_remove(&h, &t, s);
	s->due = (int64_t)random_below(rng, 500) - 100;
	slot_heap_add(&h, &t, s);
}

START_TEST(random_against_an_array)
{
	uint64_t rng = test_seed();
	struct slot *in[N];
	size_t n = 0;

	begin_empty();
	for (int step = 0; step < 4000; step++) {
		bool grow = random_below(&rng, 8) < (step / 1000 % 2 ? 2 : 6);

		if (n < N && (n == 0 || grow))
			in[n++] = add((int64_t)random_below(&rng, 500) - 100);
		else
			take_out(in, &n, &rng);
		must(slot_heap_check(&h, &t) == n);
		must(slot_heap_nearest(&h, &t) == first_of(in, n));
	}
	slots_destroy(&t);
}
END_TEST

/* How many slots are above one that goes to the end of a path? */
static int length_of_a_path(void)
{
	struct slot *s = add(INT64_MAX);
	uint32_t above = s->above;
	int n = 0;

	for (; above != 1; above = slots_get(&t, above)->above)
		n++;
	drop(s);
	return n;
}

/* log2(20,000) is 14.3. */
static void check_paths(void)
{
	enum { PATHS = 1000 };
	int sum = 0;

	for (int i = 0; i < PATHS; i++)
		sum += length_of_a_path();
	ck_assert_int_le(sum, 16 * PATHS);
}

/* If the coin always fell on the same side, a path could have them all. */
START_TEST(no_order_makes_paths_long)
{
	uint64_t rng = test_seed();

	for (int order = 0; order < 4; order++) {
		begin_empty();
		for (int i = 0; i < DEEP; i++) {
			int any = (int)random_below(&rng, DEEP);

			add((int[]){i, -i, 0, any}[order]);
		}
		check_paths();
		for (int i = 0; i < DEEP / 2; i++)
			drop(slot_heap_first(&h, &t));
		check_paths();
		slots_destroy(&t);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		empty,
		random_against_an_array,
		no_order_makes_paths_long,
	};

	return RUN_TESTS("slot_heap", tests);
}
