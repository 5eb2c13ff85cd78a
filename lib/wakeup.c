/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "futex.h"
#include "wakeup.h"

#include <string.h>

void wakeup_init(struct wakeup *w)
{
	memset(w, 0, sizeof(*w));
	lock_init(&w->lock);
	w->arrivals = INT64_MAX;
	w->sleep = INT64_MIN;
	w->seen_arrivals = INT64_MAX;
}

/* Under the lock.  Release: pairs with the load in wakeup_arrivals. */
static void change(struct wakeup *w)
{
	atom32_store_release(&w->seq, atom32_load(&w->seq) + 1);
}

/* Under the lock.  Is the thread to be woken for what is due at deadline? */
static bool interrupts(struct wakeup *w, int64_t deadline)
{
	if (deadline >= w->sleep)
		return false;
	w->sleep = INT64_MIN;
	return true;
}

bool wakeup_announce(struct wakeup *w, uint32_t bucket, int64_t deadline)
{
	bool kick = false;

	lock_acquire(&w->lock);
	bucket_set_add(&w->listed, bucket);
	if (deadline < w->arrivals) {
		w->arrivals = deadline;
		change(w);
		kick = interrupts(w, deadline);
	}
	lock_release(&w->lock);
	return kick;
}

void wakeup_kick(struct wakeup *w)
{
	futex_wake_one(&w->seq);
}

int64_t wakeup_arrivals(struct wakeup *w)
{
	/* Acquire: pairs with the store in change(). */
	if (atom32_load_acquire(&w->seq) != w->seen_seq) {
		lock_acquire(&w->lock);
		w->seen_seq = atom32_load(&w->seq);
		w->seen_arrivals = w->arrivals;
		lock_release(&w->lock);
	}
	return w->seen_arrivals;
}

void wakeup_collect(struct wakeup *w, struct bucket_set *ret_listed)
{
	lock_acquire(&w->lock);
	*ret_listed = w->listed;
	w->listed = (struct bucket_set){0};
	w->arrivals = INT64_MAX;
	w->seen_arrivals = INT64_MAX;
	w->seen_seq = atom32_load(&w->seq);
	lock_release(&w->lock);
}

void wakeup_sleep(struct wakeup *w, int64_t next)
{
	uint32_t seq;

	lock_acquire(&w->lock);
	seq = atom32_load(&w->seq);
	if (w->arrivals < next || wakeup_stopping(w)) {
		lock_release(&w->lock);
		return;
	}
	w->sleep = next;
	lock_release(&w->lock);

	futex_wait_until(&w->seq, seq, next);

	lock_acquire(&w->lock);
	w->sleep = INT64_MIN;
	lock_release(&w->lock);
}

void wakeup_stop(struct wakeup *w)
{
	lock_acquire(&w->lock);
	/* Release: pairs with the load in wakeup_stopping. */
	atom32_store_release(&w->stopping, 1);
	change(w);
	w->sleep = INT64_MIN;
	lock_release(&w->lock);
	wakeup_kick(w);
}
