/* SPDX-License-Identifier: MIT */
/*
 * Points at which a test may delay a thread: before each atomic operation,
 * because these are the steps that other threads see, and where a clock is
 * read.  Only a build for test/torture has them.
 */
#ifndef TT_POINT_H
#define TT_POINT_H

#ifdef TT_TORTURE

#include <stdint.h>

/* Defined by the test.  name: the function that contains the point. */
void torture_point(const char *name);

/* Returns the time to use instead of now, which the clock has shown. */
int64_t torture_clock(int64_t now);

#define POINT()          torture_point(__func__)
#define POINT_CLOCK(now) torture_clock(now)

#else

#define POINT()          ((void)0)
#define POINT_CLOCK(now) (now)

#endif

#endif
