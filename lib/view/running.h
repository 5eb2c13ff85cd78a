/* SPDX-License-Identifier: MIT */
/*
 * Which callbacks are running now, for a thread that looks from outside.
 *
 * They are found one after the other, in the order in which they began.  So no
 * list of them is made, and nothing is locked between two of them.  New
 * callbacks may begin all the time, so the caller looks only for those that had
 * begun by a certain time.
 *
 * Any thread, for an instance that lives.
 */
#pragma once

#include "api/instance.h"

/* The position before the first one. */
#define RUNNING_BEGIN ((struct run){.since = INT64_MIN})

/*
 * Stores in *s the one that comes after *s and had begun by the time `by`, on
 * CLOCK_MONOTONIC.  False: there is none.
 */
INTERNAL bool running_next(const struct timerthread *tt, int64_t by,
			   struct run *s);
