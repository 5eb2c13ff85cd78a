/* SPDX-License-Identifier: MIT */
/*
 * When the driver must look into the buckets, and its sleep.
 *
 * A bucket that receives a timer earlier than all that it holds announces it
 * here.  So the driver learns all that it must know from one place: the
 * earliest deadline that waits in any bucket, and which buckets hold anything
 * at all.  It collects them when that deadline is earlier than the earliest of
 * its own, and sleeps when it is not.
 *
 * Guarantees:
 *  1. A timer that waits in a bucket has, whenever that bucket's lock is
 *     free, the bucket's bit set here and a deadline not before `arrivals`,
 *     or the driver is between wakeup_collect and that bucket.
 *  2. No wake-up is lost: the driver does not sleep beyond a deadline that was
 *     announced, and the slack.  Both sides decide under the lock; the futex
 *     word changes there too, so a wake that comes between the decision to
 *     sleep and the sleep ends it.
 *  3. A wake-up is sent only to a driver that sleeps, or has decided to, beyond
 *     the new deadline and the slack, and beyond all that it was sent one for.
 *     A bucket that must be emptied for its size asks for that, at once or
 *     before it is due.
 *     After several wake-ups in a row, with no sleep between that lasted to
 *     its end, the driver sleeps only half as long as it might: what is
 *     announced for the other half then needs no wake-up.  That costs at most
 *     one sleep more for every WAKEUP_ROW wake-ups.
 *  4. Where the sleep is in an event loop of the user's, its descriptor is set
 *     to the time `sleep`, by whoever changes that: each sets it to what it
 *     has found, and does so again if that has changed meanwhile.  So the last
 *     one leaves it right, and the loop wakes for what is due alone.
 *
 * The announcement is made under the bucket's lock (order: bucket, then this
 * one), the system call after both are free.  A thread that is preempted
 * between the two delays its own timer, and those due after it, until it runs
 * again; earlier ones send a wake-up of their own.
 *
 * Any thread: announce, ask, kick, stop, stopping.  The driver: the rest; where
 * it sleeps in a loop, lie_down and rise in the place of sleep.
 * test/model/wakeup.pml is a model for Spin of the way to sleep and of the
 * wake-up, test/model/polled.pml one of the descriptor.
 */
#ifndef TT_WAKEUP_H
#define TT_WAKEUP_H

#include "intake/bucket_set.h"
#include "os/atomic.h"
#include "os/base.h"
#include "os/lock.h"
#include "os/sleeper.h"

#include <stdbool.h>
#include <stdint.h>

/* So many sleeps in a row that a wake-up ended lead to a shorter one. */
#define WAKEUP_ROW 4

struct wakeup {
	struct lock lock;
	/*
	 * The futex.  Written under the lock, read without: it changes when
	 * `arrivals` falls, unless the driver sleeps and may sleep on, and
	 * when stopping is set.
	 */
	atom32 seq;
	atom32 stopping; /* set once, under the lock; read without */
	/* Protected by the lock. */
	int64_t arrivals; /* no timer in a bucket is due earlier */
	int64_t sleep;    /* the driver sleeps until then; INT64_MIN: awake */
	bool kicked;      /* since it lay down: it must not sleep on */
	int64_t asked;    /* it should collect them then, though none is due */
	struct bucket_set listed; /* buckets that may hold timers */
	/* Constant while the driver runs. */
	int64_t slack; /* may sleep so much longer than until a deadline */
	struct sleeper sleeper;
	/* The driver's own: `arrivals` as of `seq` then. */
	uint32_t seen_seq __attribute__((aligned(TT_FAR_APART)));
	int64_t seen_arrivals;
	uint32_t woken; /* sleeps in a row that a wake-up ended */
};

/* Awake, with a slack of 0 and a sleeper on CLOCK_MONOTONIC. */
void wakeup_init(struct wakeup *w);

/*
 * Tells that bucket has received a timer for deadline.  Under the bucket's
 * lock.  Returns whether the caller must call wakeup_kick once it is free.
 */
bool wakeup_announce(struct wakeup *w, uint32_t bucket, int64_t deadline);

void wakeup_kick(struct wakeup *w);

/*
 * A bucket holds so many timers that they are to be collected at this time,
 * before the first is due.  A sleep that lasts longer is cut short; that does
 * not count as a wake-up.  Call it without a lock; if the bucket was collected
 * meanwhile, that is done once more for nothing.
 */
void wakeup_ask(struct wakeup *w, int64_t time);

/* No timer in a bucket is due, or to be collected, earlier than this. */
int64_t wakeup_arrivals(struct wakeup *w);

/*
 * Begins to collect what the buckets hold: hands out which to visit, and takes
 * them off the list.
 */
void wakeup_collect(struct wakeup *w, struct bucket_set *ret_listed);

/* Which buckets may hold timers. */
void wakeup_listed(struct wakeup *w, struct bucket_set *ret_listed);

/*
 * Sleeps until the deadline next and the slack are over, INT64_MAX: for ever,
 * or until there is reason not to.
 */
void wakeup_sleep(struct wakeup *w, int64_t next);

/*
 * From here on the driver sleeps in the loop, until the deadline next, or the
 * earliest in a bucket, and the slack are over.
 */
void wakeup_lie_down(struct wakeup *w, int64_t next);

/* The driver is awake again, and must be told of all that comes. */
void wakeup_rise(struct wakeup *w);

/* Ends this and all later sleeps; in a loop, without waking it. */
void wakeup_stop(struct wakeup *w);

/* Acquire: pairs with the store in wakeup_stop. */
static inline bool wakeup_stopping(const struct wakeup *w)
{
	return atom32_load_acquire(&w->stopping) != 0;
}

#endif
