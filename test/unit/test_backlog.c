/* SPDX-License-Identifier: MIT */
#include "backlog.h"
#include "harness.h"

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

/* Takes one out, and returns its bound. */
static int64_t take(struct backlog *l)
{
	struct block *b = backlog_take(l);
	int64_t nearest = b->nearest;

	b->next = NULL;
	block_free_all(b);
	return nearest;
}

START_TEST(one)
{
	uint64_t rng = test_seed();
	struct backlog l = {NULL};

	backlog_check(&l);
	backlog_add(&l, block_of(&rng, 1));
	backlog_check(&l);
	take(&l);
	ck_assert_ptr_null(l.earliest);
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
		backlog_add(&l, block_of(&rng, 1 + random_below(&rng, 5)));
	for (int i = 0; i < N; i++) {
		int64_t next = take(&l);

		ck_assert_int_le(last, next);
		last = next;
	}
	ck_assert_ptr_null(l.earliest);
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
		if (n < MAX && random_below(&rng, 100) < 52) {
			struct block *b = block_of(&rng, BLOCK_ENTRIES);

			backlog_add(&l, b);
			model[n++] = b->nearest;
		} else if (n > 0) {
			size_t least = 0;

			for (size_t i = 1; i < n; i++)
				least = model[i] < model[least] ? i : least;
			ck_assert_int_eq(take(&l), model[least]);
			model[least] = model[--n];
		}
		backlog_check(&l);
		ck_assert_int_eq(l.earliest != NULL, n > 0);
	}
	backlog_destroy(&l);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		one,
		earliest_first,
		random_steps,
	};

	return RUN_TESTS("backlog", tests);
}
