/* SPDX-License-Identifier: MIT */
/*
 * A clock that is cheap to read and shows the time of a moment ago.
 *
 * The kernel has one for CLOCK_MONOTONIC and one for CLOCK_REALTIME.  It shows
 * what the exact clock showed at the last tick; a tick comes every 1 to 10 ms.
 * Measured in a loop of schedule-and-cancel pairs (a virtual machine on an
 * Intel Xeon): a pair with a given deadline costs 34 ns; reading the exact
 * clock adds 43 ns, and reading this one adds 3 ns.  Computing the exact time
 * from the CPU's counter would save less than a sixth of the 43 ns, because
 * reading the counter alone takes 36 ns.
 *
 * How far it is behind: the kernel adds whole ticks, and only at a tick, so
 * this is up to two ticks.  It is more if the interrupt comes late, as in a
 * virtual machine whose CPU for the interrupt waits for its turn.  (The most
 * seen was 2.2 ticks, in a minute with 4 threads on 2 CPUs beside a compiler.)
 * Since Linux 5.18, another CPU adds the ticks when it has found at five of its
 * own ticks that no CPU does.  So the clock is assumed to be COARSE_MIN to
 * COARSE_MAX half ticks behind, as much as the caller permits.
 *
 * Guarantee: coarse_latest is not before the present time, if the clock is not
 * further behind than that; and it is later by at most that much.
 *
 * Any thread, after coarse_init.
 */
#ifndef TT_COARSE_H
#define TT_COARSE_H

#include "os/clock.h"

#include <stdbool.h>

/* In halves of a tick. */
#define COARSE_MIN 5
#define COARSE_MAX 16

struct coarse {
	/* Constant. */
	clockid_t clock;
	int64_t behind; /* upper limit; 0: there is no such clock */
};

/* For this clock.  A result may be too late by at most `error`. */
void coarse_init(struct coarse *c, clockid_t clock, int64_t error);

static inline bool coarse_is_there(const struct coarse *c)
{
	return c->behind > 0;
}

static inline int64_t coarse_latest(const struct coarse *c)
{
	return clock_add(clock_now(c->clock), c->behind);
}

#endif
