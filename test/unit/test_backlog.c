/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "pending/backlog.h"

static struct block *block_of(uint64_t *rng, size_t n)
{
	struct block *b = block_alloc();

	b->n = (uint32_t)n;
	b->nearest = INT64_MAX;
	for (size_t i = 0; i < n; i++) {
		b->entry[i].deadline = (int64_t)random_below(rng, 100000) - 999;
		b->entry[i].ticket = i;
		if (b->entry[i].deadline < b->nearest)
			b->nearest = b->entry[i].deadline;
	}
	/* It need not be exact. */
	b->nearest -= (int64_t)random_below(rng, 3);
	return b;
}

static void add_block(struct backlog *l, struct block *b)
{
	b->next = NULL;
	backlog_add(l, (struct chain){b, b->nearest});
}

/* Takes one out, and returns its bound. */
static int64_t take(struct backlog *l)
{
	struct block *b;
	int64_t nearest;

	while (!(b = backlog_take(l)))
		backlog_check(l);
	nearest = b->nearest;
	b->next = NULL;
	block_free_all(b);
	return nearest;
}

START_TEST(one)
{
	uint64_t rng = test_seed();
	struct backlog l = {NULL};

	backlog_check(&l);
	ck_assert(backlog_empty(&l));
	ck_assert_ptr_null(backlog_take(&l));
	add_block(&l, block_of(&rng, 1));
	ck_assert(!backlog_empty(&l));
	backlog_check(&l);
	take(&l);
	ck_assert(backlog_empty(&l));
	ck_assert_int_eq(backlog_nearest(&l), INT64_MAX);
	backlog_destroy(&l);
}
END_TEST

START_TEST(earliest_first)
{
	enum { N = 3000 };
	uint64_t rng = test_seed();
	int64_t last = INT64_MIN;
	struct backlog l = {NULL};

	for (int i = 0; i < N; i++)
		add_block(&l, block_of(&rng, 1 + random_below(&rng, 5)));
	for (int i = 0; i < N; i++) {
		int64_t next = take(&l);

		ck_assert_int_le(last, next);
		last = next;
	}
	ck_assert(backlog_empty(&l));
}
END_TEST

/* A chain of n blocks. */
static struct chain chain_of(uint64_t *rng, size_t n)
{
	struct chain c = {NULL, INT64_MAX};

	for (; n > 0; n--) {
		struct block *b = block_of(rng, 1 + random_below(rng, 5));

		if (b->nearest < c.nearest)
			c.nearest = b->nearest;
		block_push(&c.first, b);
	}
	return c;
}

/* A step takes few blocks from the chains, and order is kept. */
START_TEST(chains)
{
	enum { CHAINS = 20, LENGTH = 300 };
	uint64_t rng = test_seed();
	int64_t last = INT64_MIN;
	struct backlog l = {NULL};
	int steps = 0, taken = 0;

	backlog_add(&l, (struct chain){NULL, 7});
	ck_assert(backlog_empty(&l));
	for (int i = 0; i < CHAINS; i++) {
		backlog_add(&l, chain_of(&rng, LENGTH));
		backlog_check(&l);
	}
	while (!backlog_empty(&l)) {
		int64_t bound = backlog_nearest(&l);
		struct block *b = backlog_take(&l);

		steps++;
		if (!b)
			continue;
		ck_assert_int_eq(b->nearest, bound);
		ck_assert_int_le(last, b->nearest);
		last = b->nearest;
		b->next = NULL;
		block_free_all(b);
		taken++;
	}
	ck_assert_int_eq(taken, CHAINS * LENGTH);
	ck_assert_int_ge(steps - taken, CHAINS * LENGTH / 64);
}
END_TEST

/* What is earlier than all in the chains need not wait for them. */
START_TEST(chains_wait)
{
	uint64_t rng = test_seed();
	struct block *b = block_of(&rng, 1);
	struct backlog l = {NULL};

	backlog_add(&l, chain_of(&rng, 100));
	b->nearest = -100000;
	add_block(&l, b);
	ck_assert_ptr_eq(backlog_take(&l), b);
	b->next = NULL;
	block_free_all(b);
	backlog_destroy(&l);
}
END_TEST

START_TEST(random_steps)
{
	enum { STEPS = 3000, MAX = 60 };
	uint64_t rng = test_seed();
	int64_t model[MAX];
	struct backlog l = {NULL};
	size_t n = 0;

	for (int step = 0; step < STEPS; step++) {
		if (n + 4 < MAX && random_below(&rng, 100) < 10) {
			struct chain c = chain_of(&rng, random_below(&rng, 5));

			for (struct block *b = c.first; b; b = b->next)
				model[n++] = b->nearest;
			backlog_add(&l, c);
		} else if (n < MAX && random_below(&rng, 100) < 45) {
			struct block *b = block_of(&rng, BLOCK_ENTRIES);

			add_block(&l, b);
			model[n++] = b->nearest;
		} else if (n > 0) {
			size_t least = 0;

			for (size_t i = 1; i < n; i++)
				least = model[i] < model[least] ? i : least;
			ck_assert_int_eq(take(&l), model[least]);
			model[least] = model[--n];
		}
		backlog_check(&l);
		ck_assert_int_eq(!backlog_empty(&l), n > 0);
	}
	backlog_destroy(&l);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		one, earliest_first, chains, chains_wait, random_steps,
	};

	return RUN_TESTS("backlog", tests);
}
