/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/watch.h"

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
