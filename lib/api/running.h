/* SPDX-License-Identifier: MIT */
/*
 * Which callbacks are running now, for who looks from outside.
 *
 * They are found one after the other, in the order of when they began: so no
 * list of them is made, and nothing is locked meanwhile.
 *
 * Any thread; of an instance that lives.
 */
#ifndef TT_RUNNING_H
#define TT_RUNNING_H

#include "api/instance.h"

/* Before the first. */
#define RUNNING_BEGIN ((struct sighting){.since.steady = INT64_MIN})

/* The one that comes after *s, into *s.  False: there is none. */
bool running_next(const struct timerthread *tt, struct sighting *s);

/* How long the one runs that runs the longest; 0: none does. */
int64_t running_longest(const struct timerthread *tt);

#endif
