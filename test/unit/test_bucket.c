/* SPDX-License-Identifier: MIT */
/*
 * What arrives in a bucket: whether it is announced to the driver, and the lane
 * that it comes to.
 */
#include "config.h"

#include "blocks.h"
#include "one_bucket.h"

#include <errno.h>

START_TEST(only_while_open)
{
	uint64_t id = 77;

	begin();
	bucket_set_open(bucket, false);
	ck_assert_int_eq(try_to_schedule(1, &id), -ESHUTDOWN);
	ck_assert_uint_eq(id, 77);
	bucket_set_open(bucket, true);
	schedule(1);
	ck_assert_uint_eq(run_all(), 1);
	end();
}
END_TEST

START_TEST(announces_what_is_earlier)
{
	begin();
	ck_assert_int_eq(announced(), INT64_MAX);
	schedule(NOW + HOUR);
	ck_assert_int_eq(announced(), NOW + HOUR);
	schedule(NOW + 2 * HOUR);
	ck_assert_int_eq(announced(), NOW + HOUR);
	schedule(NOW + SECOND);
	ck_assert_int_eq(announced(), NOW + SECOND);
	schedule(NOW + MS);
	ck_assert_int_eq(announced(), NOW + MS);
	schedule(NOW - 5);
	ck_assert_int_eq(announced(), NOW - 5);
	ck_assert_uint_eq(run_all(), 5);
	ck_assert_int_eq(announced(), INT64_MAX);
	end();
}
END_TEST

/* The first in its lane, but not in the bucket, is not news. */
START_TEST(announces_nothing_twice)
{
	begin();
	for (int64_t i = 0; i < 3; i++) {
		int64_t first = NOW + MS - i;

		schedule(first);
		wakeup.visit_at[0] = INT64_MIN;
		schedule(first);
		for (unsigned lane = LANE_OLD; lane-- > 0;) {
			schedule(NOW + in_middle_of(lane) - i);
			schedule(NOW + in_middle_of(lane));
		}
		ck_assert_int_eq(wakeup.visit_at[0], INT64_MIN);
		wakeup.visit_at[0] = first;
	}
	end();
}
END_TEST

/* It is found when it is cancelled, by those who come later. */
START_TEST(never_is_not_announced)
{
	begin();
	schedule(TIMERTHREAD_NEVER);
	ck_assert_int_eq(announced(), INT64_MAX);
	ck_assert_uint_eq(in_lane(LANE_OLD - 1), 1);
	ck_assert_uint_eq(take(INT64_MAX - 1), 0);
	ck_assert_int_eq(announced(), INT64_MAX);
	end();
}
END_TEST

START_TEST(near_and_far_do_not_mix)
{
	enum { N = 3000 };
	uint64_t rng = test_seed();

	begin();
	for (int i = 0; i < N; i++)
		schedule(NOW +
			 in_middle_of((unsigned)random_below(&rng, LANE_OLD)));
	for (unsigned lane = 0; lane < LANE_OLD; lane++) {
		struct queue *q = &bucket->lane[lane].queue;

		ck_assert_uint_gt(in_lane(lane), N / LANE_OLD / 2);
		for (size_t i = 0; i < queue_span(q); i++) {
			const struct entry *e = queue_at(q, i);

			must(!e || e->deadline == NOW + in_middle_of(lane));
		}
	}
	ck_assert_uint_eq(run_all(), N);
	end();
}
END_TEST

/* Distances are counted from the time of the last visit. */
START_TEST(the_base_follows_the_visits)
{
	begin();
	schedule(NOW + HOUR);
	ck_assert_uint_eq(the_lane(), lane_at(HOUR));
	watch_set(&watch, NOW + HOUR - SECOND);
	ck_assert_uint_eq(take(NOW + HOUR), 1);
	schedule(NOW + HOUR);
	ck_assert_uint_eq(the_lane(), lane_at(SECOND));
	ck_assert_uint_eq(run_all(), 1);
	end();
}
END_TEST

/* No visit for hours: who is earlier than all in its lane by much sees that. */
START_TEST(a_stale_base_is_mended)
{
	const int64_t now = NOW + HOUR;

	begin();
	watch_set(&watch, now);
	schedule(now + MS);
	ck_assert_uint_eq(the_lane(), 0);
	ck_assert_int_eq(bucket->base, distance_base(now));
	ck_assert_int_eq(announced(), now + MS);
	schedule(now + HOUR);
	ck_assert_uint_eq(in_lane(lane_at(HOUR)), 1);
	end();
}
END_TEST

/* A reschedule is an arrival, too. */
START_TEST(a_stale_base_is_mended_by_reschedule)
{
	const int64_t now = NOW + HOUR;
	uint64_t id;

	begin();
	id = schedule(NOW + 100 * HOUR);
	watch_set(&watch, now);
	ck_assert_int_eq(reschedule(id, now + MS), 0);
	ck_assert_uint_eq(in_lane(0), 1);
	ck_assert_int_eq(announced(), now + MS);
	ck_assert_uint_eq(run_all(), 1);
	end();
}
END_TEST

/* In the wrong lane it is as safe. */
START_TEST(who_is_not_the_earliest_takes_the_lane_that_it_is_given)
{
	const int64_t now = NOW + HOUR;

	begin();
	schedule(now - 60 * SECOND);
	watch_set(&watch, now);
	schedule(now + MS);
	ck_assert_uint_eq(the_lane(), lane_at(HOUR));
	ck_assert_uint_eq(run_due(now + MS), 2);
	ck_assert_uint_eq(bucket_size(bucket), 0);
	end();
}
END_TEST

/* Each a little earlier than the last: the clock is not read each time. */
START_TEST(a_little_earlier_is_not_worth_a_look_at_the_clock)
{
	for (unsigned lane = 1; lane < LANE_OLD; lane++) {
		int64_t first = NOW + in_middle_of(lane);
		int64_t little = distance_ahead(lane);
		int64_t base;

		begin();
		schedule(first);
		base = bucket->base;
		watch_set(&watch, NOW + 2 * NEAR_NS);
		for (int64_t i = 1; i <= 1000; i++)
			schedule(first - i);
		schedule(first - 1000 - little);
		ck_assert_int_eq(bucket->base, base);
		ck_assert_int_le(announced(), first - 1000 - little);
		schedule(first - 1000 - 2 * little - 1);
		ck_assert_int_ne(bucket->base, base);
		ck_assert_uint_eq(run_all(), 1003);
		end();
	}
}
END_TEST

/*
 * What is far and falls, a little each time, is seldom announced, but never too
 * late; and a visit finds when it is due.
 */
START_TEST(what_falls_is_seldom_announced)
{
	enum { N = 1000, FEW = 20 };

	for (unsigned lane = 1; lane < LANE_OLD; lane++) {
		int64_t first = NOW + in_middle_of(lane), last;
		int times = 0;

		begin();
		schedule(first);
		last = announced();
		for (int64_t i = 1; i <= N; i++) {
			schedule(first - i);
			times += announced() != last;
			last = announced();
			ck_assert_int_le(last, first - i);
			/* What is not so far, as it is. */
			if (first - NOW < 2 * SECOND)
				ck_assert_int_eq(last, first - i);
		}
		ck_assert_int_le(times, first - NOW > 3 * SECOND ? FEW : N);
		ck_assert_uint_eq(run_due(first - N - 1), 0);
		ck_assert_int_eq(announced(), first - N);
		ck_assert_uint_eq(run_all(), N + 1);
		end();
	}
}
END_TEST

/* Its holder was probably preempted, on the same CPU. */
START_TEST(a_held_bucket_is_passed_over)
{
	struct intake *in = intake_create(5);
	uint32_t n = in->cpus.n;

	for (uint32_t i = 0; i < n; i++)
		lock_acquire(&in->bucket[i].lock);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_ptr_eq(intake_pick(in, i, false), &in->bucket[i]);
		lock_release(&in->bucket[i].lock);
		for (uint32_t k = 0; k < n; k++)
			ck_assert_ptr_eq(intake_pick(in, k, false),
					 &in->bucket[i]);
		lock_acquire(&in->bucket[i].lock);
	}
	intake_destroy(in);

	in = intake_create(1);
	lock_acquire(&in->bucket[0].lock);
	ck_assert_ptr_eq(intake_pick(in, 0, false), &in->bucket[0]);
	ck_assert_ptr_eq(intake_pick(in, 0, true), &in->bucket[0]);
	intake_destroy(in);
}
END_TEST

/* Whoever holds its lock.  If there is no bucket more than CPUs: as others. */
START_TEST(the_last_bucket_is_the_quiet_one)
{
	uint32_t cpus = (uint32_t)cpu_count();
	struct intake *in = intake_create(cpus + 1);

	ck_assert_uint_eq(in->cpus.n, cpus);
	ck_assert_ptr_eq(intake_pick(in, 0, false), &in->bucket[0]);
	lock_acquire(&in->bucket[cpus].lock);
	ck_assert_ptr_eq(intake_pick(in, 0, true), &in->bucket[cpus]);
	intake_destroy(in);

	in = intake_create(cpus);
	ck_assert_uint_eq(in->cpus.n, cpus);
	for (uint32_t i = 0; i < cpus; i++)
		ck_assert_ptr_eq(intake_pick(in, i, true), &in->bucket[i]);
	intake_destroy(in);
}
END_TEST

START_TEST(many_buckets_make_distinct_ids)
{
	enum { BUCKETS = 1024 };
	static uint64_t ids[BUCKETS];
	struct slot *s;

	watch = WATCH_VIRTUAL(NOW);
	begin_all(BUCKETS);
	for (uint32_t i = 0; i < BUCKETS; i++) {
		bucket = &intake->bucket[i];
		ids[i] = schedule(1);
	}
	for (uint32_t i = 0; i < BUCKETS; i++) {
		ck_assert_int_eq(cancel(ids[i]), 0);
		ck_assert_int_eq(cancel(ids[i]), -ENOENT);
		s = slot_of(ids[i]);
		ck_assert_ptr_eq(s, slots_of(&intake->bucket[i].slots,
					     slot_index(ids[i])));
	}
	end();

	/* An index can name a fourth bucket of three. */
	begin_all(3);
	for (uint32_t i = 0; i < 3; i++) {
		bucket = &intake->bucket[i];
		schedule(1);
	}
	for (uint64_t number = 0; number < 300; number++)
		ck_assert_ptr_null(intake_slot(intake, number << 2 | 3));
	end();
	/* And it is not looked for, even if there is something. */
	begin_all(4);
	bucket = &intake->bucket[3];
	ids[3] = schedule(1);
	ck_assert_ptr_nonnull(intake_slot(intake, ids[3]));
	intake->n = 3;
	ck_assert_ptr_null(intake_slot(intake, ids[3]));
	intake->n = 4;
	end();
}
END_TEST

/* Each announces for itself. */
START_TEST(each_bucket_is_asked_for_its_own)
{
	struct bucket_set due;
	uint32_t got;

	watch = WATCH_VIRTUAL(NOW);
	begin_all(3);
	for (uint32_t i = 0; i < 3; i++) {
		bucket = &intake->bucket[i];
		schedule(NOW + (3 - i) * SECOND);
	}
	ck_assert_uint_eq(wakeup_collect(&wakeup, NOW).used, 0);
	due = wakeup_collect(&wakeup, NOW + 2 * SECOND);
	ck_assert(bucket_set_take(&due, &got) && got == 1);
	ck_assert(bucket_set_take(&due, &got) && got == 2);
	ck_assert(!bucket_set_take(&due, &got));
	ck_assert_int_eq(wakeup_nearest(&wakeup), NOW + 3 * SECOND);
	end();
}
END_TEST

START_TEST(bucket_sets)
{
	struct bucket_set set = {0};
	static const uint32_t in[] = {1023, 0, 31, 32, 512, 0};
	static const uint32_t out[] = {0, 31, 32, 512, 1023};
	uint32_t got;

	ck_assert_uint_eq(set.used, 0);
	for (size_t i = 0; i < 6; i++)
		bucket_set_add(&set, in[i]);
	for (size_t i = 0; i < 5; i++) {
		ck_assert(bucket_set_take(&set, &got));
		ck_assert_uint_eq(got, out[i]);
	}
	ck_assert(!bucket_set_take(&set, &got));
	ck_assert_uint_eq(set.used, 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		only_while_open,
		announces_what_is_earlier,
		announces_nothing_twice,
		never_is_not_announced,
		near_and_far_do_not_mix,
		the_base_follows_the_visits,
		a_stale_base_is_mended,
		a_stale_base_is_mended_by_reschedule,
		who_is_not_the_earliest_takes_the_lane_that_it_is_given,
		a_little_earlier_is_not_worth_a_look_at_the_clock,
		what_falls_is_seldom_announced,
		a_held_bucket_is_passed_over,
		the_last_bucket_is_the_quiet_one,
		many_buckets_make_distinct_ids,
		each_bucket_is_asked_for_its_own,
		bucket_sets,
	};

	return RUN_TESTS("bucket", tests);
}
