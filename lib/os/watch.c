/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/watch.h"

void watch_init(struct watch *w, clockid_t clock)
{
	w->clock = clock;
	w->is_virtual = false;
	lock_init(&w->lock);
	w->shown = 0;
}

void watch_init_virtual(struct watch *w, int64_t now)
{
	watch_init(w, CLOCK_MONOTONIC);
	w->is_virtual = true;
	w->shown = now;
}

int64_t watch_virtual_now(struct watch *w)
{
	int64_t now;

	lock_acquire(&w->lock);
	now = w->shown;
	lock_release(&w->lock);
	return now;
}

void watch_set(struct watch *w, int64_t now)
{
	lock_acquire(&w->lock);
	w->shown = now;
	lock_release(&w->lock);
}
