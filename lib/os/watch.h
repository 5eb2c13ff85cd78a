/* SPDX-License-Identifier: MIT */
/*
 * What an instance tells the time by: a clock of the kernel's, or a virtual
 * one, which shows what it was set to last.
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
	clockid_t clock;      /* the kernel's: to sleep on, and to show */
	struct coarse coarse; /* for times that need not be exact */
	bool is_virtual;      /* but it shows this: */
	struct lock lock;
	int64_t shown; /* protected by the lock */
};

/*
 * Shows a clock of the kernel's.  A time that watch_after gives may be later by
 * error.
 */
void watch_init(struct watch *w, clockid_t clock, int64_t error);

/* Makes it a virtual one. */
void watch_init_virtual(struct watch *w, int64_t now);

int64_t watch_virtual_now(struct watch *w);
void watch_set(struct watch *w, int64_t now);

/* Is it never set back, nor stands still? */
static inline bool watch_goes_on(const struct watch *w)
{
	return !w->is_virtual && w->clock != CLOCK_REALTIME;
}

static inline int64_t watch_now(struct watch *w)
{
	return w->is_virtual ? watch_virtual_now(w) : clock_now(w->clock);
}

/* What it will show when delay is over, or a time after that. */
static inline int64_t watch_after(struct watch *w, int64_t delay)
{
	if (delay > 0 && coarse_is_there(&w->coarse))
		return clock_add(coarse_latest(&w->coarse), delay);
	return clock_add(watch_now(w), delay);
}

#endif
