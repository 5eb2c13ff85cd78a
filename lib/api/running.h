/* SPDX-License-Identifier: MIT */
/*
 * Which callbacks are running now, for a thread that looks from outside.
 *
 * They are found one after the other, in the order of when they began: so no
 * list of them is made, and nothing is locked meanwhile.  New ones
 * may begin all the time: so the caller says by when those have begun that it
 * looks for.
 *
 * Any thread; of an instance that lives.
 */
#ifndef TT_RUNNING_H
#define TT_RUNNING_H

#include "api/instance.h"

/* Before the first. */
#define RUNNING_BEGIN ((struct sighting){.since.steady = INT64_MIN})

/*
 * The one that comes after *s and had begun by then, on CLOCK_MONOTONIC, into
 * *s.  False: there is none.
 */
bool running_next(const struct timerthread *tt, int64_t by, struct sighting *s);

/* How long the one runs that runs the longest; 0: none does. */
int64_t running_longest(const struct timerthread *tt);

#endif
