/* SPDX-License-Identifier: MIT */
/*
 * Time as the library counts it: signed 64-bit nanoseconds.  And the clock of
 * an instance, a watch: a clock of the kernel, or a virtual one, which shows
 * the time that it was last set to.
 *
 * The driver: watch_set.  The rest: any thread.
 */
#pragma once

#include "os/lock.h"

#include <time.h>

#define NS_PER_S 1000000000

INTERNAL int64_t clock_now(clockid_t clock);

/* Its name, for people; NULL: nothing here can sleep on this clock. */
INTERNAL const char *clock_name(clockid_t clock);

/* t is not negative. */
INTERNAL struct timespec clock_timespec(int64_t t);

/* a + b; saturates at INT64_MIN and INT64_MAX. */
INTERNAL int64_t clock_add(int64_t a, int64_t b);

static inline int64_t clock_later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

struct watch {
	/* Constant. */
	clockid_t clock; /* the kernel's clock, to sleep on and to show */
	bool is_virtual; /* if so, `shown` is what it shows */
	struct lock lock;
	int64_t shown; /* protected by the lock */
};

/* A virtual clock that shows the time t. */
#define WATCH_VIRTUAL(t)                                                       \
	((struct watch){                                                       \
		.clock = CLOCK_MONOTONIC, .is_virtual = true, .shown = (t)})

INTERNAL int64_t watch_virtual_now(struct watch *w);
INTERNAL void watch_set(struct watch *w, int64_t now);

/* Does it always go on: is it never set back, and does it never stand still? */
static inline bool watch_goes_on(const struct watch *w)
{
	return !w->is_virtual && w->clock != CLOCK_REALTIME;
}

static inline int64_t watch_now(struct watch *w)
{
	return w->is_virtual ? watch_virtual_now(w) : clock_now(w->clock);
}
