/* SPDX-License-Identifier: MIT */
/*
 * How far from now a deadline is, in a few classes.
 *
 * A bucket keeps arrivals of one class together, in a lane.  So those that are
 * near can be taken out without touching those that are far.  Most of the
 * latter will have been cancelled before they are near.
 *
 *	lane	0	1	2	3	4	5
 *	below	8 ms	34 ms	134 ms	537 ms	2.1 s	34 s
 *
 *	lane	6	7	8	9	10
 *	below	9 min	2.4 h	39 h	26 d	the rest
 *
 * The class is a hint, because it is counted from a time that may be old, and
 * arrivals come nearer while they wait.  A timer in the wrong lane is as safe
 * as in the right one.
 *
 * How wide is a lane?
 *
 * A timer that is not cancelled moves from lane to lane until it is due.  The
 * wider a lane is, the more often the timer goes to the same lane again.  But
 * most timers that are far are cancelled before that, and each lane in use has
 * blocks of its own, and is one more stream of memory for the CPU to follow.
 * So below two seconds each lane ends 4 times as far away as the one before it,
 * and beyond that 16 times.
 *
 * (With eight classes, each 16 times as wide, one of a million timers that all
 * expire within two seconds took 982 ns of CPU time instead of 966, and one
 * that is cancelled as much as so, with two CPUs.)
 */
#pragma once

#include <stdint.h>

/*
 * From LANE_OLD on there is a second lane for each class, for the entries that
 * calls and the driver have put back: those of timers that are old.
 */
#define LANE_OLD 11
#define LANES    (2 * LANE_OLD)

/* Time is counted in ticks of about a millisecond. */
#define TICK_LOG2 20

/* A timer that is due within 8 ticks is near: it belongs to lane 0. */
#define NEAR_NS (INT64_C(8) << TICK_LOG2)

/*
 * The lane for each highest bit of a distance in ticks.  The last one is for
 * distances below zero, which count as zero.
 */
static const unsigned char distance_lanes[64] = {
	0,  0,  0,  1,  1,  2,  2,  3,  3,  4,  4,  5,  5,  5,  5,  6,
	6,  6,  6,  7,  7,  7,  7,  8,  8,  8,  8,  9,  9,  9,  9,  10,
	10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10,
	10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 0,
};

/* The base from which distances are counted, at this time. */
static inline int64_t distance_base(int64_t now)
{
	return now >> TICK_LOG2;
}

static inline unsigned distance_lane(int64_t base, int64_t deadline)
{
	uint64_t ticks = (uint64_t)(distance_base(deadline) - base);

	/* `| 1`, so that there is a highest bit. */
	return distance_lanes[63 - __builtin_clzll(ticks | 1)];
}

/*
 * How long before its deadline, in nanoseconds, an arrival of this lane may be
 * collected, so that the lane need not be visited again for the next one.  It
 * is a quarter of the least distance in the lane (131 us in lane 0).  It is at
 * most AHEAD_MAX, because during that time no call finds the arrival cancelled.
 */
#define AHEAD_MAX (INT64_C(1) << 29)

static inline int64_t distance_ahead(unsigned lane)
{
	int class = (int)(lane % LANE_OLD);
	int log2 = class == 0 ? 17 : 2 * class + 19;

	return INT64_C(1) << log2 < AHEAD_MAX ? INT64_C(1) << log2 : AHEAD_MAX;
}
