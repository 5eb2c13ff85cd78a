/* SPDX-License-Identifier: MIT */
/*
 * How far from now a deadline is, in a few classes.
 *
 * A bucket keeps arrivals of one class together, in a lane.  So what is near
 * can be taken out without touching what is far, most of which will have been
 * cancelled by the time that it is near.
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
 */
#ifndef TT_DISTANCE_H
#define TT_DISTANCE_H

#include <stdint.h>

#define LANES 11

/* Time is counted in ticks of about a millisecond. */
#define TICK_LOG2 20

/* Lane 0 ends after 2 to the power of so many ticks. */
#define NEAR_TICKS_LOG2 3

/* What is due within this is near: that is lane 0. */
#define NEAR_NS (INT64_C(1) << (TICK_LOG2 + NEAR_TICKS_LOG2))

/* Lanes by the highest bit of a distance in ticks. */
extern const unsigned char distance_lanes[64];

/* The base that distances are counted from. */
static inline int64_t distance_base(int64_t now)
{
	return now >> TICK_LOG2;
}

static inline unsigned distance_lane(int64_t base, int64_t deadline)
{
	uint64_t ticks = (uint64_t)(distance_base(deadline) - base);

	/* So that there is a highest bit. */
	return distance_lanes[63 - __builtin_clzll(ticks | 1)];
}

/*
 * In nanoseconds: how long before its time an arrival of this lane may be
 * collected, so that the lane need not be visited again for the next one.  It
 * is a quarter of the least distance in the lane (131 us in lane 0), and at
 * most AHEAD_MAX, because nobody finds it cancelled in that time.
 */
#define AHEAD_MAX (INT64_C(1) << 29)

int64_t distance_ahead(unsigned lane);

#endif
