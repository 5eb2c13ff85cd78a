/* SPDX-License-Identifier: MIT */
/*
 * A queue by itself, and what a visit takes from it.
 */
#pragma once

#include "blocks.h"
#include "checks/queue.h"
#include "contents.h"
#include "harness.h"
#include "must.h"
#include "store/queue.h"

enum { STEP_ROWS = QUEUE_STEP_ROWS, STEP_BLOCKS = QUEUE_STEP };

static struct queue queue;
static struct block *spares;

/* What has no room counts rows from here on. */
static inline void begin_at(uint32_t row)
{
	queue_init(&queue);
	queue.head = queue.tail = row;
	spares = NULL;
	queue_check(&queue);
}

static inline void begin(void)
{
	begin_at(0);
}

static inline void end(void)
{
	queue_check(&queue);
	queue_destroy(&queue);
	block_free_all(spares);
}

/* As many rows as it wants.  True: it has others now. */
static inline bool make_rows(void)
{
	struct rows rows;
	uint32_t size = queue.size;

	must(rows_alloc(&rows, queue_wants_rows(&queue)));
	queue_give_rows(&queue, &rows);
	rows_free(rows);
	return queue.size != size;
}

static inline void make_room(void)
{
	if (queue_has_room(&queue, 1))
		return;
	if (queue_wants_rows(&queue) > queue.size)
		make_rows();
	if (!spares)
		block_push(&spares, block_alloc());
	must(queue_extend(&queue, &spares));
	must(queue_has_room(&queue, BLOCK_ENTRIES));
}

/* Returns as queue_push. */
static inline bool add(int64_t deadline, uint32_t ticket)
{
	make_room();
	return queue_push(&queue, (struct entry){deadline, ticket, 1});
}

/* So many that are all due then; the last block is full after that. */
static inline void add_blocks(size_t n, int64_t deadline)
{
	for (size_t i = 0; i < n * BLOCK_ENTRIES; i++)
		add(deadline, 0);
}

static inline void pop(void)
{
	queue_drop(&queue, 1, &spares);
}

static inline struct queue_cursor cursor(void)
{
	struct queue_cursor c;

	queue_cursor_begin(&c);
	c.looked = c.taken = 0;
	return c;
}

static inline int64_t earliest_of(const struct block *b)
{
	int64_t earliest = INT64_MAX;

	for (size_t i = 0; i < b->n; i++) {
		if (b->entry[i].deadline < earliest)
			earliest = b->entry[i].deadline;
	}
	return earliest;
}

/* A block that was taken, by the n and the nearest that it has. */
static inline void check_taken(struct row r, int64_t by)
{
	ck_assert_ptr_nonnull(r.block);
	ck_assert_uint_gt(r.block->n, 0);
	ck_assert_uint_le(r.block->n, BLOCK_ENTRIES);
	ck_assert_int_le(r.nearest, by);
	ck_assert_int_le(r.nearest, earliest_of(r.block));
}

/* One step, as queue_take; its blocks go before *chain. */
static inline bool take_step(struct queue_cursor *c, int64_t by,
			     struct block **chain)
{
	bool done;

	c->looked = c->taken = 0;
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
static inline int take_to(int64_t by, struct block **chain)
{
	struct queue_cursor c = cursor();
	int steps = 1;

	while (!take_step(&c, by, chain))
		steps++;
	ck_assert_int_gt(queue.nearest, by);
	return steps;
}

/* The same, and frees the blocks.  Returns how many they were. */
static inline size_t take(int64_t by, int *ret_steps)
{
	struct block *chain = NULL;
	size_t n;

	*ret_steps = take_to(by, &chain);
	n = count_blocks(chain);
	block_free_all(chain);
	return n;
}

static inline size_t take_all(int64_t by)
{
	int steps;

	return take(by, &steps);
}
