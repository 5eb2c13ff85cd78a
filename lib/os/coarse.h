/* SPDX-License-Identifier: MIT */
/*
 * A clock that is cheap to read and shows the time of a moment ago.
 *
 * The kernel has one for CLOCK_MONOTONIC and for CLOCK_REALTIME: it shows what
 * the clock showed at a tick, each 1 to 10 ms.  In the loop of a pair, with a
 * deadline given 34 ns, the clock takes 43 ns more and this one 3 (a virtual
 * machine on an Intel Xeon).  To carry on an exact time by the CPU's counter
 * saves less than a sixth there: the counter alone takes 36 ns of those 43.
 *
 * How far it is behind: the kernel adds whole ticks, at a tick, so it is up to
 * two.  More where the interrupt comes late: in a virtual machine whose CPU for
 * it waits for its turn.  (Most seen here: 2.2 ticks, in a minute of 4 threads
 * on 2 CPUs beside a compiler.)  Since Linux 5.18 another CPU adds them when
 * five of its own ticks have found that nobody does.  So its time is taken to
 * be COARSE_MIN to COARSE_MAX ticks behind, as much as the caller permits.
 *
 * Guarantee: coarse_latest is not before the present time, if the kernel has
 * added its ticks within that many; and later by at most that much.
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
	int64_t behind; /* at most; 0: there is no such clock */
};

/* For a clock, where a time may be so much too late. */
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
