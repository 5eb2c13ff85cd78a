/* SPDX-License-Identifier: MIT */
/*
 * Walks through a queue, which make holes of entries, and what becomes of
 * holes.
 */
#include "config.h"

#include "bare_queue.h"

static bool none(uint32_t ticket)
{
	(void)ticket;
	return false;
}

static bool all(uint32_t ticket)
{
	(void)ticket;
	return true;
}

static bool even(uint32_t ticket)
{
	return ticket % 2 == 0;
}

START_TEST(walks_round)
{
	enum { N = 3 * BLOCK_ENTRIES + 10 };
	struct queue_position p = {0};

	begin();
	ck_assert_uint_eq(walk(&p, 3, none), 0);
	p = (struct queue_position){0, 0};
	for (uint32_t i = 0; i < N; i++)
		add(1, i);
	for (int i = 0; i < 5; i++)
		pop();
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 5; i < N; i++) {
			size_t left;
			struct entry *e =
				queue_walk(&queue, &p, &left, &spares);

			if (!e) {
				e = queue_walk(&queue, &p, &left, &spares);
				ck_assert_uint_eq(i % BLOCK_ENTRIES, 0);
			}
			ck_assert_uint_eq(e->ticket, i);
			ck_assert_uint_eq(left,
					  i < 3 * BLOCK_ENTRIES
						  ? BLOCK_ENTRIES -
							    i % BLOCK_ENTRIES
						  : N - i);
			ck_assert(!queue_at_back(&queue, &p));
			p.in_block++;
		}
		ck_assert(queue_at_back(&queue, &p));
		ck_assert_uint_eq(walk(&p, 1, none), 0);
		ck_assert(queue_at_back(&queue, &p));
	}
	ck_assert_uint_eq(queue_size(&queue), N - 5);
	end();
}
END_TEST

/* Whatever has become of the queue since. */
START_TEST(walks_from_any_place)
{
	begin();
	for (uint32_t row = UINT32_MAX - 20; row != 20; row++) {
		struct queue_position p = {row, row % (2 * BLOCK_ENTRIES)};

		if (row % 8 == 0)
			add_blocks(1, 1);
		ck_assert_uint_ge(walk(&p, 30 * BLOCK_ENTRIES, none),
				  queue_size(&queue));
	}
	end();
}
END_TEST

/* The others stay in order, and take no more blocks than they need. */
START_TEST(holes_are_closed)
{
	enum { N = 40 * BLOCK_ENTRIES };
	struct queue_position p = {0};

	begin();
	for (uint32_t i = 0; i < N; i++)
		add(1 + i % 7, i);
	walk(&p, N + 41, even);
	ck_assert_uint_eq(queue_size(&queue), N / 2);
	ck_assert_uint_le(queue.blocks, 40 * 2 / 3 + 2);
	for (uint32_t i = 1; i < N; i += 2) {
		ck_assert_uint_eq(queue_front(&queue)->ticket, i);
		pop();
		if (i % 100 == 1)
			queue_check(&queue);
	}
	ck_assert_uint_eq(queue_size(&queue), 0);
	end();
}
END_TEST

/* A few that live must not hold a page each. */
START_TEST(few_are_left_of_many)
{
	enum { N = 1000 * BLOCK_ENTRIES };
	struct queue_position p = {0};

	begin();
	for (uint32_t i = 0; i < N; i++)
		add(1, i);
	/* Holes; they are closed; what is left is joined. */
	walk(&p, N + 1000, all_but_hundredth);
	walk(&p, N, none);
	ck_assert_uint_le(queue_size(&queue), N / 100 + BLOCK_ENTRIES);
	ck_assert_uint_le(queue.blocks, N / 100 / BLOCK_ENTRIES * 2 + 2);
	ck_assert_uint_le(queue_span(&queue), 2 * queue.blocks * BLOCK_ENTRIES);
	end();
}
END_TEST

/* The last block keeps its own until it is not the last. */
START_TEST(a_hole_is_all_that_is_left)
{
	struct queue_position p = {0};

	begin();
	add_blocks(5, 1);
	add(1, 1);
	walk(&p, 6 * BLOCK_ENTRIES, all);
	ck_assert_uint_le(queue.blocks, 2);
	walk(&p, 6 * BLOCK_ENTRIES, all);
	ck_assert_uint_eq(queue_size(&queue), 0);
	ck_assert_ptr_null(queue_front(&queue));
	add(2, 7);
	ck_assert_uint_eq(queue_front(&queue)->ticket, 7);
	pop();
	ck_assert_uint_eq(queue_size(&queue), 0);
	queue_check(&queue);
	end();
}
END_TEST

/*
 * A visit goes by steps, and between two of them holes are closed: what is due
 * by its time is taken, and what is left behind is known.
 */
START_TEST(the_due_are_found_among_holes)
{
	enum { BLOCKS = 300 };
	struct queue_cursor c = cursor();
	struct queue_position p = {0};
	int64_t least = INT64_MAX;
	size_t taken = 0;
	bool done;

	begin();
	for (uint32_t i = 0; i < BLOCKS; i++) {
		for (uint32_t k = 0; k < BLOCK_ENTRIES; k++)
			add(i % 3 ? 10 : 20 + i, k);
	}
	do {
		struct block *b, *chain = NULL;

		done = take_step(&c, 10, &chain);
		for (; (b = block_pop(&chain)) != NULL; block_free_all(b)) {
			b->next = NULL;
			for (size_t i = 0; i < b->n; i++)
				taken += b->entry[i].deadline == 10 &&
					 b->entry[i].ticket % 100 == 0;
		}
		walk(&p, BLOCKS * BLOCK_ENTRIES / 4, all_but_hundredth);
	} while (!done);
	ck_assert_uint_eq(taken, BLOCKS / 3 * 2 * (BLOCK_ENTRIES / 100 + 1));
	for (size_t i = 0; i < queue_span(&queue); i++) {
		const struct entry *e = queue_at(&queue, i);

		if (e && e->deadline < least)
			least = e->deadline;
	}
	ck_assert_int_gt(least, 10);
	ck_assert_int_le(queue.nearest, least);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		walks_round,
		walks_from_any_place,
		holes_are_closed,
		few_are_left_of_many,
		a_hole_is_all_that_is_left,
		the_due_are_found_among_holes,
	};

	return RUN_TESTS("walk", tests);
}
