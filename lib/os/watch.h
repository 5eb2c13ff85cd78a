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
#include "os/coarse.h"
#include "os/lock.h"

#include <stdbool.h>

struct watch {
	/* Constant. */
	clockid_t clock;      /* the kernel's clock, to sleep on and to show */
	struct coarse coarse; /* for times that need not be exact */
	bool is_virtual;      /* if so, `shown` is what it shows */
	struct lock lock;
	int64_t shown; /* protected by the lock */
};

/*
 * Makes it show a clock of the kernel.  A result of watch_after may be too late
 * by at most `error`.
 */
void watch_init(struct watch *w, clockid_t clock, int64_t error);

/* Makes it a virtual clock. */
void watch_init_virtual(struct watch *w, int64_t now);

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

/* What it will show when the delay is over, or a later time. */
static inline int64_t watch_after(struct watch *w, int64_t delay)
{
	if (delay > 0 && coarse_is_there(&w->coarse))
		return clock_add(coarse_latest(&w->coarse), delay);
	return clock_add(watch_now(w), delay);
}

#endif
