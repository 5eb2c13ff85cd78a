/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "intake/distance.h"

#define TICK (INT64_C(1) << TICK_LOG2)
#define NOW  (INT64_C(777) << 30)

/* The first tick that is in this lane. */
static int64_t first_tick(unsigned lane)
{
	static const int bits[LANE_OLD] = {0,  3,  5,  7,  9, 11,
					   15, 19, 23, 27, 31};

	return lane == 0 ? 0 : INT64_C(1) << bits[lane];
}

static unsigned lane_of(int64_t base, int64_t ticks)
{
	return distance_lane(distance_base(base), base + ticks * TICK);
}

/* The deadlines of a day are apart as the table in the header says. */
START_TEST(the_table)
{
	const int64_t ms = 1000000, s = 1000 * ms, h = 3600 * s;
	static const struct {
		unsigned lane;
		double below; /* milliseconds */
	} t[] = {
		{0, 8},         {1, 34},         {2, 134},   {3, 537},
		{4, 2.1e3},     {5, 34e3},       {6, 540e3}, {7, 8640e3},
		{8, 39 * 36e5}, {9, 26 * 864e5},
	};

	ck_assert_uint_eq(sizeof(t) / sizeof(t[0]), LANE_OLD - 1);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		int64_t below = (int64_t)(t[i].below * 1e6);
		int64_t base = distance_base(NOW);

		/* It gives two figures. */
		ck_assert_uint_eq(distance_lane(base, NOW + below / 100 * 95),
				  t[i].lane);
		ck_assert_uint_eq(distance_lane(base, NOW + below / 100 * 107),
				  t[i].lane + 1);
	}
	ck_assert_int_gt(NEAR_NS, 8 * ms);
	ck_assert_int_lt(NEAR_NS, 9 * ms);
	ck_assert_uint_eq(distance_lane(distance_base(NOW), NOW + 30 * 24 * h),
			  LANE_OLD - 1);
}
END_TEST

START_TEST(edges_of_the_lanes)
{
	for (unsigned lane = 1; lane < LANE_OLD; lane++) {
		int64_t first = first_tick(lane);

		ck_assert_uint_eq(lane_of(NOW, first - 1), lane - 1);
		ck_assert_uint_eq(lane_of(NOW, first), lane);
		ck_assert_uint_eq(lane_of(NOW, first + 1), lane);
	}
	ck_assert_uint_eq(lane_of(NOW, 100 * first_tick(LANE_OLD - 1)),
			  LANE_OLD - 1);
}
END_TEST

START_TEST(what_has_passed_is_near)
{
	ck_assert_uint_eq(lane_of(NOW, 0), 0);
	ck_assert_uint_eq(lane_of(NOW, -1), 0);
	ck_assert_uint_eq(lane_of(NOW, -100000), 0);
	ck_assert_uint_eq(distance_lane(distance_base(NOW), INT64_MIN), 0);
}
END_TEST

/* Before the time 0, too. */
START_TEST(any_base)
{
	static const int64_t bases[] = {
		0,
		-1,
		1,
		-NOW,
		(INT64_C(1) << (TICK_LOG2 + 32)) - 1,
		INT64_MAX / 2,
	};

	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		for (unsigned lane = 0; lane < LANE_OLD; lane++)
			ck_assert_uint_eq(lane_of(bases[i], first_tick(lane)),
					  lane);
		ck_assert_uint_eq(lane_of(bases[i], -1), 0);
	}
}
END_TEST

START_TEST(the_latest_time)
{
	ck_assert_uint_eq(distance_lane(distance_base(NOW), INT64_MAX),
			  LANE_OLD - 1);
	ck_assert_uint_eq(distance_lane(distance_base(INT64_MIN), INT64_MAX),
			  LANE_OLD - 1);
}
END_TEST

/*
 * Whatever is collected ahead of its time is nearer than all that begins in
 * that lane, by much.
 */
START_TEST(ahead_of_its_time)
{
	int64_t last = 0;

	for (unsigned lane = 0; lane < LANE_OLD; lane++) {
		int64_t ahead = distance_ahead(lane);
		int64_t least = first_tick(lane) << TICK_LOG2;

		ck_assert_int_gt(ahead, 0);
		ck_assert_int_le(ahead, AHEAD_MAX);
		ck_assert_int_ge(ahead, last);
		if (lane > 0)
			ck_assert(ahead == least / 4 ||
				  (ahead == AHEAD_MAX && ahead <= least / 4));
		last = ahead;
	}
	ck_assert_int_lt(distance_ahead(0), NEAR_NS / 4);
	ck_assert_int_eq(last, AHEAD_MAX);
	ck_assert_int_lt(AHEAD_MAX, 600000000);
}
END_TEST

/* Against a count. */
START_TEST(random_distances)
{
	uint64_t rng = test_seed();

	for (int i = 0; i < 100000; i++) {
		int64_t base = (int64_t)(next_random(&rng) >> 2);
		int64_t ticks = (int64_t)(next_random(&rng) >>
					  (33 + random_below(&rng, 31)));
		unsigned lane = LANE_OLD - 1;

		while (ticks < first_tick(lane))
			lane--;
		ck_assert_uint_eq(lane_of(base, ticks), lane);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		the_table,        edges_of_the_lanes, what_has_passed_is_near,
		any_base,         the_latest_time,    ahead_of_its_time,
		random_distances,
	};

	return RUN_TESTS("distance", tests);
}
