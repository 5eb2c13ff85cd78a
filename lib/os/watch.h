/* SPDX-License-Identifier: MIT */
/*
 * The clock of an instance: a clock of the kernel, or a virtual one, which
 * shows the time that it was last set to.
 *
 * Any thread: now.  The driver: set.
 */
#ifndef TT_WATCH_H
#define TT_WATCH_H

#include "os/clock.h"
#include "os/lock.h"

#include <stdbool.h>

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

int64_t watch_virtual_now(struct watch *w);
void watch_set(struct watch *w, int64_t now);

/* Does it always go on: is it never set back, and does it never stand still? */
static inline bool watch_goes_on(const struct watch *w)
{
	return !w->is_virtual && w->clock != CLOCK_REALTIME;
}

static inline int64_t watch_now(struct watch *w)
{
	return w->is_virtual ? watch_virtual_now(w) : clock_now(w->clock);
}

#endif
