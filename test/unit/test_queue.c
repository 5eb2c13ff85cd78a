/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "intake/queue.h"

static void make_room(struct queue *q)
{
	if (!queue_has_room(q, 1)) {
		if (!q->spares)
			block_push(&q->spares, block_alloc());
		ck_assert(queue_extend(q));
		queue_check(q);
	}
}

static void add(struct queue *q, uint64_t id)
{
	make_room(q);
	queue_push(q, (struct entry){(int64_t)id, (uint32_t)(id), 0});
}

static size_t count_blocks(const struct block *b)
{
	size_t n = 0;

	for (; b; b = b->next)
		n++;
	return n;
}

START_TEST(empty)
{
	struct queue q;

	queue_init(&q);
	queue_check(&q);
	ck_assert(!queue_has_room(&q, 1));
	ck_assert(!queue_extend(&q));
	ck_assert_ptr_null(queue_front(&q));
	ck_assert_ptr_null(queue_ahead(&q, 0, 1));
	ck_assert_ptr_null(queue_take(&q));
	ck_assert_uint_eq(queue_size(&q), 0);
	queue_destroy(&q);
}
END_TEST

START_TEST(first_in_first_out)
{
	enum { N = 3 * BLOCK_ENTRIES + 7 };
	struct queue q;

	queue_init(&q);
	for (uint64_t i = 0; i < N; i++)
		add(&q, i);
	queue_check(&q);
	for (uint64_t i = 0; i < N; i++) {
		ck_assert_uint_eq(queue_size(&q), N - i);
		ck_assert_uint_eq(queue_front(&q)->ticket, i);
		queue_pop(&q);
		queue_check(&q);
	}
	ck_assert_ptr_null(queue_front(&q));
	ck_assert_uint_eq(count_blocks(q.spares), 3);
	queue_destroy(&q);
}
END_TEST

/* A queue that runs empty time and again stays in one place. */
START_TEST(one_at_a_time_needs_one_block)
{
	struct queue q;

	queue_init(&q);
	for (uint64_t i = 0; i < 3 * BLOCK_ENTRIES; i++) {
		add(&q, i);
		queue_pop(&q);
		queue_check(&q);
		ck_assert_ptr_eq(q.front, q.first->entry);
	}
	ck_assert_ptr_null(q.spares);
	ck_assert_uint_eq(q.blocks, 1);
	queue_destroy(&q);
}
END_TEST

START_TEST(looks_ahead_in_the_block)
{
	enum { N = BLOCK_ENTRIES + 5 };
	struct queue q;

	queue_init(&q);
	for (uint64_t i = 0; i < N; i++)
		add(&q, i);
	ck_assert_uint_eq(queue_ahead(&q, 8, 2)->ticket, 8);
	ck_assert_ptr_nonnull(queue_ahead(&q, BLOCK_ENTRIES - 2, 2));
	ck_assert_ptr_null(queue_ahead(&q, BLOCK_ENTRIES - 1, 2));
	for (uint64_t i = 0; i < BLOCK_ENTRIES; i++)
		queue_pop(&q);
	ck_assert_uint_eq(queue_ahead(&q, 3, 2)->ticket, BLOCK_ENTRIES + 3);
	ck_assert_ptr_null(queue_ahead(&q, 4, 2));
	queue_destroy(&q);
}
END_TEST

START_TEST(take_hands_out_all)
{
	enum { N = 2 * BLOCK_ENTRIES + 5, GONE = 9 };
	uint64_t expected = GONE;
	struct block *taken;
	struct queue q;

	queue_init(&q);
	for (uint64_t i = 0; i < N; i++)
		add(&q, i);
	for (int i = 0; i < GONE; i++)
		queue_pop(&q);
	taken = queue_take(&q);
	queue_check(&q);
	ck_assert_uint_eq(queue_size(&q), 0);
	for (struct block *b = taken; b; b = b->next) {
		for (size_t i = 0; i < b->n; i++)
			ck_assert_uint_eq(b->entry[i].ticket, expected++);
	}
	ck_assert_uint_eq(expected, N);
	block_free_all(taken);
	add(&q, 1);
	queue_check(&q);
	ck_assert_uint_eq(queue_front(&q)->ticket, 1);
	queue_destroy(&q);
}
END_TEST

/* Each block's nearest is that of its own entries, and no lower. */
START_TEST(nearest_is_that_of_the_block)
{
	enum { BLOCKS = 4 };
	uint64_t rng = test_seed();
	struct queue q;

	queue_init(&q);
	for (int round = 0; round < 3; round++) {
		int64_t expected[BLOCKS];
		struct block *taken;
		int blocks = 0;

		for (int i = 0; i < BLOCKS; i++) {
			expected[i] = INT64_MAX;
			for (size_t j = 0; j < BLOCK_ENTRIES; j++) {
				int64_t far = (int64_t)random_below(&rng, 999);
				bool early = i == 0 && j == 5;
				/* Each block later than the ones before. */
				int64_t d = early ? round - 7
						  : 1000 * (i + 1) + far;

				make_room(&q);
				queue_push(&q, (struct entry){d, 0, 0});
				if (d < expected[i])
					expected[i] = d;
			}
		}
		queue_check(&q);
		taken = queue_take(&q);
		for (struct block *b = taken; b; b = b->next) {
			ck_assert_int_lt(blocks, BLOCKS);
			ck_assert_int_eq(b->nearest, expected[blocks]);
			blocks++;
		}
		ck_assert_int_eq(blocks, BLOCKS);
		block_free_all(taken);
	}
	queue_destroy(&q);
}
END_TEST

/* Add, pop and take at random; ids come out in the order they went in. */
START_TEST(random_steps)
{
	enum { STEPS = 30000 };
	uint64_t rng = test_seed(), in = 0, out = 0;
	struct queue q;

	queue_init(&q);
	for (int step = 0; step < STEPS; step++) {
		uint64_t adds = step / 3000 % 2 ? 30 : 65;

		if (random_below(&rng, 100) < adds) {
			add(&q, in++);
		} else if (step % 9973 == 0) {
			struct block *taken = queue_take(&q);

			for (struct block *b = taken; b; b = b->next) {
				for (size_t i = 0; i < b->n; i++)
					ck_assert_uint_eq(b->entry[i].ticket,
							  out++);
			}
			ck_assert_uint_eq(in, out);
			block_free_all(taken);
		} else if (queue_front(&q)) {
			ck_assert_uint_eq(queue_front(&q)->ticket, out++);
			queue_pop(&q);
		} else {
			ck_assert_uint_eq(in, out);
		}
		queue_check(&q);
		ck_assert_uint_eq(queue_size(&q), in - out);
	}
	queue_destroy(&q);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		empty,
		first_in_first_out,
		one_at_a_time_needs_one_block,
		looks_ahead_in_the_block,
		take_hands_out_all,
		nearest_is_that_of_the_block,
		random_steps,
	};

	return RUN_TESTS("queue", tests);
}
