/* SPDX-License-Identifier: MIT */
/*
 * When the driver must look into the buckets, and its sleep.
 *
 * A bucket that receives a timer earlier than all that it holds announces it
 * here.  So the driver learns all that it must know from one place: the
 * earliest deadline that waits in each bucket, or a time before that, and in
 * any.  It visits a bucket then, and sleeps until then, or until the first of
 * what it has itself.
 *
 * Guarantees:
 *  1. A timer that waits in a bucket has, whenever that bucket's lock is
 *     free, a deadline not before the bucket's time here; or the driver is
 *     between wakeup_collect and the end of its visit to that bucket.
 *  2. No wake-up is lost: the driver does not sleep beyond a deadline that was
 *     announced, and the slack; or, if it spins, beyond the time of its spin
 *     before that.  Both sides decide under the lock; the futex
 *     word changes there too, so a wake that comes between the decision to
 *     sleep and the sleep ends it.
 *  3. A wake-up is sent only to a driver that sleeps, or has decided to, beyond
 *     the new deadline and the slack, and beyond all that it was sent one for.
 *     After several wake-ups in a row, with no sleep between that lasted to
 *     its end, the driver sleeps only half as long as it might: what is
 *     announced for the other half then needs no wake-up.  That costs at most
 *     one sleep more for every WAKEUP_ROW wake-ups.
 *  4. Where the sleep is in an event loop of the program, its descriptor is
 *     set to a time by the driver alone, when it lies down.  A kick makes it
 *     readable at once, and the loop has the driver lie down again.  So nobody
 *     sets it to a later time than another has announced, however long it takes
 *     between its announcement and its system call.
 *
 * The announcement is made under the bucket's lock (order: bucket, then this
 * one), the system call after both are free.  A thread that is preempted
 * between the two delays its own timer, and those due after it, until it runs
 * again; earlier ones send a wake-up of their own.
 *
 * Any thread: announce, earliest, next, kick, stop, stopping.  The driver: the
 * rest; where it sleeps in a loop, lie_down and rise in the place of sleep.
 * test/model/wakeup.pml is a model for Spin of the way to sleep and of the
 * wake-up, test/model/polled.pml one of the descriptor.
 */
#ifndef TT_WAKEUP_H
#define TT_WAKEUP_H

#include "intake/bucket_set.h"
#include "os/atomic.h"
#include "os/base.h"
#include "os/counter.h"
#include "os/lock.h"
#include "os/sleeper.h"
#include "os/watch.h"

#include <stdbool.h>
#include <stdint.h>

/* So many sleeps in a row that a wake-up ended lead to a shorter one. */
#define WAKEUP_ROW 4

struct wakeup {
	struct lock lock;
	/*
	 * The futex.  Written under the lock, read without: it changes when
	 * the driver is not to sleep on, and when stopping is set.
	 */
	atom32 seq;
	atom32 stopping; /* set once, under the lock; read without */
	/* Protected by the lock. */
	int64_t arrivals; /* no timer in a bucket is due earlier */
	int64_t sleep;    /* the driver sleeps until then; INT64_MIN: awake */
	int64_t next;     /* the first that it has itself; INT64_MIN: awake */
	bool kicked;      /* since it lay down: it must not sleep on */
	bool spinning;    /* it watches seq in the place of a sleep */
	/* Written under the lock, read by any thread. */
	struct counter wakeups; /* sleeps that have ended */
	struct counter early;   /* of those, because of an arrival */
	/* Protected by the lock; by CLOCK_MONOTONIC. */
	int64_t awake;       /* how long it was, until it slept last */
	int64_t awake_since; /* INT64_MAX: it is not now */
	int64_t *visit;      /* the same as arrivals for each bucket */
	/* Constant while the driver runs. */
	uint32_t n;    /* buckets */
	int64_t slack; /* may sleep so much longer than until a deadline */
	int64_t spin;  /* or is awake so much before it; 0: that is not so */
	struct watch *watch;
	struct sleeper sleeper;
	/* The driver's own. */
	uint32_t woken; /* sleeps in a row that a wake-up ended */
	int64_t rested; /* what it has itself ends no sleep before this */
};

/* Awake, with a slack of 0, a sleeper on CLOCK_MONOTONIC, and no buckets. */
void wakeup_init(struct wakeup *w, struct watch *watch);

/* Makes what it needs for n buckets.  False: no memory. */
bool wakeup_open(struct wakeup *w, uint32_t n);
void wakeup_close(struct wakeup *w);

/*
 * Tells that bucket has received a timer for deadline.  Under the bucket's
 * lock.  Returns whether the caller must call wakeup_kick once it is free.
 */
bool wakeup_announce(struct wakeup *w, uint32_t bucket, int64_t deadline);

void wakeup_kick(struct wakeup *w);

/*
 * A timer that is armed now is not due before this, though its deadline may
 * have passed: so nobody who asks for "as soon as possible" again and again
 * comes before others.  It lets the driver sleep no longer.  But the wall clock
 * may be set back, and a virtual one stands still: there it keeps its deadline.
 */
static inline int64_t wakeup_earliest(const struct wakeup *w, int64_t now)
{
	return watch_goes_on(w->watch) ? clock_add(now, -w->slack) : INT64_MIN;
}

/* No timer in a bucket is due earlier than this. */
int64_t wakeup_arrivals(struct wakeup *w);

/* No timer at all is; INT64_MIN: the driver is awake.  Any thread. */
int64_t wakeup_next(struct wakeup *w);

/*
 * How long the driver has been awake; on a virtual clock 0, where the test is
 * the driver.  Any thread.
 */
int64_t wakeup_awake(struct wakeup *w);

/* The driver's thread begins, or ends, awake. */
void wakeup_begin(struct wakeup *w);
void wakeup_end(struct wakeup *w);

/*
 * Begins to collect what is due by this time: hands out which buckets to visit,
 * and sets their times to never.  False: none.
 */
bool wakeup_collect(struct wakeup *w, int64_t by, struct bucket_set *ret_due);

/*
 * Sleeps until the deadline next, or the earliest in a bucket, and the slack
 * are over, INT64_MAX: for ever, or until there is reason not to.  Not at all
 * if such a deadline is no later than now: false.  The timer has some slack
 * left, but a driver that is awake runs it for less than a wake-up costs.  Half
 * a million a second (in a virtual machine of two CPUs) with a slack of 40 us
 * took 8 % less CPU and were 2 us less late in the middle than if the slack was
 * slept away.
 */
bool wakeup_sleep(struct wakeup *w, int64_t next, int64_t now);

/*
 * Watches the clock, as if it slept, until the deadline next, which is no later
 * than the spin from now; or until there is reason not to.
 */
void wakeup_spin(struct wakeup *w, int64_t next);

/*
 * From here on the driver sleeps in the loop, until the deadline next, or the
 * earliest in a bucket, and the slack are over.
 */
void wakeup_lie_down(struct wakeup *w, int64_t next);

/* The driver is awake again, and needs no wake-up. */
void wakeup_rise(struct wakeup *w);

/* Ends this and all later sleeps; a loop's descriptor stays readable. */
void wakeup_stop(struct wakeup *w);

/* Nothing is read because this was true: so it acquires nothing. */
static inline bool wakeup_stopping(const struct wakeup *w)
{
	return atom32_load(&w->stopping) != 0;
}

#endif
