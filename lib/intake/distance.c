/* SPDX-License-Identifier: MIT */
/*
 * How wide is a lane?
 *
 * A timer that is not cancelled moves from lane to lane until it is due.  The
 * wider a lane is, the more often the timer goes to the same lane again.  But
 * most timers that are far are cancelled before that, and each lane in use has
 * blocks of its own, and is one more stream of memory for the CPU to follow.
 * So below two seconds each lane ends 4 times as far away as the one before it,
 * and beyond that 16 times.
 *
 * The table shows the CPU time in ns, including loop and clock, for one of a
 * million timers that all expire within two seconds; and for one that is
 * cancelled, with 20,000 and with 100,000 in flight and timeouts from 0.1 to 10
 * s (before rent.c kept the order):
 *
 *	times as wide	expire		cancel
 *	16		1430, 1430	143, 177
 *	8		1300, 1370	159, 174
 *	4, then 16	1260, 1290	166, 189
 *	(expire: with one thread that schedules, and with two)
 */
#include "intake/distance.h"

/* The last one is for distances below zero, which count as zero. */
const unsigned char distance_lanes[64] = {
	0,  0,  0,  1,  1,  2,  2,  3,  3,  4,  4,  5,  5,  5,  5,  6,
	6,  6,  6,  7,  7,  7,  7,  8,  8,  8,  8,  9,  9,  9,  9,  10,
	10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10,
	10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 0,
};
