/* SPDX-License-Identifier: MIT */
/*
 * A bucket without memory: what it refuses, and timers that wait without an
 * entry.
 */
#include "blocks.h"
#include "config.h"

#include "fail_alloc.h"
#include "one_bucket.h"

#include <errno.h>

#ifndef FAIL_ALLOC_UNAVAILABLE

/* There is room for those that one spare block takes, the last ones. */
START_TEST(puts_back_what_it_has_room_for)
{
	enum { N = 3 * BLOCK_ENTRIES };
	unsigned lane;
	size_t n, left;

	begin();
	for (unsigned i = 0; i < N; i++)
		schedule(NOW + SECOND + i);
	n = take(NOW + 2 * SECOND);
	ck_assert_uint_eq(n, N);
	block_free_all(spares);
	spares = NULL;
	block_free_all(bucket->spares);
	bucket->spares = block_alloc();
	bucket->spares->next = NULL;
	no_block(bucket->pool);
	fail_arm(0, UINT32_MAX);
	left = bucket_put(bucket, &wakeup, taken, n);
	ck_assert_uint_eq(bucket_put(bucket, &wakeup, taken, left), left);
	ck_assert_uint_ge(fail_disarm(), 2);
	ck_assert_uint_eq(left, N - BLOCK_ENTRIES);
	bucket_check(bucket);
	lane = LANE_OLD + lane_at(SECOND);
	ck_assert_uint_eq(in_lane(lane), BLOCK_ENTRIES);
	for (size_t i = 0; i < BLOCK_ENTRIES; i++)
		must(queue_at(&bucket->lane[lane].queue, i)->ticket ==
		     taken[n - 1 - i].ticket);
	ck_assert_uint_eq(bucket_put(bucket, &wakeup, taken, left), 0);
	ck_assert_uint_eq(run_all(), N);
	end();
}
END_TEST

/* Nothing has changed, and the next call may find some. */
START_TEST(schedules_nothing_without_memory)
{
	uint64_t id = 77;

	begin();
	fail_arm(0, UINT32_MAX);
	errno = 5;
	ck_assert_int_eq(try_to_schedule(NOW + MS, &id), -ENOMEM);
	ck_assert_int_eq(errno, 5);
	ck_assert_uint_gt(fail_disarm(), 0);
	ck_assert_uint_eq(id, 77);
	ck_assert_uint_eq(bucket_size(bucket), 0);
	ck_assert_int_eq(announced(), INT64_MAX);
	bucket_check(bucket);
	schedule(NOW + MS);
	ck_assert_uint_eq(run_all(), 1);
	end();
}
END_TEST

/* A slot is enough. */
START_TEST(schedules_without_room)
{
	uint64_t id[3];

	begin();
	fail_arm(1, UINT32_MAX);
	errno = 5;
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(try_to_schedule(NOW + (3 - i) * MS, &id[i]),
				 0);
	ck_assert_int_eq(errno, 5);
	ck_assert_uint_gt(fail_disarm(), 1);
	ck_assert_uint_eq(bucket_size(bucket), 0);
	ck_assert_int_eq(announced(), NOW + MS);
	bucket_check(bucket);
	ck_assert_int_eq(cancel(id[1]), 0);
	ck_assert_uint_eq(run_due(NOW + MS), 1);
	ck_assert_uint_eq(run_all(), 1);
	end();
}
END_TEST

/* There may be a block, but no row for it. */
START_TEST(schedules_without_rows)
{
	struct queue *q;
	size_t n = 0;

	begin();
	q = &bucket->lane[lane_at(SECOND)].queue;
	for (; queue_wants_rows(q) == q->size || queue_has_room(q, 1); n++)
		schedule(NOW + SECOND);
	block_push(&bucket->spares, block_pool_take(bucket->pool));
	fail_arm(0, UINT32_MAX);
	ck_assert_int_eq(try_to_schedule(NOW + SECOND, NULL), 0);
	ck_assert_uint_gt(fail_disarm(), 0);
	ck_assert_uint_eq(queue_size(q), n);
	bucket_check(bucket);
	ck_assert_uint_eq(run_all(), n + 1);
	end();
}
END_TEST

#endif

/* Without an entry a timer waits all the same. */
START_TEST(the_unqueued_wait)
{
	struct entry e;
	uint64_t id;

	begin();
	id = schedule(NOW + SECOND);
	ck_assert_uint_eq(take(NOW + SECOND), 1);
	e = taken[0];
	unqueued_leave(bucket, &wakeup, &e);
	ck_assert_uint_eq(bucket_size(bucket), 0);
	ck_assert_int_eq(announced(), NOW + SECOND);
	bucket_check(bucket);
	schedule(NOW + MS);
	ck_assert_uint_eq(run_due(NOW + MS), 1);
	ck_assert_int_eq(announced(), NOW + SECOND);
	ck_assert_int_eq(reschedule(id, NOW + 2 * MS), 0);
	ck_assert_int_eq(announced(), NOW + 2 * MS);
	ck_assert_uint_eq(take(NOW + MS), 0);
	ck_assert_uint_eq(run_due(NOW + 2 * MS), 1);
	ck_assert_int_eq(announced(), INT64_MAX);
	ck_assert_uint_eq(take(INT64_MAX - 1), 0);
	end();
}
END_TEST

/* The first due is the first out; dead or not. */
START_TEST(the_first_due_are_handed_out)
{
	enum { N = 10 };
	uint64_t id[N];

	begin();
	for (int i = 0; i < N; i++)
		id[i] = schedule(NOW + SECOND + i);
	ck_assert_int_eq(reschedule(id[1], NOW + MS), 0);
	ck_assert_uint_eq(take(NOW + SECOND), N + 1);
	for (int i = 0; i <= N; i++)
		unqueued_leave(bucket, &wakeup, &taken[i]);
	bucket_check(bucket);
	ck_assert_int_eq(announced(), NOW + MS);
	ck_assert_int_eq(cancel(id[5]), 0);
	/* It had two entries. */
	ck_assert_uint_eq(run_due(NOW + MS), 1);
	ck_assert_int_eq(announced(), NOW + SECOND);
	ck_assert_uint_eq(take(NOW + SECOND + 6), 6);
	ck_assert_int_eq(announced(), NOW + SECOND + 7);
	bucket_check(bucket);
	ck_assert_uint_eq(bucket_put(bucket, &wakeup, taken, 6), 0);
	ck_assert_uint_eq(run_all(), N - 2);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
#ifndef FAIL_ALLOC_UNAVAILABLE
		puts_back_what_it_has_room_for,
		schedules_nothing_without_memory,
		schedules_without_room,
		schedules_without_rows,
#endif
		the_unqueued_wait,
		the_first_due_are_handed_out,
	};

	return RUN_TESTS("unqueued", tests);
}
