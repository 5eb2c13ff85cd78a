/* SPDX-License-Identifier: MIT */
/*
 * The cap on the number of an instance's timers: each timer takes a place.
 *
 * If all CPUs changed one number for each timer, that number would limit the
 * speed of all of them.  So the free places lie in shares of two kinds: a
 * common one, and one for each CPU.  A CPU's share takes some places from the
 * common share and gives some back, a batch at a time.  A timer's place comes
 * from the share of the CPU where the timer is scheduled.  It goes to the share
 * of the CPU where the timer is cancelled or has run.
 *
 * When the common share is empty, all others are called in: they are emptied
 * into it and closed.  A closed share holds nothing.  Calls then go to the
 * common share, until it has enough for all CPUs again.
 *
 * Guarantees:
 *  1. There are never more places taken than max.
 *  2. A call is refused a place only if, at some moment during the call, all
 *     places were taken: all shares were closed at that moment, so that no
 *     place was on its way from one share to another, and the common share was
 *     empty.
 *  3. A place that was given back can be taken immediately, on any CPU.
 *  4. Without a cap, nothing shared is written.
 *
 * Millions of pairs (a schedule and a cancel) per second, with 1, 4, 16 and 64
 * threads (simulated):
 *
 *	one number for all	13.5	 9.8	 9.9	 6.8
 *	a share for each CPU	12.8	50.9	204	815
 *
 * If nearly all places are taken, the speed is still that of one number: 5.9
 * with 64 threads and one place less than they need.
 *
 * Any thread: take, give.  test/model/cap.pml is a model of this for Spin.
 */
#pragma once

#include "base/tally.h"
#include "os/cpu.h"
#include "os/lock.h"

/* How many places a CPU's share takes at a time, at most. */
#define CAP_BATCH 64

/* A share that has this many gives a batch back. */
#define CAP_SHARE_MAX (2 * CAP_BATCH)

struct share {
	struct tally places;
	struct lock lock; /* held while places move between shares */
} __attribute__((aligned(TT_FAR_APART)));

struct common_share {
	atomword places; /* any thread changes it */
	/*
	 * Odd: some share may be open.  Incremented when the first share opens,
	 * and when all have been closed.  Written under the lock.
	 */
	atom32 openings;
	struct lock lock; /* for opening and closing; before a share's */
};

/* Constant from cap_open to cap_close. */
struct cap {
	size_t max; /* 0: no cap; set before cap_open */
	struct cpu_map cpus;
	struct share *share; /* one for each CPU */
	/* Behind the other shares, far from what each call reads. */
	struct common_share *common;
};

/* Makes n shares, if there is a cap.  False: no memory. */
INTERNAL bool cap_open(struct cap *c, uint32_t n);
INTERNAL void cap_close(struct cap *c);

INTERNAL bool cap_take_slow(struct cap *c, struct share *p);
INTERNAL void cap_give_slow(struct cap *c, struct share *p);

/*
 * Takes a place from the share of a CPU, usually the caller's.  False: no place
 * is free.
 */
static inline bool cap_take(struct cap *c, uint32_t cpu)
{
	if (likely(c->max == 0))
		return true;
	return likely(tally_add_within(&c->share[cpu].places, -1, 1,
				       TALLY_MAX)) ||
	       cap_take_slow(c, &c->share[cpu]);
}

/* Gives a place back, to the share of the caller's CPU. */
static inline void cap_give(struct cap *c)
{
	struct share *p;

	if (likely(c->max == 0))
		return;
	p = &c->share[cpu_map_pick(&c->cpus)];
	if (unlikely(!tally_add_within(&p->places, 1, 0, CAP_SHARE_MAX - 1)))
		cap_give_slow(c, p);
}
