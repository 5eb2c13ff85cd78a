/* SPDX-License-Identifier: MIT */
/*
 * Points at which a thread may be held up, in a build for test/torture alone:
 * before each atomic operation, which are the steps that other threads see, and
 * where a clock is read.  In any other build nothing is here.
 */
#ifndef TT_POINT_H
#define TT_POINT_H

#ifdef TT_TORTURE

#include <stdint.h>

/* By the test.  The name is that of the function in which the point is. */
void torture_point(const char *name);

/* What the clock is to have shown. */
int64_t torture_clock(int64_t now);

#define POINT()          torture_point(__func__)
#define POINT_CLOCK(now) torture_clock(now)

#else

#define POINT()          ((void)0)
#define POINT_CLOCK(now) (now)

#endif

#endif
