/* SPDX-License-Identifier: MIT */
/*
 * A queue of entries: what comes in, what goes at the front, and its rows.
 */
#include "blocks.h"
#include "config.h"

#include "bare_queue.h"

START_TEST(empty)
{
	begin();
	ck_assert(!queue_has_room(&queue, 1));
	ck_assert(!queue_extend(&queue, &spares));
	ck_assert_ptr_null(queue_front(&queue));
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

START_TEST(tells_what_lies_together)
{
	enum { N = BLOCK_ENTRIES + 5 };
	size_t n;

	begin();
	for (uint32_t i = 0; i < N; i++)
		add(i, i);
	ck_assert_uint_eq(queue_front_run(&queue, &n)[8].ticket, 8);
	ck_assert_uint_eq(n, BLOCK_ENTRIES);
	for (size_t i = 0; i < BLOCK_ENTRIES; i++)
		pop();
	ck_assert_uint_eq(queue_front_run(&queue, &n)[3].ticket,
			  BLOCK_ENTRIES + 3);
	ck_assert_uint_eq(n, 5);
	queue_drop(&queue, 5, &spares);
	queue_front_run(&queue, &n);
	ck_assert_uint_eq(n, 0);
	queue_check(&queue);
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

/* Without a block there is no room, and nothing changes. */
START_TEST(extends_only_with_a_block)
{
	begin();
	ck_assert(!queue_extend(&queue, &spares));
	ck_assert(!make_rows());
	add(1, 1);
	end();
}
END_TEST

/* Two threads may have brought rows. */
START_TEST(rows_that_are_not_wanted_come_back)
{
	struct rows rows, same;

	ck_assert(rows_alloc(&rows, ROWS_MAPPED));
	same = rows;
	begin();
	queue_give_rows(&queue, &same);
	ck_assert_ptr_eq(same.row, rows.row);
	add_blocks(ROWS_OWN - 1, 1);
	ck_assert(make_rows());
	queue_give_rows(&queue, &same);
	ck_assert_ptr_eq(same.row, rows.row);
	ck_assert_uint_eq(queue.size, ROWS_MAPPED);
	rows_free(rows);
	end();
}
END_TEST

START_TEST(rows_are_wanted_when_few_are_left)
{
	begin();
	add_blocks(ROWS_OWN - 2, 1);
	ck_assert_uint_eq(queue_wants_rows(&queue), ROWS_OWN);
	add_blocks(1, 1);
	ck_assert_uint_eq(queue_wants_rows(&queue), ROWS_MAPPED);
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
	add_blocks(ROWS_MAPPED, 1);
	ck_assert_uint_eq(queue.size, 2 * ROWS_MAPPED);
	end();
}
END_TEST

/* From all places where the ring may begin, and where its count wraps. */
START_TEST(rows_grow)
{
	enum { N = ROWS_MAPPED * 3 / 2, PLACES = 16 };

	for (uint32_t k = 0; k < PLACES; k++) {
		uint32_t at = UINT32_MAX - N + k * (N / PLACES + 1);
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
		ck_assert_uint_gt(queue.size, ROWS_MAPPED);
		queue_check(&queue);
		for (; out < in; out++) {
			ck_assert_uint_eq(queue_front(&queue)->ticket, out);
			pop();
		}
		end();
	}
}
END_TEST

/* With twice as many blocks: gaps are closed before. */
START_TEST(rows_grow_no_further_than_the_blocks)
{
	enum { N = ROWS_MAPPED / 2 };

	begin();
	for (int i = 0; i < 10 * N; i++) {
		add_blocks(1, 10 * N);
		add_blocks(1, i);
		ck_assert_uint_eq(take_all(i), 1);
		if (i >= N) {
			for (size_t k = 0; k < BLOCK_ENTRIES; k++)
				pop();
		}
		ck_assert_uint_le(queue.size, ROWS_MAPPED);
	}
	ck_assert_uint_eq(queue_size(&queue), N * BLOCK_ENTRIES);
	end();
}
END_TEST

/* Wherever the ring begins, and with gaps; in steps, or at once. */
START_TEST(rows_go_when_the_blocks_do)
{
	enum { N = 16 * ROWS_MAPPED };

	for (uint32_t at = 0; at < N; at += 307) {
		begin_at(UINT32_MAX - at);
		for (uint32_t i = 0; i < N; i++)
			add_blocks(1, i % 2 == 0 ? 100 : 50);
		ck_assert_uint_eq(queue.size, 2 * N);
		take_all(50);
		while (queue.blocks > ROWS_OWN / 2) {
			for (size_t i = 0; i < BLOCK_ENTRIES; i++)
				pop();
			if (at % 2 == 0 && make_rows())
				queue_check(&queue);
			must(queue.blocks < queue.size);
		}
		make_rows();
		ck_assert_uint_eq(queue.size, ROWS_OWN);
		ck_assert_uint_eq(queue_size(&queue),
				  queue.blocks * BLOCK_ENTRIES);
		end();
	}
}
END_TEST

/* A reserve's stay. */
START_TEST(rows_stay_that_are_the_least)
{
	begin();
	queue.least = 2 * ROWS_MAPPED;
	ck_assert(make_rows());
	ck_assert_uint_eq(queue.size, 2 * ROWS_MAPPED);
	add_blocks(8 * ROWS_MAPPED, 1);
	ck_assert_uint_gt(queue.size, 8 * ROWS_MAPPED);
	take_all(1);
	ck_assert(make_rows());
	ck_assert_uint_eq(queue.size, 2 * ROWS_MAPPED);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		empty,
		first_in_first_out,
		one_at_a_time_needs_one_block,
		tells_what_lies_together,
		tells_what_is_earlier_than_all,
		never_is_not_earlier,
		extends_only_with_a_block,
		rows_that_are_not_wanted_come_back,
		rows_are_wanted_when_few_are_left,
		rows_grow,
		rows_grow_no_further_than_the_blocks,
		rows_go_when_the_blocks_do,
		rows_stay_that_are_the_least,
	};

	return RUN_TESTS("queue", tests);
}
