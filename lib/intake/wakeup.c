/* SPDX-License-Identifier: MIT */
#include "intake/wakeup.h"
#include "base/probe.h"
#include "os/memory.h"

#include <string.h>

/* Earlier than any time until which the driver sleeps. */
#define AWAKE INT64_MIN

void wakeup_init(struct wakeup *w, struct watch *watch)
{
	memset(w, 0, sizeof(*w));
	w->nearest = INT64_MAX;
	w->sleep = w->next = AWAKE;
	w->rest_until = INT64_MIN;
	w->by = INT64_MAX;
	w->watch = watch;
	w->sleeper = (struct sleeper){.clock = CLOCK_MONOTONIC, .fd = -1};
}

bool wakeup_open(struct wakeup *w, uint32_t n)
{
	w->visit_at = memory_alloc(n * sizeof(*w->visit_at));
	if (!w->visit_at)
		return false;
	w->n = n;
	for (uint32_t i = 0; i < n; i++)
		w->visit_at[i] = INT64_MAX;
	return true;
}

void wakeup_close(struct wakeup *w)
{
	memory_free(w->visit_at);
	w->visit_at = NULL;
	w->n = 0;
}

/* The driver is awake from now on, or asleep.  Under the lock. */
static void set_awake(struct wakeup *w, bool awake, int64_t now)
{
	if (awake != (w->awake_time < 0))
		w->awake_time += awake ? -now : now;
}

void wakeup_set_awake(struct wakeup *w, bool awake)
{
	int64_t now = clock_now(CLOCK_MONOTONIC);

	lock_acquire(&w->lock);
	set_awake(w, awake, now);
	lock_release(&w->lock);
}

/*
 * The driver, too, reads the clock before the lock: it may have read earlier.
 */
int64_t wakeup_awake(struct wakeup *w)
{
	int64_t now = clock_now(CLOCK_MONOTONIC), t;

	lock_acquire(&w->lock);
	t = w->awake_time < 0 ? w->awake_time + now : w->awake_time;
	t = w->awake_shown = clock_later(t, w->awake_shown);
	lock_release(&w->lock);
	return t;
}

/*
 * From now on the driver must not sleep, or sleep on.  Under the lock.
 * Release: pairs with the load of a driver that sleeps on a timer (sleeper.c).
 */
static void change_seq(struct wakeup *w)
{
	atom32_store_release(&w->seq, atom32_load(&w->seq) + 1);
}

/* Until when a deadline lets the driver sleep. */
static int64_t sleep_limit(const struct wakeup *w, int64_t deadline)
{
	int64_t until = clock_add(deadline, w->spin > 0 ? -w->spin : w->slack);

	return until > AWAKE ? until : AWAKE + 1;
}

/*
 * As wakeup_owes_kick, under the lock.  The load is relaxed: who has stored
 * that value has made the system call before.
 */
static bool owes_kick(const struct wakeup *w)
{
	return w->sleep != AWAKE && !w->spinning &&
	       atom32_load(&w->sent) != atom32_load(&w->seq);
}

bool wakeup_owes_kick(struct wakeup *w)
{
	bool owes;

	lock_acquire(&w->lock);
	owes = owes_kick(w);
	lock_release(&w->lock);
	return owes;
}

bool wakeup_announce(struct wakeup *w, uint32_t bucket, int64_t deadline)
{
	int64_t until = sleep_limit(w, deadline);
	bool kick;

	lock_acquire(&w->lock);
	w->visit_at[bucket] = deadline;
	if (deadline < w->nearest) {
		w->nearest = deadline;
		if (until < w->sleep) {
			/* Nothing else is earlier than the first. */
			w->sleep = w->wake ? AWAKE + 1 : until;
			w->kicked = true;
			change_seq(w);
		}
	}
	kick = owes_kick(w);
	lock_release(&w->lock);
	return kick;
}

/*
 * In a loop, this has the driver go to sleep again.  A sleep that began before
 * seq was read has ended when the call has returned, and a later one needs no
 * wake-up for what was announced by then.
 */
void wakeup_kick(struct wakeup *w)
{
	uint32_t seq = atom32_load(&w->seq);

	if (w->wake)
		return;
	sleeper_wake(&w->sleeper, &w->seq);
	wakeup_called(w, seq);
}

/*
 * Relaxed: the thread finds what it has announced itself, or a later value.  A
 * thread that was held up, and whose value of seq is older than sent, has
 * nothing to call for.
 */
bool wakeup_calls(const struct wakeup *w, uint32_t *seq)
{
	*seq = atom32_load(&w->seq);
	return (int32_t)(*seq - atom32_load(&w->sent)) > 0;
}

/*
 * So sent only grows: a thread that was held up does not undo what has been
 * stored since.  Relaxed: an old value causes a needless call.
 */
void wakeup_called(struct wakeup *w, uint32_t seq)
{
	uint32_t sent = atom32_load(&w->sent);

	if ((int32_t)(seq - sent) > 0)
		(void)atom32_swap(&w->sent, sent, seq);
}

int64_t wakeup_nearest(struct wakeup *w)
{
	int64_t t;

	lock_acquire(&w->lock);
	t = w->nearest;
	lock_release(&w->lock);
	return t;
}

/* Under the lock. */
static void hand_out(struct wakeup *w, int64_t by, struct bucket_set *due)
{
	w->nearest = INT64_MAX;
	for (uint32_t i = 0; i < w->n; i++) {
		if (w->visit_at[i] <= by) {
			bucket_set_add(due, i);
			w->visit_at[i] = INT64_MAX;
		} else if (w->visit_at[i] < w->nearest) {
			w->nearest = w->visit_at[i];
		}
	}
}

struct bucket_set wakeup_collect(struct wakeup *w, int64_t by)
{
	struct bucket_set due = {0};

	lock_acquire(&w->lock);
	if (w->nearest <= by && w->nearest < INT64_MAX)
		hand_out(w, by, &due);
	lock_release(&w->lock);
	return due;
}

/* Under the lock.  What was announced before needs no wake-up any more. */
static void set_asleep(struct wakeup *w, int64_t next, int64_t until)
{
	w->sleep = until;
	w->next = next;
	w->kicked = false;
	atom32_store(&w->sent, atom32_load(&w->seq));
}

int64_t wakeup_next(struct wakeup *w)
{
	int64_t t;

	lock_acquire(&w->lock);
	t = w->next < w->nearest ? w->next : w->nearest;
	if (w->wake && w->sleep != AWAKE)
		set_asleep(w, w->next, sleep_limit(w, t));
	lock_release(&w->lock);
	return t;
}

/*
 * When the driver must wake up for its own first deadline, for the earliest in
 * a bucket, or for another reason.  If that has passed: now, whatever the
 * slack.  Under the lock.
 */
static int64_t sleep_until(const struct wakeup *w, int64_t next, int64_t now)
{
	int64_t own = clock_later(next, w->rest_until);
	int64_t deadline = own < w->nearest ? own : w->nearest;
	int64_t until = sleep_limit(w, deadline);

	if (deadline <= now || w->by <= now)
		return AWAKE + 1;
	/* After several that a wake-up ended, one sleep is shorter. */
	if (unlikely(w->woken >= WAKEUP_ROW) && until > now)
		until = now + (until / 2 - now / 2);
	return until < w->by ? until : w->by;
}

/* Under the lock, which it releases.  steady is by CLOCK_MONOTONIC. */
static void leave_asleep(struct wakeup *w, int64_t next, int64_t until,
			 int64_t steady)
{
	set_asleep(w, next < w->by ? next : w->by, until);
	set_awake(w, false, steady);
	lock_release(&w->lock);
	PROBE1(sleep, until);
}

bool wakeup_sleep(struct wakeup *w, int64_t next, int64_t now)
{
	int64_t until, steady = clock_now(CLOCK_MONOTONIC);
	uint32_t seq;

	lock_acquire(&w->lock);
	seq = atom32_load(&w->seq);
	until = sleep_until(w, next, now);
	if (until <= now || wakeup_stopping(w)) {
		lock_release(&w->lock);
		return false;
	}
	leave_asleep(w, next, until, steady);
	sleeper_sleep(&w->sleeper, &w->seq, seq, until);
	wakeup_end_sleep(w);
	return true;
}

/* If the wall clock is set back, there is more time left than the spin. */
static bool is_near(const struct wakeup *w, int64_t deadline)
{
	int64_t left = deadline - watch_now(w->watch);

	return left > 0 && left <= w->spin;
}

void wakeup_spin(struct wakeup *w, int64_t next)
{
	uint32_t seq;

	lock_acquire(&w->lock);
	seq = atom32_load(&w->seq);
	w->spinning = w->nearest >= next && !wakeup_stopping(w);
	if (!w->spinning) {
		lock_release(&w->lock);
		return;
	}
	set_asleep(w, next, sleep_limit(w, next));
	lock_release(&w->lock);
	/*
	 * Relaxed: what was changed with it is read under the lock, below and
	 * later.
	 */
	while (atom32_load(&w->seq) == seq && is_near(w, next))
		spin_relax();
	lock_acquire(&w->lock);
	w->spinning = false;
	w->sleep = w->next = AWAKE;
	lock_release(&w->lock);
}

/* What the descriptor must be set to. */
static int64_t descriptor_time(struct wakeup *w)
{
	int64_t t;

	lock_acquire(&w->lock);
	t = wakeup_stopping(w) ? INT64_MIN : w->sleep;
	lock_release(&w->lock);
	return t;
}

/*
 * A kick may come after due and before the descriptor is set: then the setting
 * undoes the kick.  So this is repeated until nothing has changed.
 */
static void set_descriptor(struct wakeup *w)
{
	int64_t set, t;

	/* The program wakes its loop. */
	if (w->sleeper.fd < 0)
		return;
	t = descriptor_time(w);
	do {
		set = t;
		sleeper_set(&w->sleeper, t);
		t = descriptor_time(w);
	} while (t != set);
}

void wakeup_begin_sleep(struct wakeup *w, int64_t next)
{
	int64_t now = watch_now(w->watch), steady = clock_now(CLOCK_MONOTONIC);

	lock_acquire(&w->lock);
	leave_asleep(w, next, sleep_until(w, next, now), steady);
	set_descriptor(w);
}

void wakeup_end_sleep(struct wakeup *w)
{
	int64_t now = clock_now(CLOCK_MONOTONIC);
	bool kicked;

	lock_acquire(&w->lock);
	kicked = w->kicked;
	set_awake(w, true, now);
	w->woken = w->kicked ? w->woken + 1 : 0;
	counter_add(&w->wakeups, 1);
	counter_add(&w->early, w->kicked);
	w->sleep = w->next = AWAKE;
	/* It finds itself what was announced, or that it was stopped. */
	if (w->wake)
		atom32_store(&w->sent, atom32_load(&w->seq));
	lock_release(&w->lock);
	PROBE1(wake, kicked);
}

void wakeup_stop(struct wakeup *w)
{
	lock_acquire(&w->lock);
	atom32_store(&w->stopping, 1);
	/* Else the loop is woken already, and has not asked since. */
	if (!w->wake || !w->kicked)
		change_seq(w);
	w->sleep = AWAKE;
	lock_release(&w->lock);
	wakeup_kick(w);
}
