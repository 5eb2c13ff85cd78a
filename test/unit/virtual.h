/* SPDX-License-Identifier: MIT */
/*
 * An instance on a virtual clock, which the test moves.
 */
#pragma once

#include "called.h"

static inline void begin(int64_t first)
{
	setup();
	ck_assert_int_eq(timerthread_start_virtual(tt, first), 0);
}

static inline int advance(int64_t ns)
{
	return timerthread_advance(tt, ns);
}

/* The nearest that exists, as the library's sums. */
static inline int64_t plus(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

/* Where a clock may begin. */
static const int64_t begins[] = {
	0,
	1,
	-1,
	1000,
	-1000,
	HOUR,
	-HOUR,
	INT64_MIN,
	INT64_MIN + 1,
	INT64_MAX / 2,
	INT64_MAX - 1000,
	INT64_MAX - 1,
	INT64_MAX,
};

enum { BEGINS = sizeof(begins) / sizeof(begins[0]) };

/* The checks of Check write a message each, and here are millions. */
#define SAME(a, b) same(a, b, __LINE__)

static inline void same(int64_t a, int64_t b, int line)
{
	if (a != b)
		ck_abort_msg("line %d: %" PRId64 " is not %" PRId64
			     ", TT_SEED=%" PRIu64,
			     line, a, b, test_seed());
}
