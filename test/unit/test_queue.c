/* SPDX-License-Identifier: MIT */
#include "blocks.h"
#include "checks/queue.h"
#include "contents.h"
#include "harness.h"
#include "intake/queue.h"
#include "must.h"

/* As in queue.c. */
enum { MIN_ROWS = 8, STEP_ROWS = QUEUE_STEP_ROWS, STEP_BLOCKS = QUEUE_STEP };

static struct queue queue;
static struct block *spares;

/* What has no room counts rows from here on. */
static void begin_at(uint32_t row)
{
	queue_init(&queue);
	queue.head = queue.tail = row;
	spares = NULL;
	queue_check(&queue);
}

static void begin(void)
{
	begin_at(0);
}

static void end(void)
{
	queue_check(&queue);
	queue_destroy(&queue);
	block_free_all(spares);
}

/* True: it has more rows now. */
static bool make_rows(void)
{
	uint32_t n = queue_wants_rows(&queue);
	struct row *rows;

	if (n == 0)
		return false;
	rows = malloc(n * sizeof(*rows));
	free(queue_give_rows(&queue, rows, n));
	return true;
}

static void make_room(void)
{
	if (queue_has_room(&queue, 1))
		return;
	make_rows();
	if (!spares)
		block_push(&spares, block_alloc());
	must(queue_extend(&queue, &spares));
	must(queue_has_room(&queue, BLOCK_ENTRIES));
}

/* Returns as queue_push. */
static bool add(int64_t deadline, uint32_t ticket)
{
	make_room();
	return queue_push(&queue, (struct entry){deadline, ticket, 1});
}

/* So many that are all due then; the last block is full after that. */
static void add_blocks(size_t n, int64_t deadline)
{
	for (size_t i = 0; i < n * BLOCK_ENTRIES; i++)
		add(deadline, 0);
}

static void pop(void)
{
	queue_pop(&queue, &spares);
}

static struct queue_cursor cursor(void)
{
	struct queue_cursor c;

	queue_cursor_begin(&c);
	queue_cursor_step(&c);
	return c;
}

static int64_t earliest_of(const struct block *b)
{
	int64_t earliest = INT64_MAX;

	for (size_t i = 0; i < b->n; i++) {
		if (b->entry[i].deadline < earliest)
			earliest = b->entry[i].deadline;
	}
	return earliest;
}

/* A block that was taken, by the n and the nearest that it has. */
static void check_taken(struct row r, int64_t by)
{
	ck_assert_ptr_nonnull(r.block);
	ck_assert_uint_gt(r.block->n, 0);
	ck_assert_uint_le(r.block->n, BLOCK_ENTRIES);
	ck_assert_int_le(r.nearest, by);
	ck_assert_int_le(r.nearest, earliest_of(r.block));
}

/* One step, as queue_take; its blocks go before *chain. */
static bool take_step(struct queue_cursor *c, int64_t by, struct block **chain)
{
	bool done;

	queue_cursor_step(c);
	done = queue_take(&queue, c, by);
	ck_assert_uint_le(c->taken, STEP_BLOCKS);
	ck_assert_uint_le(c->looked, STEP_ROWS);
	for (uint32_t i = 0; i < c->taken; i++) {
		check_taken(c->row[i], by);
		block_push(chain, c->row[i].block);
	}
	queue_check(&queue);
	return done;
}

/* All steps; returns how many, and the blocks before *chain. */
static int take_to(int64_t by, struct block **chain)
{
	struct queue_cursor c = cursor();
	int steps = 1;

	while (!take_step(&c, by, chain))
		steps++;
	ck_assert_int_gt(queue.nearest, by);
	return steps;
}

/* The same, and frees the blocks.  Returns how many they were. */
static size_t take(int64_t by, int *ret_steps)
{
	struct block *chain = NULL;
	size_t n;

	*ret_steps = take_to(by, &chain);
	n = count_blocks(chain);
	block_free_all(chain);
	return n;
}

static size_t take_all(int64_t by)
{
	int steps;

	return take(by, &steps);
}

START_TEST(empty)
{
	begin();
	ck_assert(!queue_has_room(&queue, 1));
	ck_assert(!queue_extend(&queue, &spares));
	ck_assert_ptr_null(queue_front(&queue));
	ck_assert_ptr_null(queue_ahead(&queue, 0, 1));
	ck_assert_uint_eq(queue_size(&queue), 0);
	ck_assert_uint_eq(take_all(0), 0);
	ck_assert_int_eq(queue.nearest, INT64_MAX);
	end();
}
END_TEST

START_TEST(first_in_first_out)
{
	enum { N = 3 * BLOCK_ENTRIES + 7 };

	begin();
	for (uint32_t i = 0; i < N; i++)
		add(i, i);
	queue_check(&queue);
	for (uint32_t i = 0; i < N; i++) {
		ck_assert_uint_eq(queue_size(&queue), N - i);
		ck_assert_uint_eq(queue_front(&queue)->ticket, i);
		pop();
		queue_check(&queue);
	}
	ck_assert_ptr_null(queue_front(&queue));
	ck_assert_uint_eq(count_blocks(spares), 3);
	end();
}
END_TEST

/* A queue that runs empty time and again stays in one place. */
START_TEST(one_at_a_time_needs_one_block)
{
	begin();
	for (uint32_t i = 0; i < 3 * BLOCK_ENTRIES; i++) {
		add(i, i);
		pop();
		queue_check(&queue);
		ck_assert_uint_eq(queue_size(&queue), 0);
		ck_assert_uint_eq(queue.blocks, 1);
	}
	ck_assert_ptr_null(spares);
	end();
}
END_TEST

START_TEST(looks_ahead_in_the_block)
{
	enum { N = BLOCK_ENTRIES + 5 };

	begin();
	for (uint32_t i = 0; i < N; i++)
		add(i, i);
	ck_assert_uint_eq(queue_ahead(&queue, 8, 2)->ticket, 8);
	ck_assert_ptr_nonnull(queue_ahead(&queue, BLOCK_ENTRIES - 2, 2));
	ck_assert_ptr_null(queue_ahead(&queue, BLOCK_ENTRIES - 1, 2));
	for (size_t i = 0; i < BLOCK_ENTRIES; i++)
		pop();
	ck_assert_uint_eq(queue_ahead(&queue, 3, 2)->ticket, BLOCK_ENTRIES + 3);
	ck_assert_ptr_null(queue_ahead(&queue, 4, 2));
	end();
}
END_TEST

START_TEST(tells_what_is_earlier_than_all)
{
	begin();
	ck_assert(add(50, 0));
	ck_assert(!add(50, 0));
	ck_assert(!add(60, 0));
	ck_assert(add(40, 0));
	add_blocks(2, 70);
	/* Earlier than all of its block only. */
	ck_assert(!add(45, 0));
	ck_assert(add(39, 0));
	ck_assert_int_eq(queue.nearest, 39);
	end();
}
END_TEST

/* One that is never due is not earlier than none. */
START_TEST(never_is_not_earlier)
{
	begin();
	ck_assert(!add(INT64_MAX, 0));
	ck_assert_int_eq(queue.nearest, INT64_MAX);
	end();
}
END_TEST

/* Without a block or a row there is no room, and nothing changes. */
START_TEST(extends_only_with_a_block_and_a_row)
{
	begin();
	block_push(&spares, block_alloc());
	ck_assert_uint_eq(queue_wants_rows(&queue), MIN_ROWS);
	ck_assert(!queue_extend(&queue, &spares));
	ck_assert_ptr_nonnull(spares);
	ck_assert(make_rows());
	ck_assert_uint_eq(queue_wants_rows(&queue), 0);
	block_free_all(spares);
	spares = NULL;
	ck_assert(!queue_extend(&queue, &spares));
	ck_assert(!make_rows());
	add(1, 1);
	end();
}
END_TEST

/* Two threads may have brought rows. */
START_TEST(rows_that_are_not_wanted_come_back)
{
	struct row *rows = malloc(4 * MIN_ROWS * sizeof(*rows));

	begin();
	ck_assert(make_rows());
	ck_assert_ptr_eq(queue_give_rows(&queue, rows, MIN_ROWS), rows);
	ck_assert_ptr_eq(queue_give_rows(&queue, rows, 2 * MIN_ROWS), rows);
	add_blocks(MIN_ROWS - 1, 1);
	ck_assert_uint_eq(queue_wants_rows(&queue), 2 * MIN_ROWS);
	ck_assert_ptr_eq(queue_give_rows(&queue, rows, MIN_ROWS), rows);
	/* More than it wants will do. */
	free(queue_give_rows(&queue, rows, 4 * MIN_ROWS));
	ck_assert_uint_eq(queue_wants_rows(&queue), 0);
	add_blocks(4 * MIN_ROWS - 1, 1);
	end();
}
END_TEST

START_TEST(rows_are_wanted_when_few_are_left)
{
	begin();
	ck_assert_uint_eq(queue_wants_rows(&queue), MIN_ROWS);
	add_blocks(MIN_ROWS - 2, 1);
	ck_assert_uint_eq(queue_wants_rows(&queue), 0);
	add_blocks(1, 1);
	ck_assert_uint_eq(queue_wants_rows(&queue), 2 * MIN_ROWS);
	block_push(&spares, block_alloc());
	block_push(&spares, block_alloc());
	ck_assert(queue_extend(&queue, &spares));
	for (size_t i = 0; i < BLOCK_ENTRIES; i++)
		queue_push(&queue, (struct entry){1, 0, 1});
	ck_assert(!queue_extend(&queue, &spares));
	ck_assert(make_rows());
	ck_assert(queue_extend(&queue, &spares));
	queue_push(&queue, (struct entry){1, 0, 1});
	queue_check(&queue);
	end();
}
END_TEST

/* From all places where the ring may begin, and where its count wraps. */
START_TEST(rows_grow)
{
	enum { N = 20 };

	for (uint32_t at = UINT32_MAX - 30; at != 10; at++) {
		uint32_t in = 0, out = 0;

		begin_at(at);
		for (int i = 0; i < N; i++) {
			for (size_t j = 0; j < BLOCK_ENTRIES; j++, in++)
				add(in, in);
			/* So that the head goes round. */
			for (size_t j = 0; i % 3 == 0 && j < BLOCK_ENTRIES; j++)
				pop();
			out += i % 3 == 0 ? BLOCK_ENTRIES : 0;
		}
		ck_assert_uint_gt(queue.size, MIN_ROWS);
		queue_check(&queue);
		for (; out < in; out++) {
			ck_assert_uint_eq(queue_front(&queue)->ticket, out);
			pop();
		}
		end();
	}
}
END_TEST

/* Only with twice as many blocks: gaps are closed before. */
START_TEST(rows_grow_no_further_than_the_blocks)
{
	begin();
	for (int i = 0; i < 200; i++) {
		add_blocks(1, 1000);
		add_blocks(1, i);
		ck_assert_uint_eq(take_all(i), 1);
		if (i >= MIN_ROWS) {
			for (size_t k = 0; k < BLOCK_ENTRIES; k++)
				pop();
		}
		ck_assert_uint_le(queue.size, 2 * MIN_ROWS);
	}
	ck_assert_uint_eq(queue_size(&queue), MIN_ROWS * BLOCK_ENTRIES);
	end();
}
END_TEST

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
	c.row[0] = (struct row){7, other, 0};
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
	queue_cursor_step(&c);
	c.looked = STEP_ROWS;
	ck_assert(!queue_take(&queue, &c, 1));
	ck_assert_uint_eq(queue_size(&queue), 1);
	ck_assert_int_eq(queue.nearest, 1);
	queue_cursor_step(&c);
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

/*
 * Walks and holes.
 */

/* So many entries, and ends of blocks; makes holes of those that match. */
static size_t walk(struct queue_position *p, size_t n, bool (*match)(uint32_t))
{
	size_t seen = 0;

	for (size_t i = 0; i < n; i++) {
		size_t left;
		struct entry *e = queue_walk(&queue, p, &left, &spares);

		if (!e)
			continue;
		p->in_block++;
		seen++;
		if (match(e->ticket))
			e->index = 0;
	}
	queue_check(&queue);
	return seen;
}

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

static bool all_but_hundredth(uint32_t ticket)
{
	return ticket % 100 != 0;
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

/*
 * A model: tickets count up, and each is in the queue or not.  Those in it
 * leave at the front in that order.  A ck_assert for each would take longer
 * than all the rest.
 */
enum { TICKETS = 500000 };
static struct {
	int64_t deadline;
	bool in;
} model[TICKETS];
static uint32_t next_ticket, first_ticket;
static size_t in_model;

static void model_begin(void)
{
	next_ticket = first_ticket = 0;
	in_model = 0;
}

static void model_push(int64_t deadline)
{
	bool least = deadline < queue.nearest;

	model[next_ticket].deadline = deadline;
	model[next_ticket].in = true;
	must(add(deadline, next_ticket) == least);
	next_ticket++;
	in_model++;
}

static void model_remove(uint32_t ticket)
{
	must(model[ticket].in);
	model[ticket].in = false;
	in_model--;
	while (first_ticket < next_ticket && !model[first_ticket].in)
		first_ticket++;
}

static void model_pop(void)
{
	const struct entry *e;

	while ((e = queue_front(&queue)) && entry_is_hole(e))
		pop();
	must(!e == !in_model);
	if (!e)
		return;
	must(e->ticket == first_ticket);
	must(e->deadline == model[first_ticket].deadline);
	model_remove(first_ticket);
	pop();
}

static bool model_take(struct queue_cursor *c, int64_t by)
{
	struct block *b, *chain = NULL;
	bool done = take_step(c, by, &chain);

	while ((b = block_pop(&chain)) != NULL) {
		for (size_t i = 0; i < b->n; i++) {
			if (!entry_is_hole(&b->entry[i]))
				model_remove(b->entry[i].ticket);
		}
		block_push(&spares, b);
	}
	return done;
}

/* The visit is over: nothing that is due is left. */
static void model_check_taken(int64_t by)
{
	int64_t least = INT64_MAX;

	for (uint32_t i = first_ticket; i < next_ticket; i++) {
		if (model[i].in && model[i].deadline < least)
			least = model[i].deadline;
	}
	ck_assert_int_gt(least, by);
	ck_assert_int_gt(queue.nearest, by);
	ck_assert_int_le(queue.nearest, least);
}

static void random_pushes(uint64_t *rng, int64_t now)
{
	uint64_t spread = random_below(rng, 5) ? 40 : 4000;
	uint64_t n = random_below(rng, 10 * BLOCK_ENTRIES);

	for (; n > 0 && next_ticket < TICKETS; n--)
		model_push(now + 1 + (int64_t)random_below(rng, spread));
}

static void random_pops(uint64_t *rng)
{
	for (uint64_t n = random_below(rng, 6 * BLOCK_ENTRIES); n > 0; n--)
		model_pop();
}

/* Somewhere else, or a little behind the queue. */
static void random_jump(uint64_t *rng, struct queue_position *p)
{
	uint32_t rows = queue.tail - queue.head;

	queue_leave(&queue, p, &spares);
	p->row = queue.head + (uint32_t)random_below(rng, rows + 3);
	p->in_block = (uint32_t)random_below(rng, BLOCK_ENTRIES + 1);
}

/* Makes holes, few or many, in some of the queue or all. */
static void random_walk(uint64_t *rng, struct queue_position *p)
{
	uint64_t percent = random_below(rng, 101);

	if (random_below(rng, 4) == 0)
		random_jump(rng, p);
	for (uint64_t n = random_below(rng, 20 * BLOCK_ENTRIES); n > 0; n--) {
		size_t left;
		struct entry *e = queue_walk(&queue, p, &left, &spares);

		must(!e == !left);
		if (!e)
			continue;
		p->in_block++;
		if (entry_is_hole(e) || random_below(rng, 100) >= percent)
			continue;
		model_remove(e->ticket);
		e->index = 0;
	}
}

static size_t count_holes(void)
{
	size_t n = 0;

	for (size_t i = 0; i < queue_span(&queue); i++) {
		const struct entry *e = queue_at(&queue, i);

		n += e && entry_is_hole(e);
	}
	return n;
}

/* Returns how many steps did not end a visit. */
static int random_steps_from(uint32_t at, uint64_t *rng)
{
	struct queue_cursor c = cursor();
	struct queue_position position[2] = {{0}};
	bool visiting = false;
	int between = 0;
	int64_t now = 0;

	begin_at(at);
	model_begin();
	for (int step = 0; step < 500; step++) {
		uint64_t dice = random_below(rng, 100);

		if (dice < 50) {
			random_pushes(rng, now);
		} else if (dice < (visiting ? 60 : 80)) {
			random_pops(rng);
		} else if (dice < (visiting ? 70 : 95)) {
			random_walk(rng, &position[random_below(rng, 2)]);
		} else {
			now += visiting ? 0 : 20;
			visiting = !model_take(&c, now);
			between += visiting;
			if (!visiting) {
				model_check_taken(now);
				c = cursor();
			}
		}
		queue_check(&queue);
		ck_assert_uint_eq(queue_size(&queue) - count_holes(), in_model);
	}
	end();
	return between;
}

START_TEST(random_steps)
{
	uint64_t rng = test_seed();
	int between = 0;

	for (int i = 0; i < 10; i++)
		between += random_steps_from(i % 2 ? UINT32_MAX - 40 : 0, &rng);
	ck_assert_int_ge(between, 10);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		empty,
		first_in_first_out,
		one_at_a_time_needs_one_block,
		looks_ahead_in_the_block,
		tells_what_is_earlier_than_all,
		never_is_not_earlier,
		extends_only_with_a_block_and_a_row,
		rows_that_are_not_wanted_come_back,
		rows_are_wanted_when_few_are_left,
		rows_grow,
		rows_grow_no_further_than_the_blocks,
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
		walks_round,
		walks_from_any_place,
		holes_are_closed,
		few_are_left_of_many,
		a_hole_is_all_that_is_left,
		the_due_are_found_among_holes,
		random_steps,
	};

	return RUN_TESTS("queue", tests);
}
