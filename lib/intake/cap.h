/* SPDX-License-Identifier: MIT */
/*
 * The cap on an instance's timers: each has a place.
 *
 * A number that all CPUs change for each timer would be the ceiling of them
 * all.  So places that are free lie in two sorts of purse: a common one, and
 * one a CPU, which takes some from the common purse and gives some back, a
 * batch at a time.  A timer's place comes from the purse of the CPU where it is
 * scheduled, and goes to that of the CPU where it is cancelled or has run.
 *
 * When the common purse is empty all others are called in: they are emptied
 * into it and closed.  A purse that is closed holds nothing, and calls go to
 * the common one, until that has enough for all again.
 *
 * Guarantees:
 *  1. There are never more places taken than max.
 *  2. A place is refused only if there was a moment, during the call, at which
 *     all places were taken: all purses were closed then, so that none was on
 *     its way from one purse to another, and the common one was empty.
 *  3. A place that was given back can be taken at once, on any CPU.
 *  4. Where there is no cap, nothing shared is written.
 *
 * Million pairs of a schedule and a cancel a second, of 1, 4, 16 and 64 threads
 * (simulated):
 *
 *	one number for all	13.5	 9.8	 9.9	 6.8
 *	a purse a CPU		12.8	50.9	204	815
 *
 * Where nearly all places are taken it is the former still: with 64 threads and
 * one place less than they need 5.9.
 *
 * Any thread: take, give.  test/model/cap.pml is a model of this for Spin.
 */
#ifndef TT_CAP_H
#define TT_CAP_H

#include "os/cpu.h"
#include "os/lock.h"
#include "os/tally.h"

#include <stddef.h>

/* So many places at most go to a CPU's purse in one go. */
#define CAP_BATCH 64

/* A purse that has as many gives a batch back. */
#define CAP_PURSE_MAX (2 * CAP_BATCH)

struct purse {
	struct tally places;
	struct lock lock; /* places go to the common purse or come from there */
} __attribute__((aligned(TT_FAR_APART)));

struct cap {
	/* Constant from cap_open to cap_close. */
	size_t max; /* 0: no cap; set before that */
	struct cpu_map cpus;
	struct purse *purse; /* one for each of those */
	/*
	 * Odd: some purse may be open.  It counts on when the first one opens
	 * and when all have been closed.  Written under the lock.
	 */
	atom32 openings;
	struct lock lock; /* over opening and closing; before a purse's */
	/*
	 * The common purse.  Any thread changes it, so it lies far from what
	 * each call reads: behind the others.
	 */
	atomword *common;
};

/* Makes n purses, if there is a cap.  False: no memory. */
bool cap_open(struct cap *c, uint32_t n);
void cap_close(struct cap *c);

bool cap_take_slow(struct cap *c, struct purse *p);
void cap_give_slow(struct cap *c, struct purse *p);

/* How many places are free, if nobody takes or gives one; for tests. */
size_t cap_free(struct cap *c);

/*
 * Takes a place, of the purse of a CPU, mostly the caller's.  False: there is
 * none.
 */
static inline bool cap_take(struct cap *c, uint32_t cpu)
{
	if (likely(c->max == 0))
		return true;
	return likely(tally_add_within(&c->purse[cpu].places, -1, 1,
				       TALLY_MAX)) ||
	       cap_take_slow(c, &c->purse[cpu]);
}

/* Gives one back, to the purse of the caller's CPU. */
static inline void cap_give(struct cap *c)
{
	struct purse *p;

	if (likely(c->max == 0))
		return;
	p = &c->purse[cpu_map_pick(&c->cpus)];
	if (unlikely(!tally_add_within(&p->places, 1, 0, CAP_PURSE_MAX - 1)))
		cap_give_slow(c, p);
}

#endif
