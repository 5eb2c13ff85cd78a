/* SPDX-License-Identifier: MIT */
/*
 * A reserve: memory for n timers, allocated and touched at start.
 *
 * Each CPU's bucket has its share of the slots, and rows for its share in each
 * lane.  A bucket of no CPU has as few as there can be.
 * The blocks are in the pool, for all buckets.  A bucket with a reserve
 * allocates no memory.  Instead:
 *  - If its slots are used up, another bucket's are used, usually those of the
 *    bucket that had some last time.
 *  - If no bucket has any, dead slots are swept.
 *  - If there are no dead slots either, although no other call has scheduled a
 *    timer meanwhile, more than n timers exist.  From then on all buckets
 *    allocate memory as if there had been no reserve.
 *  - If there is no block or no row for an entry, the timer is unqueued
 *    (unqueued.h), which needs no memory.
 *
 * So most slots of a bucket may be used by calls on other CPUs.  A call on a
 * CPU that has more than its share of the timers takes two or three locks
 * instead of one.  (Two buckets, all calls on one CPU, cancelled at random,
 * with the loop: a pair took 77 ns and 59 without a reserve, with 1,000 timers;
 * 660 to 740 and 290 to 310 with a million.)
 *
 * A bucket keeps the blocks that it has emptied until the driver visits it.  So
 * other buckets may have to leave timers unqueued meanwhile, even if there are
 * no more than n.
 *
 * Guarantees:
 *  1. As long as no more than n timers have existed at the same time, no
 *     schedule call fails for lack of memory, and no call allocates any.  This
 *     ends when so many slots are used up (slot.h) that no others are left: not
 *     before n times 2^28 timers, or new entries of timers (at a million timers
 *     per second, three days for n = 1,000, and eight years for a million).
 *  2. Without a reserve, a call fails for lack of memory only if no bucket has
 *     a slot, and a short sweep finds no dead one.
 *
 * The thread that starts the instance: reserve.  Any thread:
 * schedule_elsewhere.
 */
#pragma once

#include "intake/intake.h"
#include "intake/schedule.h"
#include "intake/sweep.h"

/*
 * How many slots a bucket needs for its share of n timers.  These are n, and
 *  - as many again, for timers that are dead and were not found yet: so the
 *    table does not fill to its last slot, where finding a free one takes long.
 *    (A million live, cancelled at random: with an eighth more, the slowest of
 *    a hundred calls took 17 us; so, 1.3.)
 *  - as many as may be in the driver's batch, where no call can take them;
 *  - as many again, of which the driver may be filing some that were unqueued
 *    (collect.h), and ending one;
 *  - a seventh of all, because a call from elsewhere does not get the last
 *    eighth (slots_any).
 */
static size_t slots_for(size_t n)
{
	return (2 * n + 2 * SLOT_BATCH) * 8 / 7 + 1;
}

/* Entries in a lane for each timer: some are no longer of use. */
#define ENTRIES_A_TIMER 2

/* Blocks that the driver has: spare ones, and those that it opens. */
#define DRIVER_BLOCKS 32

static size_t blocks_for(size_t n)
{
	return n * ENTRIES_A_TIMER / BLOCK_ENTRIES + 1;
}

/* Each lane in use may have one block that is nearly empty. */
static size_t reserve_blocks(const struct intake *in, size_t n)
{
	size_t lanes = (size_t)in->n * LANES;

	return blocks_for(n) + (lanes < n ? lanes : n) + in->n + DRIVER_BLOCKS;
}

static bool reserve_in_bucket(struct bucket *b, size_t n)
{
	while (slots_room(&b->slots) < slots_for(n)) {
		if (arrival_grow_slots(b) < 0)
			return false;
	}
	b->slots.least = slots_words(&b->slots);
	for (struct lane *l = b->lane; l < b->lane + LANES; l++) {
		l->queue.least = queue_rows_for(blocks_for(n));
		if (!arrival_give_rows(b, l, l->queue.least))
			return false;
	}
	return true;
}

/* False: no memory. */
TT_PART bool intake_reserve(struct intake *in, size_t n)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < in->n; i++) {
		size_t share = i < in->cpus.n ? n / in->cpus.n : 0;

		intake_set_up(in, &in->bucket[i]);
		ok = reserve_in_bucket(&in->bucket[i], share + 1);
	}
	return ok && block_pool_fill(&in->pool, reserve_blocks(in, n));
}

static bool lacks_memory(int r)
{
	return r == -ENOMEM || r == -EAGAIN;
}

/* A call's pass over the buckets. */
struct pass {
	uint64_t looks;     /* that a sweep may take; those that are left */
	uint64_t scheduled; /* ever, in the buckets that had no slots */
};

/* In a pass over all slots. */
#define ALL_LOOKS UINT64_MAX

/*
 * Has the bucket slots to take, without more memory?  True if it is shut: the
 * call will find that out.
 */
static bool has_free(struct bucket *b, struct pass *p)
{
	bool any;

	lock_acquire(&b->lock);
	any = b->state == BUCKET_SHUT || slots_any(&b->slots) ||
	      (block_pool_grows(b->pool) && vacancy_next(&b->slots) > 0);
	if (!any)
		p->scheduled += counter_read(&b->scheduled);
	lock_release(&b->lock);
	return any;
}

static uint32_t bucket_after(const struct intake *in, uint32_t i)
{
	return i + 1 < in->n ? i + 1 : 0;
}

/*
 * Tries all buckets, first the one that had slots last time, or the one behind
 * that where the looks have ended; each as long as it has some, because other
 * threads may be faster.  If there are no dead ones either, it looks again:
 * another thread may have freed a slot before the sweep came to it.
 */
static int try_all(struct intake *in, struct bucket *b, struct wakeup *w,
		   const struct timer *t, uint64_t *ret_id, struct pass *p)
{
	uint32_t i = atom32_load(&b->other), next = i;
	int r = -ENOMEM;

	if (&in->bucket[i] == b)
		i = bucket_after(in, i);
	for (uint32_t k = 0; k < in->n; k++, i = bucket_after(in, i)) {
		struct bucket *other = &in->bucket[i];

		next = p->looks > 0 ? bucket_after(in, i) : next;
		/* A bucket that was never used has none. */
		while (slots_at(&other->slots, SLOT_FIRST_NUMBER) &&
		       (has_free(other, p) ||
			sweep_until_found(other, &p->looks) ||
			has_free(other, p))) {
			r = bucket_schedule(other, w, t, ret_id);
			if (lacks_memory(r))
				continue;
			atom32_store(&b->other, i);
			return r;
		}
	}
	atom32_store(&b->other, next);
	return r;
}

/*
 * As bucket_schedule.  To be called when that has failed for b with r, because
 * there was no memory, or there may be no more slots.
 *
 * The first pass takes only a few looks.  If there is a reserve, others follow,
 * which see all slots.  During a pass, slots may become free in buckets behind
 * it, and others be taken in those before it.  Then other calls have scheduled
 * timers there since the last pass, and there is another one.  Otherwise all
 * timers that this pass has met existed together when it began: more than the
 * reserve is for.
 */
TT_PART TT_NOINLINE int
intake_schedule_elsewhere(struct intake *in, struct bucket *b, struct wakeup *w,
			  const struct timer *t, uint64_t *ret_id, int r)
{
	struct pass p = {.looks = SWEEP_LOOKS};
	uint64_t before = UINT64_MAX, last;

	do {
		int other = try_all(in, b, w, t, ret_id, &p);

		if (!lacks_memory(other))
			return other;
		if (in->pool.reserve == 0)
			return r;
		last = before;
		before = p.scheduled;
		p = (struct pass){.looks = ALL_LOOKS};
	} while (before != last);
	atom32_store(&in->pool.fixed, 0);
	return bucket_schedule(b, w, t, ret_id);
}
