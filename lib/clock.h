/* SPDX-License-Identifier: MIT */
/*
 * Time as the library counts it: signed 64-bit nanoseconds.
 */
#ifndef TT_CLOCK_H
#define TT_CLOCK_H

#include "base.h"

#include <stdint.h>

/* The time on CLOCK_MONOTONIC. */
int64_t clock_now(void);

/* a + b, or the nearest value that exists. */
int64_t clock_add(int64_t a, int64_t b);

#endif
