/* SPDX-License-Identifier: MIT */
/*
 * When the driver must look into the buckets, and its sleep.
 *
 * A bucket that receives a timer that is earlier than all others in it
 * announces that here.  So the driver learns everything that it must know from
 * one place: the earliest deadline, or a time before it, in each bucket and in
 * all of them.  At that time the driver visits the bucket.  Until then it
 * sleeps, unless one of the timers that it has itself is due earlier.
 *
 * Guarantees:
 *  1. Whenever a bucket's lock is free, no timer that waits in the bucket is
 *     due before the bucket's time here.  Exception: the driver is between
 *     wakeup_collect and the end of its visit to that bucket.
 *  2. No wake-up is lost.  The driver does not sleep past an announced deadline
 *     plus the slack; or, if it spins, past the deadline less the time of its
 *     spin.  Both sides decide under the lock.  The futex word changes under
 *     the lock too, so a wake-up that comes between the decision to sleep and
 *     the sleep ends the sleep.
 *  3. A wake-up is sent only if the driver sleeps, or has decided to sleep,
 *     beyond the new deadline plus the slack, and only if that is earlier than
 *     everything for which a wake-up was sent before; or to help another thread
 *     (see 5).  After several wake-ups in a row, with no sleep between them
 *     that lasted to its end, the driver sleeps only half as long as it might.
 *     Then a timer that is announced for the other half needs no wake-up.  This
 *     costs at most one more sleep for every WAKEUP_ROW wake-ups.  (Deadlines
 *     from 1.9 s down to 0.02 s, each a microsecond earlier than the last: 9
 *     wake-ups, and 59 ns for a pair; without this 750,000, and 506 ns.)
 *  4. If the driver is an event loop, only the driver sets the descriptor's
 *     time, and only when it goes to sleep.  A kick makes the descriptor
 *     readable immediately, and the loop then has the driver go to sleep again.
 *     So no thread sets it to a later time than another has announced, however
 *     long a thread takes between its announcement and its system call.
 *  5. No timer waits for a thread that is held up outside a lock.  The
 *     announcement is made under the bucket's lock (order: bucket, then this
 *     one), the system call when both are free.  A thread may be preempted
 *     between the two.  Until it has made its call, every other thread that
 *     adds a timer to that bucket, or announces one in another bucket, makes
 *     the call, too.
 *  6. If the driver is a loop without a descriptor, the program's function wake
 *     is called instead, at the end of the call that has announced something,
 *     when all locks are free (wakeup_calls).  Once is enough for each sleep:
 *     when it has returned, what is announced needs no other until the loop
 *     asks for the next deadline (wakeup_next), or the driver is awake.  While
 *     a thread is held up in it, other threads call it, too, as in 5.
 *
 * Any thread: announce, earliest, next, awake, kick, owes_kick, calls, called,
 * stop, stopping.  The driver: the rest.  If it sleeps in a loop, begin_sleep
 * and end_sleep take the place of sleep.  test/model/wakeup.pml is a model for
 * Spin of the way to sleep and of the wake-up, test/model/polled.pml one of the
 * descriptor, test/model/wake.pml one of the function.
 */
#pragma once

#include "base/word64.h"
#include "intake/bucket_set.h"
#include "os/clock.h"
#include "os/sleeper.h"
#include "timerthread.h"

/* After this many sleeps in a row that a wake-up ended, one is shorter. */
#define WAKEUP_ROW 4

/*
 * What the buckets want is in visit_at and nearest; what the driver has itself,
 * in next; until when it sleeps, in sleep.  seq changes when it must not sleep
 * on, and sent is the last seq that a system call has followed: so a wake-up is
 * owed while it sleeps and sent is not seq.
 */
struct wakeup {
	/* Constant while the driver runs: calls read it, and nobody writes. */
	struct watch *watch;
	int64_t slack; /* the driver may sleep this much past a deadline */
	int64_t spin;  /* or is awake this much before it; 0: no spin */
	uint32_t n;    /* buckets */
	timerthread_wake_fn *wake; /* instead of the sleeper, if not NULL */
	void *wake_ctx;
	struct sleeper sleeper;
	int64_t *visit_at; /* like nearest, for each bucket; under the lock */
	struct lock lock __attribute__((aligned(TT_FAR_APART)));
	/*
	 * The futex.  Written under the lock, read without it.  It changes when
	 * the driver must not sleep on, and when stopping is set.
	 */
	atom32 seq;
	atom32 stopping; /* set once, under the lock; read without it */
	atom32 sent;     /* a wake-up was sent after seq had this value */
	/* Protected by the lock. */
	int64_t nearest; /* no timer in a bucket is due earlier */
	int64_t sleep;   /* the driver sleeps until then; INT64_MIN: awake */
	int64_t next;    /* its own first deadline; INT64_MIN: awake */
	bool kicked;     /* since it went to sleep: it must not sleep on */
	bool spinning;   /* it watches seq instead of sleeping */
	/* Written under the lock, read by any thread. */
	struct counter wakeups; /* sleeps that have ended */
	struct counter early;   /* of those, the ones that an arrival ended */
	/* Protected by the lock; by CLOCK_MONOTONIC. */
	/* How long it was awake; if it is, less when that began: below 0. */
	int64_t awake_time;
	int64_t awake_shown; /* the largest that wakeup_awake has returned */
	/* Any thread, atomically; see garbage.h. */
	atom32 used;  /* slots, as the buckets have told */
	atom32 limit; /* far above it, the driver is told; or GARBAGE_TOLD */
	/* For the driver only. */
	uint32_t woken;     /* sleeps in a row that a wake-up ended */
	int64_t rest_until; /* its own timers end no sleep before this */
	int64_t by;         /* it is awake then for another reason; no slack */
};

/* Awake, with a slack of 0, a sleeper on CLOCK_MONOTONIC, and no buckets. */
INTERNAL void wakeup_init(struct wakeup *w, struct watch *watch);

/* Allocates what it needs for n buckets.  False: no memory. */
INTERNAL bool wakeup_open(struct wakeup *w, uint32_t n);
INTERNAL void wakeup_close(struct wakeup *w);

/*
 * Announces that the bucket must be visited by this deadline of a timer, or by
 * an earlier time.  Under the bucket's lock.  Returns whether the caller must
 * call wakeup_kick when that lock is free.
 */
INTERNAL bool wakeup_announce(struct wakeup *w, uint32_t bucket,
			      int64_t deadline);

/* Does nothing if the program has a function for it; see wakeup_calls. */
INTERNAL void wakeup_kick(struct wakeup *w);

/*
 * At the end of a call that may have announced something: must it call the
 * program's function, if there is one?  Then wakeup_called(w, *seq) says that
 * it has returned; wakeup_kick does so itself.
 */
INTERNAL bool wakeup_calls(const struct wakeup *w, uint32_t *seq);
INTERNAL void wakeup_called(struct wakeup *w, uint32_t seq);

/*
 * Has a thread announced a timer that must end this sleep of the driver, and
 * perhaps not sent the wake-up yet?
 */
INTERNAL bool wakeup_owes_kick(struct wakeup *w);

/*
 * A timer that is armed now is not due before this, even if its deadline has
 * passed.  So a caller that asks for "as soon as possible" again and again does
 * not overtake other timers.  Exceptions: the wall clock may be set back, and a
 * virtual clock stands still.  With these, the timer keeps its deadline.
 */
static inline int64_t wakeup_earliest(const struct wakeup *w, int64_t now)
{
	return watch_goes_on(w->watch) ? now : INT64_MIN;
}

/* No timer in a bucket is due earlier than this. */
INTERNAL int64_t wakeup_nearest(struct wakeup *w);

/*
 * No timer at all is due earlier than this; INT64_MIN: the driver is awake.  A
 * loop without a descriptor sleeps until then, and is woken for what is
 * earlier.  Any thread.
 */
INTERNAL int64_t wakeup_next(struct wakeup *w);

/*
 * How long the driver has been awake; 0 with a virtual clock, where the test is
 * the driver.  Never less than before.  Any thread.
 */
INTERNAL int64_t wakeup_awake(struct wakeup *w);

/* The driver's thread begins, and is awake; or it ends. */
INTERNAL void wakeup_set_awake(struct wakeup *w, bool awake);

/*
 * Begins to collect everything that is due by this time: returns which buckets
 * to visit, and sets their times to never.
 */
INTERNAL struct bucket_set wakeup_collect(struct wakeup *w, int64_t by);

/*
 * Sleeps until the deadline next, or the earliest in a bucket, plus the slack;
 * INT64_MAX: forever.  Ends earlier if there is a reason.
 *
 * Does not sleep, and returns false, if such a deadline is no later than now.
 * The timer has some slack left then, but a driver that is awake runs it at
 * less cost than that of a wake-up.  Half a million timers per second (in a
 * virtual machine with two CPUs) with a slack of 40 us used 8% less CPU time,
 * and were 2 us less late in the median, than if the driver slept for the rest
 * of the slack.
 */
INTERNAL bool wakeup_sleep(struct wakeup *w, int64_t next, int64_t now);

/*
 * Instead of sleeping, watches the clock until the deadline next, or until
 * there is a reason to stop.  next is no later than the spin from now.
 */
INTERNAL void wakeup_spin(struct wakeup *w, int64_t next);

/*
 * From now on the driver sleeps in the loop, until the deadline next, or the
 * earliest in a bucket, plus the slack.
 */
INTERNAL void wakeup_begin_sleep(struct wakeup *w, int64_t next);

/* The driver is awake again, and needs no wake-up. */
INTERNAL void wakeup_end_sleep(struct wakeup *w);

/* Ends this and all later sleeps; a loop's descriptor stays readable. */
INTERNAL void wakeup_stop(struct wakeup *w);

/* Relaxed: nothing is read because this was true. */
static inline bool wakeup_stopping(const struct wakeup *w)
{
	return atom32_load(&w->stopping) != 0;
}
