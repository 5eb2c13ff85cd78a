/* SPDX-License-Identifier: MIT */
/*
 * Taking from a queue what is due: what is handed out, and the steps in which
 * that goes, with changes in between.
 */
#include "blocks.h"
#include "config.h"

#include "bare_queue.h"

START_TEST(take_hands_out_all)
{
	enum { N = 2 * BLOCK_ENTRIES + 5, GONE = 9 };
	uint32_t expected = N;
	struct block *taken = NULL;

	begin();
	for (uint32_t i = 0; i < N; i++)
		add(i, i);
	for (int i = 0; i < GONE; i++)
		pop();
	ck_assert_int_eq(take_to(N, &taken), 1);
	ck_assert_uint_eq(queue_size(&queue), 0);
	ck_assert_int_eq(queue.nearest, INT64_MAX);
	ck_assert_ptr_null(queue_front(&queue));
	/* The last one first; in a block the first one first. */
	for (struct block *b = taken; b; b = b->next) {
		expected -= (uint32_t)b->n;
		for (uint32_t i = 0; i < b->n; i++)
			ck_assert_uint_eq(b->entry[i].ticket, expected + i);
	}
	ck_assert_uint_eq(expected, GONE);
	block_free_all(taken);
	ck_assert(add(1, 1));
	queue_check(&queue);
	ck_assert_uint_eq(queue_front(&queue)->ticket, 1);
	end();
}
END_TEST

/* A step may go on from one queue to the next one. */
START_TEST(take_adds_to_the_rows)
{
	struct block *other = block_alloc();
	struct queue_cursor c = cursor();

	begin();
	other->next = NULL;
	c.row[0] = (struct row){7, other, 0, 0};
	c.taken = 1;
	add(1, 1);
	ck_assert(queue_take(&queue, &c, 1));
	ck_assert_uint_eq(c.taken, 2);
	ck_assert_ptr_eq(c.row[0].block, other);
	check_taken(c.row[1], 1);
	block_free_all(other);
	block_free_all(c.row[1].block);
	end();
}
END_TEST

/* So it may find no room, or no look left, and then takes nothing. */
START_TEST(take_without_room)
{
	struct queue_cursor c = cursor();

	begin();
	add(1, 1);
	c.taken = QUEUE_STEP;
	ck_assert(!queue_take(&queue, &c, 1));
	c.looked = c.taken = 0;
	c.looked = STEP_ROWS;
	ck_assert(!queue_take(&queue, &c, 1));
	ck_assert_uint_eq(queue_size(&queue), 1);
	ck_assert_int_eq(queue.nearest, 1);
	c.looked = c.taken = 0;
	ck_assert(queue_take(&queue, &c, 1));
	ck_assert_uint_eq(c.taken, 1);
	block_free_all(c.row[0].block);
	end();
}
END_TEST

/* Each block's nearest is that of its own entries, and no lower. */
START_TEST(nearest_is_that_of_the_block)
{
	enum { BLOCKS = 4 };
	uint64_t rng = test_seed();
	struct queue_cursor c = cursor();

	begin();
	for (int i = 0; i < BLOCKS; i++) {
		for (size_t j = 0; j < BLOCK_ENTRIES; j++)
			add(1000 * (i % 3 + 1) +
				    (int64_t)random_below(&rng, 999),
			    0);
	}
	ck_assert(queue_take(&queue, &c, 99999));
	ck_assert_uint_eq(c.taken, BLOCKS);
	for (int i = 0; i < BLOCKS; i++) {
		ck_assert_int_eq(c.row[i].nearest, earliest_of(c.row[i].block));
		block_free_all(c.row[i].block);
	}
	end();
}
END_TEST

/* The blocks that stay are in order, and what is left is known. */
START_TEST(take_leaves_what_is_later)
{
	enum { BLOCKS = 9 };

	begin();
	for (uint32_t i = 0; i < BLOCKS; i++) {
		for (size_t j = 0; j < BLOCK_ENTRIES; j++)
			add(i % 3 == 1 ? 100 : 1000 + i, i);
	}
	ck_assert_uint_eq(take_all(99), 0);
	ck_assert_int_eq(queue.nearest, 100);
	ck_assert_uint_eq(take_all(100), 3);
	ck_assert_int_eq(queue.nearest, 1000);
	ck_assert_uint_eq(queue_size(&queue), 6 * BLOCK_ENTRIES);
	for (uint32_t i = 0; i < BLOCKS; i++) {
		for (size_t j = 0; i % 3 != 1 && j < BLOCK_ENTRIES; j++) {
			ck_assert_uint_eq(queue_front(&queue)->ticket, i);
			pop();
		}
	}
	ck_assert_uint_eq(queue_size(&queue), 0);
	end();
}
END_TEST

/* So many blocks of which those with a bit are due; pops some, adds some. */
static void use_ends(unsigned blocks, unsigned due, unsigned gone, unsigned in)
{
	uint32_t left = 0, last = UINT32_MAX;

	begin();
	for (uint32_t i = 0; i < blocks * BLOCK_ENTRIES - 3; i++) {
		bool is_due = due >> i / BLOCK_ENTRIES & 1;

		add(is_due ? 5 : 10, i);
		left += i >= gone && !is_due;
	}
	for (unsigned i = 0; i < gone; i++)
		pop();
	take_all(5);
	ck_assert_uint_eq(queue_size(&queue), left);
	for (unsigned i = 0; i < in; i++)
		add(7, 1000000 + i);
	queue_check(&queue);
	ck_assert_uint_eq(queue_size(&queue), left + in);
	for (; left + in > 0; left--) {
		uint32_t ticket = queue_front(&queue)->ticket;

		ck_assert(last == UINT32_MAX || ticket > last);
		ck_assert(ticket >= 1000000 ||
			  !(due >> ticket / BLOCK_ENTRIES & 1));
		last = ticket;
		pop();
		queue_check(&queue);
	}
	end();
}

/* Any of the first, the last and those between, with the ends partly used. */
START_TEST(take_at_the_ends)
{
	for (unsigned blocks = 1; blocks <= 4; blocks++) {
		for (unsigned due = 0; due < 1u << blocks; due++) {
			use_ends(blocks, due, 0, 0);
			use_ends(blocks, due, 17, 0);
			use_ends(blocks, due, 17, 1);
			use_ends(blocks, due, BLOCK_ENTRIES - 4, BLOCK_ENTRIES);
		}
	}
}
END_TEST

/* What has been popped does not count any more, once the queue is empty. */
START_TEST(take_of_an_emptied_queue)
{
	struct queue_cursor c = cursor();
	struct block *chain = NULL;

	begin();
	add(5, 1);
	pop();
	ck_assert(take_step(&c, 100, &chain));
	ck_assert_ptr_null(chain);
	ck_assert_int_eq(queue.nearest, INT64_MAX);
	ck_assert(add(50, 2));
	end();
}
END_TEST

/* Whatever the time, no block is handed out with nothing in it. */
START_TEST(take_hands_out_no_empty_block)
{
	struct queue_cursor c = cursor();
	struct block *chain = NULL;

	begin();
	add(5, 1);
	pop();
	ck_assert(take_step(&c, INT64_MAX, &chain));
	block_free_all(chain);
	end();

	begin();
	add_blocks(1, INT64_MAX);
	block_push(&spares, block_alloc());
	ck_assert(queue_extend(&queue, &spares));
	chain = NULL;
	c = cursor();
	ck_assert(take_step(&c, INT64_MAX, &chain));
	ck_assert_ptr_nonnull(chain);
	block_free_all(chain);
	end();
}
END_TEST

/* A step takes so many blocks and no more. */
START_TEST(steps_by_blocks)
{
	static const size_t blocks[] = {
		STEP_BLOCKS - 1, STEP_BLOCKS,         STEP_BLOCKS + 1,
		2 * STEP_BLOCKS, 2 * STEP_BLOCKS + 1,
	};

	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		size_t n = blocks[i];
		int steps;

		begin();
		add_blocks(n, 5);
		ck_assert_uint_eq(take(5, &steps), n);
		ck_assert_int_eq(steps,
				 (int)((n + STEP_BLOCKS - 1) / STEP_BLOCKS));
		ck_assert_uint_eq(queue_size(&queue), 0);
		end();
	}
}
END_TEST

/* It looks at so many rows and no more. */
START_TEST(steps_by_rows)
{
	static const size_t rows[] = {
		STEP_ROWS - 1,
		STEP_ROWS,
		STEP_ROWS + 1,
		2 * STEP_ROWS + 1,
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = rows[i];
		int steps;

		begin();
		add_blocks(n - 1, 50);
		add_blocks(1, 5);
		ck_assert_uint_eq(take(4, &steps), 0);
		ck_assert_int_eq(steps, (int)((n + STEP_ROWS - 1) / STEP_ROWS));
		ck_assert_int_eq(queue.nearest, 5);
		ck_assert_uint_eq(take(5, &steps), 1);
		ck_assert_int_eq(steps, (int)((n + STEP_ROWS - 1) / STEP_ROWS));
		ck_assert_int_eq(queue.nearest, 50);
		end();
	}
}
END_TEST

/* As a caller would that comes between two steps. */
static void pop_blocks(size_t n)
{
	for (size_t i = 0; i < n * BLOCK_ENTRIES && queue_front(&queue); i++)
		pop();
	queue_check(&queue);
}

/* What comes between steps is found by those that follow. */
START_TEST(pushes_between_steps)
{
	struct queue_cursor c = cursor();
	struct block *chain = NULL;

	begin();
	add_blocks(2 * STEP_BLOCKS, 5);
	add_blocks(1, 50);
	ck_assert(!take_step(&c, 5, &chain));
	ck_assert_int_eq(queue.nearest, 5);
	ck_assert(add(1, 7));
	add(60, 8);
	queue_check(&queue);
	ck_assert(!take_step(&c, 5, &chain));
	add_blocks(1, 40);
	ck_assert(take_step(&c, 5, &chain));
	ck_assert_uint_eq(count_blocks(chain), 2 * STEP_BLOCKS + 1);
	ck_assert_int_eq(queue.nearest, 40);
	block_free_all(chain);
	end();
}
END_TEST

/* The cursor is where all is popped, and behind the first. */
START_TEST(pops_between_steps)
{
	for (size_t gone = 1; gone < 12; gone++) {
		struct queue_cursor c = cursor();
		struct block *chain = NULL;
		size_t n;

		begin();
		add_blocks(3, 50);
		add_blocks(STEP_BLOCKS, 5);
		add_blocks(4, 40);
		add_blocks(2, 5);
		ck_assert(!take_step(&c, 5, &chain));
		pop_blocks(gone);
		ck_assert(take_step(&c, 5, &chain));
		/* They are behind the first three and four. */
		n = gone < 8 ? 2 : gone < 9 ? 1 : 0;
		ck_assert_uint_eq(count_blocks(chain), STEP_BLOCKS + n);
		ck_assert_int_gt(queue.nearest, 5);
		ck_assert_uint_eq(queue_size(&queue),
				  gone < 7 ? (7 - gone) * BLOCK_ENTRIES : 0);
		block_free_all(chain);
		end();
	}
}
END_TEST

/* All is popped, and other entries come. */
START_TEST(refilled_between_steps)
{
	struct queue_cursor c = cursor();
	struct block *chain = NULL;

	begin();
	add_blocks(STEP_BLOCKS + 3, 5);
	ck_assert(!take_step(&c, 5, &chain));
	pop_blocks(3);
	ck_assert_uint_eq(queue_size(&queue), 0);
	add_blocks(3, 4);
	add_blocks(3, 40);
	ck_assert(take_step(&c, 5, &chain));
	ck_assert_uint_eq(queue_size(&queue), 3 * BLOCK_ENTRIES);
	ck_assert_int_eq(queue.nearest, 40);
	block_free_all(chain);
	end();
}
END_TEST

/* So much comes and goes that the rows go round, with a step in between. */
static void go_round(uint32_t at)
{
	enum { GONE = 17 };
	struct queue_cursor c = cursor();
	struct block *chain = NULL;

	begin_at(at);
	add_blocks(2 * STEP_BLOCKS, 5);
	ck_assert(!take_step(&c, 5, &chain));
	for (unsigned i = 0; i < 5 * STEP_BLOCKS; i++) {
		add_blocks(1, 5);
		pop_blocks(1);
	}
	for (int i = 0; i < GONE; i++)
		pop();
	while (!take_step(&c, 5, &chain))
		;
	queue_check(&queue);
	ck_assert_uint_eq(queue_size(&queue), 0);
	/* The last one that was taken is the first in the chain. */
	ck_assert_uint_eq(count_blocks(chain), 2 * STEP_BLOCKS);
	for (int i = 1; i < STEP_BLOCKS; i++)
		block_push(&spares, block_pop(&chain));
	ck_assert_uint_eq(chain->n, BLOCK_ENTRIES - GONE);
	block_free_all(chain);
	end();
}

START_TEST(goes_round_between_steps)
{
	go_round(0);
	go_round(UINT32_MAX - 3 * STEP_BLOCKS);
	go_round(UINT32_MAX / 2 - 3 * STEP_BLOCKS);
}
END_TEST

static void fill_ring(void)
{
	while (queue.tail - queue.head < queue.size)
		add_blocks(1, 90);
}

/*
 * Gaps behind the cursor and before it, left by this visit and one before, are
 * closed while it goes on: nothing that is due is passed over.
 */
START_TEST(gaps_are_closed_under_a_cursor)
{
	enum { ROWS = 512, BLOCKS = ROWS / 8 * 7, PART = BLOCKS / 4 };

	for (uint32_t i = 0; i < 20; i++) {
		uint32_t head, at = i * 37 - 500;
		struct queue_cursor c = cursor();
		struct block *chain = NULL;

		begin_at(at);
		for (int k = 0; k < BLOCKS - 1; k++)
			add_blocks(1, k % 4 == 1 ? 5 : k % 4 == 3 ? 10 : 50);
		ck_assert_uint_eq(queue.size, ROWS);
		ck_assert_uint_eq(take_all(5), PART);
		ck_assert(!take_step(&c, 10, &chain));
		fill_ring();
		head = queue.head;
		add_blocks(1, 8);
		ck_assert_uint_gt(queue.head - head, PART);
		ck_assert_uint_eq(queue.size, ROWS);
		queue_check(&queue);
		while (!take_step(&c, 10, &chain))
			;
		ck_assert_uint_eq(count_blocks(chain), PART - 1 + 1);
		ck_assert_int_eq(queue.nearest, 50);
		ck_assert_uint_eq(take_all(50), 2 * PART);
		block_free_all(chain);
		end();
	}
}
END_TEST

START_TEST(rows_grow_under_a_cursor)
{
	enum { BLOCKS = 256 };

	for (uint32_t i = 0; i < 20; i++) {
		struct queue_cursor c = cursor();
		struct block *chain = NULL;

		begin_at(i * 23 - 300);
		add_blocks(1, 50);
		add_blocks(STEP_BLOCKS, 5);
		add_blocks(BLOCKS, 10);
		add_blocks(1, 5);
		ck_assert(!take_step(&c, 5, &chain));
		add_blocks(queue.size, 60);
		queue_check(&queue);
		while (!take_step(&c, 5, &chain))
			;
		ck_assert_uint_eq(count_blocks(chain), STEP_BLOCKS + 1);
		ck_assert_int_eq(queue.nearest, 10);
		block_free_all(chain);
		end();
	}
}
END_TEST

/* However many were taken from between. */
START_TEST(few_gaps_are_left)
{
	for (int64_t kept = 1; kept < 40; kept++) {
		size_t n;

		begin();
		for (int64_t i = 0; i < 40; i++)
			add_blocks(1, i >= 20 && i < 20 + kept ? 50 : 5);
		add_blocks(1, 50);
		n = queue.blocks - take_all(5);
		ck_assert_uint_eq(queue_size(&queue), n * BLOCK_ENTRIES);
		ck_assert_uint_le(queue_span(&queue), 2 * n * BLOCK_ENTRIES);
		end();

		begin();
		add_blocks(1, 50);
		add_blocks((size_t)kept, 5);
		add_blocks(1, 50);
		take_all(5);
		ck_assert_uint_le(queue_span(&queue), 4 * BLOCK_ENTRIES);
		end();
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		take_hands_out_all,
		take_adds_to_the_rows,
		take_without_room,
		nearest_is_that_of_the_block,
		take_leaves_what_is_later,
		take_at_the_ends,
		take_of_an_emptied_queue,
		take_hands_out_no_empty_block,
		steps_by_blocks,
		steps_by_rows,
		pushes_between_steps,
		pops_between_steps,
		refilled_between_steps,
		goes_round_between_steps,
		gaps_are_closed_under_a_cursor,
		rows_grow_under_a_cursor,
		few_gaps_are_left,
	};

	return RUN_TESTS("take", tests);
}
