/* SPDX-License-Identifier: MIT */
/*
 * The driver's visits to a bucket: what they take, what they leave, and what
 * comes in between; and what the driver puts back.
 */
#include "config.h"
#include "intake/garbage.h"

#include "blocks.h"
#include "one_bucket.h"

/* Fills each lane, with entries of its middle. */
static void fill_lanes(size_t n)
{
	for (unsigned lane = 0; lane < LANE_OLD; lane++) {
		for (size_t i = 0; i < n; i++)
			schedule(NOW + in_middle_of(lane));
	}
}

START_TEST(a_visit_leaves_what_is_far)
{
	enum { N = 2 * BLOCK_ENTRIES + 9 };

	begin();
	fill_lanes(N);
	for (unsigned due = 0; due < LANE_OLD; due++) {
		int64_t now = NOW + in_middle_of(due);

		ck_assert_uint_eq(take(now - 1), 0);
		ck_assert_int_eq(announced(), now);
		ck_assert_uint_eq(take(now), N);
		for (unsigned lane = 0; lane < LANE_OLD; lane++)
			ck_assert_uint_eq(in_lane(lane), lane > due ? N : 0);
	}
	ck_assert_int_eq(announced(), INT64_MAX);
	end();
}
END_TEST

/* Of a lane, only the blocks that hold what is due, or nearly. */
START_TEST(a_visit_leaves_what_is_later)
{
	const unsigned lane = 4;
	const int64_t first = NOW + in_middle_of(lane);
	const int64_t ahead = distance_ahead(lane);

	begin();
	for (int64_t i = 0; i < 6; i++) {
		int64_t later = i < 3 ? i : ahead + i;

		for (size_t k = 0; k < BLOCK_ENTRIES; k++)
			schedule(first + later);
	}
	/* Ahead of its time, but not alone. */
	ck_assert_uint_eq(take(first - 1), 0);
	ck_assert_uint_eq(take(first), 3 * BLOCK_ENTRIES);
	ck_assert_int_eq(announced(), first + ahead + 3);
	ck_assert_uint_eq(take(first + ahead + 2), 0);
	ck_assert_uint_eq(take(first + ahead + 3), 3 * BLOCK_ENTRIES);
	end();
}
END_TEST

/* Time to open them: so one with more than a few blocks is visited earlier. */
START_TEST(many_blocks_are_visited_early)
{
	enum { N = (BLOCKS_FEW + 2) * BLOCK_ENTRIES };

	for (unsigned lane = 0; lane < LANE_OLD; lane++) {
		const int64_t first = NOW + in_middle_of(lane);
		const int64_t early = first - distance_ahead(lane) / 2;

		begin();
		for (size_t i = 0; i < BLOCKS_FEW * BLOCK_ENTRIES; i++)
			schedule(first + (int64_t)(i / BLOCK_ENTRIES));
		ck_assert_int_eq(announced(), first);
		for (size_t i = BLOCKS_FEW * BLOCK_ENTRIES; i < N; i++)
			schedule(first);
		ck_assert_int_eq(announced(), lane > 0 ? early : first);
		ck_assert_uint_eq(take(announced() - 1), 0);
		ck_assert_uint_eq(take(announced()), N);
		ck_assert_int_eq(announced(), INT64_MAX);
		end();
	}
}
END_TEST

/* In two steps: the second sees a few blocks, and takes them, too. */
START_TEST(all_of_many_blocks_are_visited_early)
{
	enum { N = (QUEUE_STEP + BLOCKS_FEW) * BLOCK_ENTRIES };
	const int64_t first = NOW + in_middle_of(4);

	begin();
	for (size_t i = 0; i < N; i++)
		schedule(first);
	ck_assert_uint_eq(take(first - distance_ahead(4) / 2), N);
	end();
}
END_TEST

/* Also if nobody but the driver has filled it, with blocks of its own. */
START_TEST(put_back_and_visited_early)
{
	enum { N = (BLOCKS_FEW + 2) * BLOCK_ENTRIES };
	const unsigned lane = 4;
	const int64_t first = NOW + in_middle_of(lane);

	begin();
	for (size_t i = 0; i < N; i++)
		schedule(first);
	ck_assert_uint_eq(take(first), N);
	for (int i = 0; i < BLOCKS_FEW + 2; i++)
		block_push(&bucket->spares, block_alloc());
	must(bucket_put(bucket, &wakeup, taken, N) == 0);
	ck_assert_int_eq(announced(), first - distance_ahead(lane) / 2);
	ck_assert_uint_eq(take(announced()), N);
	end();
}
END_TEST

START_TEST(what_never_comes_is_not_announced)
{
	begin();
	for (size_t i = 0; i < (BLOCKS_FEW + 2) * BLOCK_ENTRIES; i++)
		schedule(TIMERTHREAD_NEVER);
	ck_assert_uint_eq(take(INT64_MAX - 1), 0);
	ck_assert_int_eq(announced(), INT64_MAX);
	end();
}
END_TEST

/* As many as a step takes, in lane 0. */
static void fill_a_step(void)
{
	for (unsigned i = 0; i < QUEUE_STEP * BLOCK_ENTRIES; i++)
		schedule(NOW + MS);
}

START_TEST(a_visit_goes_by_steps)
{
	struct visit v;
	size_t n = 0;
	int steps = 0;
	bool more;

	begin();
	schedule(NOW + SECOND);
	schedule(NOW + 60 * SECOND);
	fill_a_step();
	schedule(NOW + MS);
	visit_of(&v, NOW + HOUR);
	do {
		size_t before = n;

		more = step(&v);
		n = copy_all(&v, n);
		ck_assert_uint_le(n - before, QUEUE_STEP * BLOCK_ENTRIES);
		bucket_check(bucket);
		steps++;
	} while (more);
	ck_assert_uint_eq(n, QUEUE_STEP * BLOCK_ENTRIES + 3);
	ck_assert_int_eq(steps, 2);
	end();
}
END_TEST

/* The visit finds them, or announces them. */
START_TEST(arrivals_between_steps)
{
	struct visit v;
	size_t n;

	begin();
	schedule(NOW + SECOND);
	schedule(NOW + 60 * SECOND);
	fill_a_step();
	visit_of(&v, NOW + 2 * SECOND);
	ck_assert(step(&v));
	ck_assert_uint_eq(copy_all(&v, 0), QUEUE_STEP * BLOCK_ENTRIES);
	/* That lane is done, the next ones are not. */
	schedule(NOW + 2 * MS);
	schedule(NOW + SECOND + 1);
	schedule(NOW + 50 * SECOND);
	bucket_check(bucket);
	for (n = 0; step(&v);)
		n = copy_all(&v, n);
	n = copy_all(&v, n);
	ck_assert_uint_eq(n, 2);
	ck_assert_int_eq(announced(), NOW + 2 * MS);
	ck_assert_uint_eq(take(NOW + 2 * MS), 1);
	ck_assert_int_eq(announced(), NOW + 50 * SECOND);
	end();
}
END_TEST

/* One that is earlier than all is announced at once, whoever visits. */
START_TEST(an_earlier_one_between_steps)
{
	struct visit v;

	begin();
	garbage_set_limit(&wakeup, UINT32_MAX);
	schedule(NOW + SECOND);
	fill_a_step();
	visit_of(&v, NOW + SECOND);
	ck_assert(step(&v));
	copy_all(&v, 0);
	schedule(NOW + MS / 2);
	ck_assert_int_eq(announced(), NOW + MS / 2);
	while (step(&v))
		copy_all(&v, 0);
	copy_all(&v, 0);
	ck_assert_int_eq(announced(), NOW + MS / 2);
	ck_assert_uint_eq(run_all(), 1);
	end();
}
END_TEST

/* Where the first of a block was cancelled that is seen when it has gone. */
START_TEST(announces_what_is_left)
{
	uint64_t id;

	begin();
	id = schedule(NOW + SECOND);
	for (size_t i = 1; i < BLOCK_ENTRIES; i++)
		schedule(NOW + 2 * SECOND);
	schedule(NOW + 3 * SECOND);
	ck_assert_int_eq(cancel(id), 0);
	take(NOW + SECOND - 1);
	ck_assert_int_eq(announced(), NOW + SECOND);
	ck_assert_uint_eq(take(NOW + SECOND), BLOCK_ENTRIES);
	ck_assert_int_eq(announced(), NOW + 3 * SECOND);
	schedule(NOW + HOUR);
	ck_assert_uint_eq(take(NOW + 3 * SECOND), 1);
	ck_assert_int_eq(announced(), NOW + HOUR);
	end();
}
END_TEST

/* What is left in one lane says nothing of the next one. */
START_TEST(what_is_left_is_known_by_lane)
{
	const unsigned first = lane_at(SECOND), last = first + 1;
	const int64_t due = NOW + in_middle_of(first), later = due + SECOND;

	begin();
	/* Free slots, so that none is looked for elsewhere. */
	fill_lanes(BLOCK_ENTRIES);
	run_all();
	for (unsigned lane = first; lane <= last; lane++) {
		for (size_t i = 0; i < BLOCK_ENTRIES; i++)
			schedule(due);
		schedule(later + lane);
		/* All that comes now is farther away. */
		watch_set(&watch, NOW - in_middle_of(last));
		take(NOW);
	}
	ck_assert_uint_eq(in_lane(first), BLOCK_ENTRIES + 1);
	ck_assert_uint_eq(in_lane(last), BLOCK_ENTRIES + 1);
	ck_assert_uint_eq(take(due), 2 * BLOCK_ENTRIES);
	ck_assert_int_eq(bucket->lane[first].queue.nearest, later + first);
	ck_assert_int_eq(bucket->lane[last].queue.nearest, later + last);
	ck_assert_int_eq(announced(), later + first);
	end();
}
END_TEST

/*
 * The bucket keeps one, and the pool gets the others, some in each step.  A
 * visit leaves them where they are.
 */
START_TEST(spare_blocks_go_to_the_pool)
{
	enum { N = 3 * SURPLUS_MAX };
	struct block *had[N];
	struct block_pool *p;
	struct visit v;

	begin();
	p = bucket->pool;
	for (int i = 0; i < N; i++)
		had[i] = block_pool_take(p);
	for (int i = 0; i < N; i++)
		block_push(&bucket->spares, had[i]);
	visit_of(&v, NOW);
	ck_assert(!step(&v));
	ck_assert_uint_eq(count_blocks(bucket->spares), N);
	for (int left = N - SURPLUS_MAX; left > 0; left -= SURPLUS_MAX) {
		ck_assert(bucket_shrink(bucket));
		ck_assert_uint_eq(count_blocks(bucket->spares), left);
	}
	ck_assert_uint_eq(p->n, POOL_KEEP);
	ck_assert(bucket_shrink(bucket));
	ck_assert(!bucket_shrink(bucket));
	ck_assert_ptr_eq(bucket->spares, had[N - 1]);
	ck_assert_uint_eq(count_blocks(bucket->spares), 1);
	end();
}
END_TEST

/* They are counted as near as they are by now. */
START_TEST(puts_back)
{
	enum { N = 3 * BLOCK_ENTRIES };
	const int64_t then = NOW + 5 * HOUR;
	size_t n;

	begin();
	for (unsigned i = 0; i < N; i++)
		schedule(then + (i % 2 ? 60 * SECOND : 0));
	ck_assert_uint_eq(the_lane(), lane_at(5 * HOUR));
	watch_set(&watch, then - MS);
	n = take(then);
	ck_assert_uint_eq(n, N);
	ck_assert_int_eq(announced(), INT64_MAX);
	ck_assert_uint_eq(bucket_put(bucket, &wakeup, taken, n), 0);
	bucket_check(bucket);
	ck_assert_uint_eq(in_lane(LANE_OLD), (N + 1) / 2);
	ck_assert_uint_eq(in_lane(LANE_OLD + lane_at(60 * SECOND)), N / 2);
	ck_assert_int_eq(announced(), then);
	ck_assert_uint_eq(run_due(then + MS), (N + 1) / 2);
	ck_assert_int_eq(announced(), then + 60 * SECOND);
	ck_assert_uint_eq(run_all(), N / 2);
	end();
}
END_TEST

START_TEST(puts_back_nothing)
{
	begin();
	ck_assert_uint_eq(bucket_put(bucket, &wakeup, NULL, 0), 0);
	ck_assert_int_eq(announced(), INT64_MAX);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_visit_leaves_what_is_far,
		a_visit_leaves_what_is_later,
		many_blocks_are_visited_early,
		all_of_many_blocks_are_visited_early,
		put_back_and_visited_early,
		what_never_comes_is_not_announced,
		a_visit_goes_by_steps,
		arrivals_between_steps,
		an_earlier_one_between_steps,
		announces_what_is_left,
		what_is_left_is_known_by_lane,
		spare_blocks_go_to_the_pool,
		puts_back,
		puts_back_nothing,
	};

	return RUN_TESTS("visit", tests);
}
