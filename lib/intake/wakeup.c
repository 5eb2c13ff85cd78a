/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/wakeup.h"
#include "os/clock.h"

#include <string.h>

/* No time that the driver sleeps until is as early. */
#define AWAKE INT64_MIN

void wakeup_init(struct wakeup *w)
{
	memset(w, 0, sizeof(*w));
	lock_init(&w->lock);
	w->arrivals = INT64_MAX;
	w->asked = INT64_MAX;
	w->sleep = AWAKE;
	w->seen_arrivals = INT64_MAX;
	w->sleeper = (struct sleeper){CLOCK_MONOTONIC, -1, false};
}

/*
 * Tells the driver to look: it is awake, or must not sleep on.  Under the
 * lock.  Release: pairs with the load in wakeup_arrivals.
 */
static void change(struct wakeup *w)
{
	atom32_store_release(&w->seq, atom32_load(&w->seq) + 1);
}

/* How long a deadline lets the driver sleep. */
static int64_t latest(const struct wakeup *w, int64_t deadline)
{
	int64_t until = clock_add(deadline, w->slack);

	return until > AWAKE ? until : AWAKE + 1;
}

bool wakeup_announce(struct wakeup *w, uint32_t bucket, int64_t deadline)
{
	int64_t until = latest(w, deadline);
	bool kick = false;

	lock_acquire(&w->lock);
	bucket_set_add(&w->listed, bucket);
	if (deadline < w->arrivals) {
		w->arrivals = deadline;
		kick = until < w->sleep;
		if (kick) {
			w->sleep = until;
			w->kicked = true;
		}
		if (kick || w->sleep == AWAKE)
			change(w);
	}
	lock_release(&w->lock);
	return kick;
}

/* When the driver wakes up.  Under the lock. */
static int64_t wakes_at(const struct wakeup *w)
{
	int64_t asked = latest(w, w->asked);

	return asked < w->sleep ? asked : w->sleep;
}

void wakeup_ask(struct wakeup *w, int64_t time)
{
	bool kick = false;

	lock_acquire(&w->lock);
	if (time < w->asked) {
		kick = latest(w, time) < wakes_at(w);
		w->asked = time;
		if (kick || w->sleep == AWAKE)
			change(w);
	}
	lock_release(&w->lock);
	if (kick)
		wakeup_kick(w);
}

/* What the descriptor must be set to; AWAKE: whoever is awake will see to it */
static int64_t due(struct wakeup *w)
{
	int64_t t;

	lock_acquire(&w->lock);
	t = wakeup_stopping(w) ? INT64_MAX : wakes_at(w);
	lock_release(&w->lock);
	return t;
}

static void set_descriptor(struct wakeup *w)
{
	int64_t set, t = due(w);

	do {
		set = t;
		if (t != AWAKE)
			sleeper_set(&w->sleeper, t);
		t = due(w);
	} while (t != set);
}

void wakeup_kick(struct wakeup *w)
{
	if (w->sleeper.polled)
		set_descriptor(w);
	else
		sleeper_wake(&w->sleeper, &w->seq);
}

/* By when the driver must look into the buckets.  Under the lock. */
static int64_t expected(const struct wakeup *w)
{
	return w->asked < w->arrivals ? w->asked : w->arrivals;
}

/* Under the lock. */
static void see(struct wakeup *w)
{
	w->seen_seq = atom32_load(&w->seq);
	w->seen_arrivals = expected(w);
}

int64_t wakeup_arrivals(struct wakeup *w)
{
	/* Acquire: pairs with the store in change(). */
	if (atom32_load_acquire(&w->seq) != w->seen_seq) {
		lock_acquire(&w->lock);
		see(w);
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
	w->asked = INT64_MAX;
	see(w);
	lock_release(&w->lock);
}

void wakeup_listed(struct wakeup *w, struct bucket_set *ret_listed)
{
	lock_acquire(&w->lock);
	*ret_listed = w->listed;
	lock_release(&w->lock);
}

static int64_t halfway(const struct wakeup *w, int64_t until)
{
	int64_t now = clock_now(w->sleeper.clock);

	return until > now ? now + (until / 2 - now / 2) : until;
}

/*
 * A sleep has ended.  Is it to go on?  It is, if no wake-up ended it and it was
 * not to end by now: it was cut short by wakeup_ask, or ended for no reason.
 */
static bool sleeps_on(struct wakeup *w, uint32_t *seq, int64_t *until)
{
	int64_t now = clock_now(w->sleeper.clock);
	bool kicked;

	lock_acquire(&w->lock);
	kicked = w->kicked || wakeup_stopping(w);
	*seq = atom32_load(&w->seq);
	*until = wakes_at(w);
	lock_release(&w->lock);
	return !kicked && *until > now;
}

void wakeup_sleep(struct wakeup *w, int64_t next)
{
	int64_t until = latest(w, next);
	uint32_t seq;

	if (unlikely(w->woken >= WAKEUP_ROW))
		until = halfway(w, until);
	lock_acquire(&w->lock);
	seq = atom32_load(&w->seq);
	if (expected(w) < next || wakeup_stopping(w)) {
		lock_release(&w->lock);
		return;
	}
	w->sleep = until;
	w->kicked = false;
	lock_release(&w->lock);

	do
		sleeper_sleep(&w->sleeper, &w->seq, seq, until);
	while (sleeps_on(w, &seq, &until));

	wakeup_rise(w);
}

void wakeup_lie_down(struct wakeup *w, int64_t next)
{
	lock_acquire(&w->lock);
	w->sleep = latest(w, next < w->arrivals ? next : w->arrivals);
	lock_release(&w->lock);
	set_descriptor(w);
}

void wakeup_rise(struct wakeup *w)
{
	lock_acquire(&w->lock);
	w->woken = w->kicked ? w->woken + 1 : 0;
	w->sleep = AWAKE;
	see(w);
	lock_release(&w->lock);
}

void wakeup_stop(struct wakeup *w)
{
	lock_acquire(&w->lock);
	/* Release: pairs with the load in wakeup_stopping. */
	atom32_store_release(&w->stopping, 1);
	change(w);
	w->sleep = AWAKE;
	lock_release(&w->lock);
	wakeup_kick(w);
}
