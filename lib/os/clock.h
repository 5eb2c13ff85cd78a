/* SPDX-License-Identifier: MIT */
/*
 * Time as the library counts it: signed 64-bit nanoseconds.
 */
#ifndef TT_CLOCK_H
#define TT_CLOCK_H

#include "os/base.h"

#include <stdint.h>
#include <time.h>

int64_t clock_now(clockid_t clock);

/* For people. */
const char *clock_name(clockid_t clock);

/* The nearest value that exists, whatever the two are. */
int64_t clock_from_timespec(int64_t s, int64_t ns);

/* A time that is not negative. */
struct timespec clock_timespec(int64_t t);

/* a + b, or the nearest value that exists. */
int64_t clock_add(int64_t a, int64_t b);

#endif
