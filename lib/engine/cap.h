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
#include "os/memory.h"

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

static size_t shares_size(uint32_t n)
{
	return (n + 1) * sizeof(struct share);
}

/* Makes n shares, if there is a cap.  False: no memory. */
TT_PART bool cap_open(struct cap *c, uint32_t n)
{
	if (c->max == 0)
		return true;
	c->share = pages_alloc(shares_size(n));
	if (!c->share)
		return false;
	c->common = (struct common_share *)&c->share[n];
	cpu_map_init(&c->cpus, n);
	atomword_store(&c->common->places, c->max);
	/* The shares are open, and empty. */
	atom32_store(&c->common->openings, 1);
	return true;
}

TT_PART void cap_close(struct cap *c)
{
	pages_free(c->share, shares_size(c->cpus.n));
	c->share = NULL;
}

/* How many places a CPU may take: so few that each CPU can have as many. */
static size_t batch_of(const struct cap *c, size_t common)
{
	size_t n = common / (2 * (size_t)c->cpus.n);

	return n < CAP_BATCH ? n : CAP_BATCH;
}

/*
 * Takes a common place, and a batch.  Returns how many places these are; 0:
 * none.
 */
static size_t take_common(struct cap *c, size_t batch_max)
{
	size_t common;

	while ((common = atomword_load(&c->common->places)) > 0) {
		size_t batch = batch_of(c, common);
		size_t n = 1 + (batch < batch_max ? batch : batch_max);

		if (atomword_swap(&c->common->places, common, common - n))
			return n;
	}
	return 0;
}

/*
 * Are all places taken?  If no share was open before the common one was empty,
 * and none after that, then no place was on its way.  Acquire: pairs with
 * count_opening, and with the compare-and-swap in take_common when take_batch
 * calls that.
 */
static bool all_are_taken(const struct cap *c)
{
	uint32_t openings = atom32_load_acquire(&c->common->openings);

	return openings % 2 == 0 &&
	       atomword_load_acquire(&c->common->places) == 0 &&
	       atom32_load(&c->common->openings) == openings;
}

/* Under the lock.  Release: pairs with the loads in all_are_taken. */
static void count_opening(struct cap *c)
{
	atom32_store_release(&c->common->openings,
			     atom32_load(&c->common->openings) + 1);
}

static bool cap_is_open(const struct cap *c)
{
	return atom32_load(&c->common->openings) % 2 != 0;
}

/*
 * Under the cap's lock, so that the share does not open meanwhile.  Here and
 * below, adding to the common share orders nothing; closing a share does.
 */
static void close_share(struct cap *c, struct share *p)
{
	if (!tally_is_open(&p->places))
		return;
	lock_acquire(&p->lock);
	atomword_add(&c->common->places, tally_close(&p->places));
	lock_release(&p->lock);
}

static TT_NOINLINE void call_in(struct cap *c)
{
	lock_acquire(&c->common->lock);
	if (cap_is_open(c)) {
		for (uint32_t i = 0; i < c->cpus.n; i++)
			close_share(c, &c->share[i]);
		count_opening(c);
	}
	lock_release(&c->common->lock);
}

/* Opens a share, if the common one has enough for all CPUs again. */
static void open_if_enough(struct cap *c, struct share *p)
{
	if (likely(batch_of(c, atomword_load(&c->common->places)) == 0))
		return;
	lock_acquire(&c->common->lock);
	if (!cap_is_open(c))
		count_opening(c);
	if (!tally_is_open(&p->places))
		tally_open(&p->places, 0);
	lock_release(&c->common->lock);
}

/*
 * Takes a place, and a batch for this share unless another thread has filled
 * it.  False: the share is closed, or no place is left.
 */
static bool take_batch(struct cap *c, struct share *p)
{
	bool taken;
	size_t n = 0;

	lock_acquire(&p->lock);
	taken = tally_add_within(&p->places, -1, 1, TALLY_MAX);
	if (!taken && tally_is_open(&p->places))
		n = take_common(c, CAP_BATCH);
	if (n > 1)
		tally_add(&p->places, (int32_t)n - 1);
	lock_release(&p->lock);
	return taken || n > 0;
}

TT_PART TT_NOINLINE bool cap_take_slow(struct cap *c, struct share *p)
{
	if (tally_is_open(&p->places) && take_batch(c, p))
		return true;
	while (take_common(c, 0) == 0) {
		if (all_are_taken(c))
			return false;
		call_in(c);
	}
	open_if_enough(c, p);
	return true;
}

/*
 * Gives a place to the common share, and a batch from this share unless another
 * thread has taken from it meanwhile.
 */
static void give_batch(struct cap *c, struct share *p)
{
	size_t n = 1;

	lock_acquire(&p->lock);
	if (tally_add_within(&p->places, -CAP_BATCH, CAP_BATCH, TALLY_MAX))
		n += CAP_BATCH;
	atomword_add(&c->common->places, n);
	lock_release(&p->lock);
}

TT_PART TT_NOINLINE void cap_give_slow(struct cap *c, struct share *p)
{
	if (likely(tally_is_open(&p->places))) {
		give_batch(c, p);
		return;
	}
	atomword_add(&c->common->places, 1);
	open_if_enough(c, p);
}

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
