/* SPDX-License-Identifier: MIT */
/*
 * Finding the dead in a bucket: recycling, by calls that schedule, and what
 * they do before they take memory for slots.
 */
#include "config.h"

#include "intake/garbage.h"
#include "one_bucket.h"
#include "store/vacancy.h"

/* What comes in while recycling skips, and a few. */
#define RESTED (64 + 8)

/* All of recycling's tests are in one lane but where they say so. */
static uint64_t schedule_in_lane(int64_t i)
{
	return schedule(NOW + 5 * SECOND + i);
}

static size_t used(void)
{
	return bucket->slots.used;
}

/*
 * What recycling does not find the driver must, which never looks here: it is
 * told before there are far more slots in use than timers, or entries than
 * slots.
 */
static void check_told(size_t live)
{
	must(atom32_load(&wakeup.limit) == GARBAGE_TOLD ||
	     (used() <= GARBAGE_TIMES * live + GARBAGE_MUCH + GARBAGE_STEP &&
	      bucket_size(bucket) <= GARBAGE_TIMES * used() + GARBAGE_MUCH +
					     LANES * BLOCK_ENTRIES));
}

/*
 * The promise that garbage follows the live: any number of schedules, a window
 * of live timers that are cancelled in the order in which they came, and next
 * to no entries and slots of the dead.
 */
START_TEST(recycle_bounds_garbage)
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

		if (!e)
			continue;
		n += e->deadline < last;
		last = e->deadline;
	}
	return n;
}

/*
 * The same for slots where some live long and some are soon gone, in no order.
 * Those that live stay in theirs, all but some.
 */
START_TEST(recycle_bounds_garbage_in_any_order)
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
		most = used() > most ? used() : most;
		if (i % 100 == 0)
			check_told(WINDOW);
	}
	ck_assert_uint_le(most, WINDOW / 10 * 22);
	bucket_check(bucket);
	ck_assert_uint_le(
		count_disorder(&bucket->lane[lane_at(5 * SECOND)].queue),
		WINDOW / 10);
	end();
}
END_TEST

/* The oldest arrival is never cancelled, and must not shield the rest. */
START_TEST(recycle_gets_past_an_immortal)
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

/* Some stay of those that come, more and more. */
START_TEST(recycle_among_more_and_more)
{
	enum { WINDOW = 100, STEPS = 100000, STAYS = 20 };
	uint64_t ring[WINDOW] = {0};
	size_t live = 0;

	begin();
	for (int i = 0; i < STEPS; i++) {
		uint64_t *id = &ring[i % WINDOW];

		if (*id)
			must(cancel(*id) == 0);
		*id = schedule_in_lane(i);
		if (i % STAYS == 0) {
			*id = 0;
			live++;
		}
		if (i % 100 == 0)
			check_told(live + WINDOW);
	}
	bucket_check(bucket);
	ck_assert_uint_ge(run_all(), live);
	end();
}
END_TEST

/*
 * A few stay.  They are carried along, past many that are over; when they are
 * too many for that, they are set aside.
 */
START_TEST(recycle_sets_the_living_aside)
{
	enum { DEAD = 25, MORE = 1000, CALLS = 800 };
	static uint64_t ids[RECYCLE_LOOKS * DEAD + MORE];
	size_t n = 0;

	begin();
	for (int i = 0; i < RECYCLE_LOOKS; i++) {
		for (int k = 0; k < DEAD; k++)
			ids[n++] = schedule_in_lane(i);
		schedule_in_lane(i);
	}
	for (int i = 0; i < MORE; i++)
		ids[n++] = schedule_in_lane(i);
	cancel_all(ids, n);
	for (int i = 0; i < CALLS; i++)
		must(cancel(schedule_in_lane(i)) == 0);
	ck_assert_uint_le(bucket_size(bucket), MORE);
	ck_assert_uint_eq(run_all(), RECYCLE_LOOKS);
	end();
}
END_TEST

/* Those that were set aside and have ended since do not stay there. */
START_TEST(recycle_looks_at_the_old)
{
	enum { WINDOW = 100, OLD = 500, STEPS = 200000, STAYS = 20 };
	static uint64_t ring[WINDOW], old[OLD];
	const unsigned lane = LANE_OLD + lane_at(5 * SECOND);
	size_t n = 0, most = 0;

	begin();
	for (int i = 0; i < STEPS; i++) {
		uint64_t *id = i % STAYS ? &ring[i % WINDOW] : &old[n++ % OLD];

		if (*id)
			must(cancel(*id) == 0);
		*id = schedule_in_lane(i);
		if (in_lane(lane) > most)
			most = in_lane(lane);
	}
	ck_assert_uint_gt(most, OLD / 2);
	ck_assert_uint_le(most, 3 * OLD);
	bucket_check(bucket);
	end();
}
END_TEST

/* Those that stay are the last of a block, behind which it does not look. */
START_TEST(recycle_gets_past_the_end_of_a_block)
{
	for (unsigned stay = 1; stay < RECYCLE_LOOKS; stay++) {
		uint64_t ids[BLOCK_ENTRIES];

		begin();
		for (unsigned i = 0; i < BLOCK_ENTRIES; i++)
			ids[i] = schedule_in_lane(i);
		cancel_all(ids, BLOCK_ENTRIES - stay);
		for (int i = 0; i < 20000; i++) {
			must(cancel(schedule_in_lane(i)) == 0);
			must(bucket_size(bucket) <=
			     2 * BLOCK_ENTRIES + 2 * RESTED);
		}
		bucket_check(bucket);
		ck_assert_uint_eq(run_all(), stay);
		end();
	}
}
END_TEST

/* What was disarmed is of no use; its timer is armed again all the same. */
START_TEST(recycle_drops_entries_of_the_disarmed)
{
	enum { N = 1000 };
	static uint64_t ids[N];

	begin();
	for (int i = 0; i < N; i++) {
		ids[i] = schedule_in_lane(i);
		must(bucket_disarm(bucket, slot_of(ids[i]), ids[i], false,
				   NULL) == 0);
	}
	for (int i = 0; i < 4 * N; i++)
		must(cancel(schedule_in_lane(i)) == 0);
	ck_assert_uint_ge(used(), N);
	for (int i = 0; i < N; i++)
		must(reschedule(ids[i], NOW + HOUR) == 0);
	ck_assert_uint_eq(run_due(NOW + HOUR / 2), 0);
	ck_assert_uint_eq(run_all(), N);
	ck_assert_uint_eq(used(), 0);
	end();
}
END_TEST

/*
 * One stays, some are over at once and some later.  Who is busy with the
 * former, which are the last in the queue, must find the latter too, also where
 * there are many slots.
 */
START_TEST(recycle_finds_quick_and_slow)
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
START_TEST(recycle_finds_old_entries)
{
	enum { WINDOW = 1000, STEPS = 200000 };
	static uint64_t ids[WINDOW];

	begin();
	schedule_in_lane(0);
	for (int i = 0; i < WINDOW; i++)
		ids[i] = schedule_in_lane(STEPS);
	for (int i = 0; i < STEPS; i++) {
		must(cancel(schedule_in_lane(i)) == 0);
		must(reschedule(ids[i % WINDOW],
				NOW + 5 * SECOND + STEPS - i - 1) == 0);
		if (i % 100 == 0)
			check_told(WINDOW + 2);
	}
	end();
}
END_TEST

/* Pairs among timers that stay. */
START_TEST(recycle_among_those_that_stay)
{
	static const size_t windows[] = {50, 300, 3000};

	for (size_t w = 0; w < 3; w++) {
		size_t live = windows[w];

		begin();
		for (size_t i = 0; i < live; i++)
			schedule_in_lane(1000000 + (int64_t)i);
		for (int i = 0; i < 100000; i++) {
			must(cancel(schedule_in_lane(i)) == 0);
			if (i % 100 == 0)
				check_told(live + 1);
		}
		bucket_check(bucket);
		ck_assert_uint_eq(run_all(), live);
		end();
	}
}
END_TEST

/*
 * Those in front stay, as do those at the back, and many between them came to
 * their time: a visit took these.  Their slots are free, so nobody sweeps.
 */
START_TEST(the_driver_is_told_after_a_visit)
{
	enum { STAY = BLOCK_ENTRIES, TAKEN = 700 * BLOCK_ENTRIES };

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
		if (i % 100 == 0)
			check_told(2 * STAY + 1);
	}
	end();
}
END_TEST

/* Many that live are in front of the others, and hide what dies. */
START_TEST(recycle_gets_past_many_that_stay)
{
	enum { FRONT = 20000, WINDOW = 1000, STEPS = 10 * FRONT };
	static uint64_t ring[WINDOW];

	begin();
	for (int i = 0; i < FRONT; i++)
		schedule_in_lane(i);
	for (int i = 0; i < STEPS; i++) {
		uint64_t *id = &ring[i % WINDOW];

		if (i >= WINDOW)
			must(cancel(*id) == 0);
		*id = schedule_in_lane(i);
	}
	ck_assert_uint_le(used(), FRONT + 2 * WINDOW);
	ck_assert_uint_le(slots_room(&bucket->slots), FRONT * 8 / 5);
	bucket_check(bucket);
	end();
}
END_TEST

/* A hundred thousand cancelled at once go as new ones come. */
START_TEST(recycle_drains_a_mass_cancel)
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

/* Has the table a slot for a call, free or without memory? */
static bool may_be_taken(void)
{
	return slots_any(&bucket->slots) || vacancy_next(&bucket->slots) > 0;
}

/* So many and more then, until no slot is free. */
static void use_all_slots(uint64_t *id, size_t n, int64_t then)
{
	for (size_t i = 0; i < n; i++)
		id[i] = schedule(then);
	while (may_be_taken())
		schedule(then);
}

/* It takes no memory for slots if some were cancelled, though it skips. */
START_TEST(recycle_comes_before_memory)
{
	enum { N = 20000 };
	static uint64_t ids[N];
	uint32_t before;

	begin();
	use_all_slots(ids, N, NOW + HOUR);
	before = slots_words(&bucket->slots);
	cancel_all(ids, N);
	bucket->lane[lane_at(HOUR)].skips = 60;
	for (int i = 0; i < N; i++)
		schedule(NOW + HOUR);
	ck_assert_uint_le(slots_words(&bucket->slots), before + 2);
	bucket_check(bucket);
	end();
}
END_TEST

/*
 * Little where they are in a lane to which nobody comes any more: a sweep finds
 * them.
 */
START_TEST(sweeps_come_before_memory)
{
	enum { N = 20000, OWN = 1000 };
	static uint64_t ids[4 * N];

	for (int own = 0; own <= OWN; own += OWN) {
		uint32_t before;
		size_t n = 0;

		begin();
		for (int i = 0; i < own; i++)
			schedule_in_lane(i);
		while (n < N || may_be_taken())
			ids[n++] = schedule(NOW + HOUR);
		before = slots_words(&bucket->slots);
		cancel_all(ids, n);
		for (size_t i = 0; i < n; i++)
			schedule_in_lane((int64_t)i);
		ck_assert_uint_le(slots_words(&bucket->slots) - before,
				  before / 2);
		bucket_check(bucket);
		end();
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		recycle_bounds_garbage,
		recycle_bounds_garbage_in_any_order,
		recycle_gets_past_an_immortal,
		recycle_among_more_and_more,
		recycle_sets_the_living_aside,
		recycle_looks_at_the_old,
		recycle_gets_past_the_end_of_a_block,
		recycle_drops_entries_of_the_disarmed,
		recycle_finds_quick_and_slow,
		recycle_finds_old_entries,
		recycle_among_those_that_stay,
		the_driver_is_told_after_a_visit,
		recycle_gets_past_many_that_stay,
		recycle_drains_a_mass_cancel,
		recycle_comes_before_memory,
		sweeps_come_before_memory,
	};

	return RUN_TESTS("recycling", tests);
}
