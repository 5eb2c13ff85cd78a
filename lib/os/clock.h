/* SPDX-License-Identifier: MIT */
/*
 * Time as the library counts it: signed 64-bit nanoseconds.
 */
#ifndef TT_CLOCK_H
#define TT_CLOCK_H

#include "base/base.h"

#include <stdint.h>
#include <time.h>

#define NS_PER_S 1000000000

int64_t clock_now(clockid_t clock);

/* The clock's name, for people. */
const char *clock_name(clockid_t clock);

/* s and ns may have any value; saturates at INT64_MIN and INT64_MAX. */
int64_t clock_from_timespec(int64_t s, int64_t ns);

/* t is not negative. */
struct timespec clock_timespec(int64_t t);

/* a + b; saturates at INT64_MIN and INT64_MAX. */
int64_t clock_add(int64_t a, int64_t b);

static inline int64_t clock_later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

#endif
