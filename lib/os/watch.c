/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/watch.h"

void watch_init(struct watch *w, clockid_t clock)
{
	*w = (struct watch){.clock = clock};
}

void watch_init_virtual(struct watch *w, int64_t now)
{
	*w = (struct watch){
		.clock = CLOCK_MONOTONIC, .is_virtual = true, .shown = now};
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
