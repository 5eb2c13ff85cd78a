/* SPDX-License-Identifier: MIT */
/*
 * Finding the dead in a bucket: rent, which calls that schedule pay, and the
 * looks of the driver.
 */
#include "config.h"

#include "one_bucket.h"

/* What comes in while rent rests, and a few. */
#define RESTED (64 + 8)

/* All of rent's tests are in one lane but where they say so. */
static uint64_t schedule_in_lane(int64_t i)
{
	return schedule(NOW + 5 * SECOND + i);
}

static size_t used(void)
{
	return bucket->slots.used;
}

/*
 * The promise that garbage follows the live: any number of schedules, a window
 * of live timers that are cancelled in the order in which they came, and next
 * to no entries and slots of the dead.
 */
START_TEST(rent_bounds_garbage)
{
	static const size_t windows[] = {1, 10, 1000, 20000};
	static uint64_t ring[20000];

	for (size_t w = 0; w < 4; w++) {
		size_t window = windows[w], most = 0;

		begin();
		for (size_t i = 0; i < 12 * window + 1000; i++) {
			uint64_t *id = &ring[i % window];

			if (i >= window)
				must(cancel(*id) == 0);
			*id = schedule_in_lane((int64_t)i);
			most = bucket_size(bucket) > most ? bucket_size(bucket)
							  : most;
			must(used() <= bucket_size(bucket));
		}
		bucket_check(bucket);
		ck_assert_uint_le(most, window + 2 * RESTED);
		ck_assert_uint_eq(run_all(), window);
		end();
	}
}
END_TEST

/* How often in the queue does one come before an older one? */
static size_t count_disorder(const struct queue *q)
{
	int64_t last = INT64_MIN;
	size_t n = 0;

	for (size_t i = 0; i < queue_span(q); i++) {
		const struct entry *e = queue_at(q, i);

		if (!e || entry_is_hole(e))
			continue;
		n += e->deadline < last;
		last = e->deadline;
	}
	return n;
}

/*
 * The same where some live long and some are soon gone, in no order.  Those
 * that live stay in theirs, all but a few at the front.
 */
START_TEST(rent_bounds_garbage_in_any_order)
{
	enum { WINDOW = 5000, STEPS = 60 * WINDOW };
	static uint64_t ring[WINDOW];
	uint64_t rng = test_seed();
	size_t most = 0;

	begin();
	for (int i = 0; i < STEPS; i++) {
		uint64_t *id = &ring[random_below(&rng, WINDOW)];

		if (*id)
			must(cancel(*id) == 0);
		*id = schedule_in_lane(i);
		most = bucket_size(bucket) > most ? bucket_size(bucket) : most;
	}
	ck_assert_uint_le(most, WINDOW / 10 * 22);
	bucket_check(bucket);
	ck_assert_uint_le(
		count_disorder(&bucket->lane[lane_at(5 * SECOND)].queue), 50);
	end();
}
END_TEST

/* The oldest arrival is never cancelled, and must not shield the rest. */
START_TEST(rent_gets_past_an_immortal)
{
	enum { WINDOW = 100 };
	uint64_t ring[WINDOW];
	size_t most = 0;

	begin();
	schedule_in_lane(0);
	for (int i = 0; i < 100000; i++) {
		if (i >= WINDOW)
			must(cancel(ring[i % WINDOW]) == 0);
		ring[i % WINDOW] = schedule_in_lane(i);
		most = bucket_size(bucket) > most ? bucket_size(bucket) : most;
	}
	ck_assert_uint_le(most, 2 * WINDOW + 2 * RESTED + BLOCK_ENTRIES);
	end();
}
END_TEST

/*
 * One stays, some are over at once and some later.  Who is busy with the
 * former, which are the last in the queue, must find the latter too, also where
 * there are many slots.
 */
START_TEST(rent_finds_quick_and_slow)
{
	enum { PEAK = 30000, WINDOW = 1000, STEPS = 200000 };
	static uint64_t ring[WINDOW], peak[PEAK];
	size_t most = 0;

	begin();
	schedule_in_lane(0);
	for (int i = 0; i < PEAK; i++)
		peak[i] = schedule_in_lane(0);
	cancel_all(peak, PEAK);
	for (int i = 0; i < STEPS; i++) {
		if (i >= WINDOW)
			must(cancel(ring[i % WINDOW]) == 0);
		ring[i % WINDOW] = schedule_in_lane(i);
		must(cancel(schedule_in_lane(i)) == 0);
		if (i >= STEPS / 2 && bucket_size(bucket) > most)
			most = bucket_size(bucket);
	}
	ck_assert_uint_le(most, 4 * WINDOW);
	end();
}
END_TEST

/* The same where the latter have no slot: their timers have newer entries. */
START_TEST(rent_finds_old_entries)
{
	enum { WINDOW = 1000, STEPS = 200000 };
	static uint64_t ids[WINDOW];
	size_t most = 0;

	begin();
	schedule_in_lane(0);
	for (int i = 0; i < WINDOW; i++)
		ids[i] = schedule_in_lane(STEPS);
	for (int i = 0; i < STEPS; i++) {
		must(cancel(schedule_in_lane(i)) == 0);
		must(reschedule(ids[i % WINDOW],
				NOW + 5 * SECOND + STEPS - i - 1) == 0);
		most = bucket_size(bucket) > most ? bucket_size(bucket) : most;
	}
	ck_assert_uint_le(most, 4 * WINDOW);
	end();
}
END_TEST

/* Pairs among timers that stay: these hide nothing. */
START_TEST(rent_among_those_that_stay)
{
	static const size_t windows[] = {50, 300, 3000};

	for (size_t w = 0; w < 3; w++) {
		size_t live = windows[w], most = 0;

		begin();
		for (size_t i = 0; i < live; i++)
			schedule_in_lane(1000000 + (int64_t)i);
		for (int i = 0; i < 100000; i++) {
			must(cancel(schedule_in_lane(i)) == 0);
			most = bucket_size(bucket) > most ? bucket_size(bucket)
							  : most;
		}
		ck_assert_uint_le(most, 3 * live + 6 * RESTED + BLOCK_ENTRIES);
		bucket_check(bucket);
		ck_assert_uint_eq(run_all(), live);
		end();
	}
}
END_TEST

/*
 * Those in front stay, as do those at the back, and many between them came to
 * their time: a visit took these.  What comes after that is as well looked
 * after as before.
 */
START_TEST(rent_gets_past_what_was_taken)
{
	enum { STAY = BLOCK_ENTRIES, TAKEN = 700 * BLOCK_ENTRIES };
	size_t most = 0;

	begin();
	for (unsigned i = 0; i < STAY; i++)
		schedule_in_lane(20 * SECOND);
	for (unsigned i = 0; i < TAKEN; i++)
		schedule_in_lane(0);
	for (unsigned i = 0; i < STAY; i++)
		schedule_in_lane(20 * SECOND);
	ck_assert_uint_eq(take(NOW + 5 * SECOND), TAKEN);
	for (unsigned i = 0; i < TAKEN; i++)
		must(run(taken[i], NOW + 5 * SECOND));
	intake_flush(intake);
	ck_assert_uint_eq(bucket_size(bucket), 2 * STAY);
	for (unsigned i = 0; i < TAKEN; i++) {
		must(cancel(schedule_in_lane(20 * SECOND)) == 0);
		most = bucket_size(bucket) > most ? bucket_size(bucket) : most;
	}
	ck_assert_uint_le(most, 3 * 2 * STAY + RESTED);
	end();
}
END_TEST

/* A hundred thousand cancelled at once go as new ones come. */
START_TEST(rent_drains_a_mass_cancel)
{
	enum { N = 100000 };
	static uint64_t ids[N];
	uint32_t end_before;

	begin();
	for (int i = 0; i < N; i++)
		ids[i] = schedule_in_lane(i);
	end_before = bucket->slots.end;
	cancel_all(ids, N);
	for (int i = 0; i < N; i++)
		must(cancel(schedule_in_lane(i)) == 0);
	ck_assert_uint_le(bucket_size(bucket), 2 * RESTED);
	ck_assert_uint_eq(bucket->slots.end, end_before);
	bucket_check(bucket);
	end();
}
END_TEST

/* So many and more then, until no slot is free. */
static void use_all_slots(uint64_t *id, size_t n, int64_t then)
{
	for (size_t i = 0; i < n; i++)
		id[i] = schedule(then);
	while (used() < (bucket->slots.end - 1) << SLOT_WORD_LOG2)
		schedule(then);
}

/* It takes no memory for slots if some were cancelled, though it rests. */
START_TEST(rent_comes_before_memory)
{
	enum { N = 20000 };
	static uint64_t ids[N];
	uint32_t end_before;

	begin();
	use_all_slots(ids, N, NOW + HOUR);
	end_before = bucket->slots.end;
	cancel_all(ids, N);
	bucket->lane[lane_at(HOUR)].rests = 60;
	for (int i = 0; i < N; i++)
		schedule(NOW + HOUR);
	ck_assert_uint_eq(bucket->slots.end, end_before);
	bucket_check(bucket);
	end();
}
END_TEST

/*
 * Nor where they are in a lane to which nobody comes any more.  And little
 * where its own, with some that live, has its turn before.
 */
START_TEST(rent_looks_into_other_lanes)
{
	enum { N = 20000, OWN = 1000 };
	static uint64_t ids[N];

	for (int own = 0; own <= OWN; own += OWN) {
		uint32_t ready_before;

		begin();
		for (int i = 0; i < own; i++)
			schedule_in_lane(i);
		use_all_slots(ids, N, NOW + HOUR);
		ready_before = bucket->slots.ready;
		cancel_all(ids, N);
		bucket->next_lane = lane_at(5 * SECOND);
		bucket->next = (struct queue_position){0, 0};
		for (int i = 0; i < N; i++)
			schedule_in_lane(i);
		ck_assert_uint_le(bucket->slots.ready - ready_before,
				  (uint32_t)own / 8);
		ck_assert_uint_le(used(), bucket_size(bucket));
		bucket_check(bucket);
		end();
	}
}
END_TEST

/* All live: no further than what was paid for, and once around, or twice. */
START_TEST(reclaiming_ends)
{
	enum { LIVE = 160 * RENT_RECLAIM };
	int steps;

	begin();
	ck_assert_int_eq(reclaim(UINT64_MAX), 2);
	for (int i = 0; i < LIVE; i++)
		schedule_in_lane(i);
	ck_assert_int_eq(reclaim(RENT_RECLAIM), 1);
	ck_assert_int_eq(reclaim(RENT_RECLAIM + 1), 2);
	steps = reclaim(UINT64_MAX);
	ck_assert_int_ge(steps, LIVE / RENT_RECLAIM);
	ck_assert_int_le(steps, 2 * (LIVE / RENT_RECLAIM + 2));
	ck_assert_uint_eq(bucket_size(bucket), LIVE);
	ck_assert_uint_eq(run_all(), LIVE);
	end();
}
END_TEST

/*
 * Nobody schedules any more, and those who live came first.  The driver finds
 * the rest.
 */
START_TEST(reclaiming_gets_past_the_living)
{
	enum { LIVE = 300, DEAD = 20 * BLOCK_ENTRIES };
	static uint64_t ids[DEAD];

	begin();
	for (int i = 0; i < LIVE; i++)
		schedule_in_lane(i);
	for (unsigned i = 0; i < DEAD; i++)
		ids[i] = schedule_in_lane(i);
	cancel_all(ids, DEAD);
	reclaim(UINT64_MAX);
	ck_assert_uint_eq(bucket_size(bucket), LIVE);
	end();
}
END_TEST

/* The same in each lane; a step is in one, and they have their turns. */
START_TEST(reclaiming_is_for_all_lanes)
{
	enum { LIVE = 50, DEAD = 8 * BLOCK_ENTRIES };
	static uint64_t ids[LANES * DEAD];
	size_t n = 0;

	begin();
	for (unsigned lane = 0; lane < LANES; lane++) {
		for (int i = 0; i < LIVE; i++)
			schedule(NOW + in_middle_of(lane));
		for (unsigned i = 0; i < DEAD; i++)
			ids[n++] = schedule(NOW + in_middle_of(lane));
	}
	cancel_all(ids, n);
	/* All get some of what is paid for a part. */
	reclaim(LANES * (LIVE + RENT_RECLAIM));
	for (unsigned lane = 0; lane < LANES; lane++)
		ck_assert_uint_lt(in_lane(lane), LIVE + DEAD);
	reclaim(UINT64_MAX);
	ck_assert_uint_le(bucket_size(bucket), LANES * LIVE * 5 / 4);
	ck_assert_uint_eq(run_all(), LANES * LIVE);
	end();
}
END_TEST

/* Few among many that live: once around finds them. */
START_TEST(reclaiming_finds_a_few)
{
	enum { N = 10000, DEAD = N / 20 };
	static uint64_t ids[N];

	begin();
	for (int i = 0; i < N; i++)
		ids[i] = schedule_in_lane(i);
	for (int i = 0; i < N; i += N / DEAD)
		must(cancel(ids[i]) == 0);
	reclaim(UINT64_MAX);
	ck_assert_uint_le(bucket_size(bucket), N - DEAD * 3 / 4);
	end();
}
END_TEST

/* Who has the lock is not held up. */
START_TEST(reclaiming_waits_for_nobody)
{
	uint64_t id;

	begin();
	id = schedule_in_lane(1);
	ck_assert_int_eq(cancel(id), 0);
	lock_acquire(&bucket->lock);
	ck_assert_int_eq(reclaim(1), 1);
	ck_assert_uint_eq(bucket_size(bucket), 1);
	lock_release(&bucket->lock);
	ck_assert_int_eq(reclaim(1), 1);
	ck_assert_uint_eq(bucket_size(bucket), 0);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		rent_bounds_garbage,
		rent_bounds_garbage_in_any_order,
		rent_gets_past_an_immortal,
		rent_finds_quick_and_slow,
		rent_finds_old_entries,
		rent_among_those_that_stay,
		rent_gets_past_what_was_taken,
		rent_drains_a_mass_cancel,
		rent_comes_before_memory,
		rent_looks_into_other_lanes,
		reclaiming_ends,
		reclaiming_gets_past_the_living,
		reclaiming_is_for_all_lanes,
		reclaiming_finds_a_few,
		reclaiming_waits_for_nobody,
	};

	return RUN_TESTS("rent", tests);
}
