/* SPDX-License-Identifier: MIT */
/*
 * How far from now a deadline is, in a few classes.
 *
 * A bucket keeps arrivals of one class together, in a lane.  So what is near
 * can be taken out without touching what is far, most of which will have been
 * cancelled by the time that it is near.
 *
 * Each class is 16 times as wide as all before it:
 *
 *	lane	0	1	2	3	4	5	6	7
 *	below	8 ms	134 ms	2.1 s	34 s	9 min	2.4 h	39 h	26 d
 *
 * Lane 8 is for the rest.
 *
 * The class is a hint, for it is counted from a time that may be old, and
 * arrivals come nearer while they wait.  A timer in the wrong lane is as safe
 * as in the right one.
 */
#ifndef TT_DISTANCE_H
#define TT_DISTANCE_H

#include <stdint.h>

#define LANES 9

/* Time is counted in ticks of about a millisecond. */
#define TICK_LOG2 20

/* As many ticks are below lane 1; and so many times as wide is each lane. */
#define NEAR_TICKS_LOG2 3
#define LANE_WIDTH_LOG2 4

/* What is due within this is near: that is lane 0. */
#define NEAR_NS (INT64_C(1) << (TICK_LOG2 + NEAR_TICKS_LOG2))

/* The base that distances are counted from.  It may wrap round. */
static inline uintptr_t distance_base(int64_t now)
{
	return (uintptr_t)(now >> TICK_LOG2);
}

static inline unsigned distance_lane(uintptr_t base, int64_t deadline)
{
	intptr_t ticks = (intptr_t)(distance_base(deadline) - base);
	uint64_t wide = (uint64_t)(ticks > 0 ? ticks : 0) >> NEAR_TICKS_LOG2;
	unsigned bits = 63 - (unsigned)__builtin_clzll(wide << 1 | 1);
	unsigned lane = (bits + LANE_WIDTH_LOG2 - 1) / LANE_WIDTH_LOG2;

	return lane < LANES ? lane : LANES - 1;
}

/* In nanoseconds. */
#define AHEAD_MAX (INT64_C(1) << 29)

/*
 * How much ahead of its time an arrival in this lane may be collected, so that
 * the lane need not be visited again for the next one: a quarter of the
 * distance that is the least in the lane, but half a second at most, in which
 * what is cancelled is not yet found.
 */
static inline int64_t distance_ahead(unsigned lane)
{
	int64_t ahead = NEAR_NS / 64;

	for (; lane > 0 && ahead < AHEAD_MAX; lane--)
		ahead <<= LANE_WIDTH_LOG2;
	return ahead < AHEAD_MAX ? ahead : AHEAD_MAX;
}

#endif
