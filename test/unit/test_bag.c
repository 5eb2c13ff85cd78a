/* SPDX-License-Identifier: MIT */
#include "bag.h"
#include "harness.h"

#include <stdbool.h>

static void add(struct bag *bag, uint64_t id)
{
	if (!bag_has_room(bag)) {
		if (!bag->spare)
			bag_add_spare(bag, block_alloc());
		ck_assert(bag_extend(bag));
	}
	bag_add(bag, (struct entry){(int64_t)id, id});
}

START_TEST(empty)
{
	struct bag bag;

	bag_init(&bag);
	bag_check(&bag);
	ck_assert(!bag_has_room(&bag));
	ck_assert(!bag_extend(&bag));
	ck_assert_ptr_null(bag_look(&bag));
	ck_assert_ptr_null(bag_take(&bag));
	ck_assert_uint_eq(bag_size(&bag), 0);
	bag_destroy(&bag);
}
END_TEST

START_TEST(look_goes_round)
{
	enum { N = 3 * BLOCK_ENTRIES + 7 };
	static int seen[N];
	struct bag bag;

	bag_init(&bag);
	for (uint64_t i = 0; i < N; i++)
		add(&bag, i);
	for (int round = 1; round <= 3; round++) {
		for (int i = 0; i < N; i++) {
			seen[bag_look(&bag)->id]++;
			bag_skip(&bag);
			bag_check(&bag);
		}
		for (int i = 0; i < N; i++)
			ck_assert_int_eq(seen[i], round);
	}
	bag_destroy(&bag);
}
END_TEST

START_TEST(drop_empties_it)
{
	enum { N = 2 * BLOCK_ENTRIES + 1 };
	static bool dropped[N];
	struct block *spares;
	struct bag bag;
	int blocks = 0;

	bag_init(&bag);
	for (uint64_t i = 0; i < N; i++)
		add(&bag, i);
	for (size_t left = N; left > 0; left--) {
		uint64_t id = bag_look(&bag)->id;

		ck_assert(!dropped[id]);
		dropped[id] = true;
		bag_drop(&bag);
		bag_check(&bag);
		ck_assert_uint_eq(bag_size(&bag), left - 1);
	}
	ck_assert_ptr_null(bag_look(&bag));
	spares = bag_take_spares(&bag);
	for (struct block *b = spares; b; b = b->next)
		blocks++;
	ck_assert_int_eq(blocks, 2);
	block_free_all(spares);
	bag_destroy(&bag);
}
END_TEST

START_TEST(take_hands_out_all)
{
	enum { N = 2 * BLOCK_ENTRIES + 5 };
	static int seen[N];
	struct block *taken;
	struct bag bag;

	bag_init(&bag);
	for (uint64_t i = 0; i < N; i++)
		add(&bag, i);
	taken = bag_take(&bag);
	bag_check(&bag);
	ck_assert_uint_eq(bag_size(&bag), 0);
	for (struct block *b = taken; b; b = b->next) {
		for (size_t i = 0; i < b->n; i++)
			seen[b->entry[i].id]++;
	}
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(seen[i], 1);
	block_free_all(taken);
	add(&bag, 1);
	bag_check(&bag);
	ck_assert_uint_eq(bag_look(&bag)->id, 1);
	bag_destroy(&bag);
}
END_TEST

/*
 * Add, skip, drop and take at random.  The model is a flag an id; the cursor
 * promise is checked by the round in which each id was last looked at.
 */
START_TEST(random_against_flags)
{
	enum { STEPS = 30000 };
	static bool present[STEPS];
	uint64_t rng = test_seed();
	size_t n = 0;
	struct bag bag;

	bag_init(&bag);
	for (uint64_t step = 0; step < STEPS; step++) {
		uint64_t adds = step / 3000 % 2 ? 30 : 65;
		uint64_t dice = random_below(&rng, 100);
		struct entry *e;

		if (dice < adds) {
			add(&bag, step);
			present[step] = true;
			n++;
		} else if (step % 9973 == 0) {
			struct block *taken = bag_take(&bag);

			for (struct block *b = taken; b; b = b->next) {
				for (size_t i = 0; i < b->n; i++, n--)
					present[b->entry[i].id] = false;
			}
			ck_assert_uint_eq(n, 0);
			block_free_all(taken);
		} else if ((e = bag_look(&bag)) != NULL) {
			ck_assert(present[e->id]);
			if (dice % 4 != 0) {
				present[e->id] = false;
				bag_drop(&bag);
				n--;
			} else {
				bag_skip(&bag);
			}
		} else {
			ck_assert_uint_eq(n, 0);
		}
		bag_check(&bag);
		ck_assert_uint_eq(bag_size(&bag), n);
	}
	bag_destroy(&bag);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		empty,
		look_goes_round,
		drop_empties_it,
		take_hands_out_all,
		random_against_flags,
	};

	return RUN_TESTS("bag", tests);
}
