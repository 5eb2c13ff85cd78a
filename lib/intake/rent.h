/* SPDX-License-Identifier: MIT */
/*
 * Rent: a call that adds an entry to a bucket looks at a few older entries
 * there, and frees the slots of timers that have ended.
 *
 * Why not something simpler: a slot that is a node of a timing wheel, which its
 * bucket unlinks, and dead slots that are reported on a stack?  That was built
 * (550 lines).  A pair of calls took 57 to 60 ns, where it takes 36 to 51 with
 * lanes and rent, with equal timeouts and with mixed ones.  If another thread
 * cancels, a timer took 670 to 740 ns instead of 270, of which 200 to 230 are
 * the hand-over to that thread.
 *
 * All of this is done under the bucket's lock.
 */
#ifndef TT_RENT_H
#define TT_RENT_H

#include "intake/bucket.h"

/* How many entries ahead a slot is prefetched. */
#define RENT_PREFETCH 8

/*
 * And how many entries ahead of that an entry is prefetched: with several
 * lanes, the CPU does not see that it comes next.  With 100,000 in flight and
 * timeouts from 0.1 to 10 s, this reduced the time of a pair from 330 to 255
 * ns.
 */
#define RENT_PREFETCH_ENTRIES 40

static inline void rent_prefetch_slot(struct bucket *b, const struct entry *e)
{
	if (likely(!entry_is_hole(e)))
		prefetch_to_write(slots_of(&b->slots, e->index));
}

/*
 * Prefetches the slots that later calls will look at.  If another CPU has
 * cancelled the timers, their lines must come from that CPU.  Without the
 * prefetch, the next atomic operation here would wait for the writes to these
 * lines, that is, until the lines have arrived.  Between CPUs that are far
 * apart, this reduced the time of a pair from 205 to 120 ns.
 */
static inline void rent_prefetch(struct bucket *b, struct lane *l,
				 unsigned ahead)
{
	const struct entry *e = queue_ahead(&l->queue, ahead, 2);

	if (unlikely(!e))
		return;
	__builtin_prefetch(e + RENT_PREFETCH_ENTRIES);
	rent_prefetch_slot(b, &e[0]);
	rent_prefetch_slot(b, &e[1]);
}

/*
 * Is e, which is not a hole, no longer of use?  Frees the slot of a timer that
 * has ended.
 */
static TT_INLINE bool rent_is_over(struct bucket *b, const struct entry *e)
{
	uint32_t number = e->index >> b->slots.shift;
	struct slot *s = slots_get(&b->slots, number);

	if (slot_owns(s, e)) {
		/* Relaxed: the freeing thread reads nothing from the slot. */
		if (!slot_is_dead(atom32_load(&s->state)))
			return false;
		slots_recycle(&b->slots, s, number);
	}
	return true;
}

/*
 * Drops the oldest arrival if it is no longer of use.  Inline, although each
 * schedule call does this twice: as a function it made a pair 5% slower.
 */
static TT_INLINE bool rent_drop(struct bucket *b, struct lane *l)
{
	const struct entry *e = queue_front(&l->queue);

	if (!e || (likely(!entry_is_hole(e)) && !rent_is_over(b, e)))
		return false;
	queue_pop(&l->queue, &b->spares);
	return true;
}

/*
 * For when the oldest arrival is live, or there is none: looks behind it, or
 * rests.
 */
void rent_behind(struct bucket *b, struct lane *l);

/*
 * Pays the rent of a call that adds to this lane: looks at two old arrivals.
 * Most timers are cancelled roughly in the order in which they were scheduled.
 * So the oldest is the most likely to be dead, the slots are used again in the
 * order in which they lie in memory, and CPUs prefetch them without help.
 */
static inline void rent_pay(struct bucket *b, struct lane *l)
{
	if (unlikely(l->rests > 0)) {
		if (--l->rests < RENT_PREFETCH / 2)
			rent_prefetch(b, l, RENT_PREFETCH - 2 - 2 * l->rests);
		return;
	}
	rent_prefetch(b, l, RENT_PREFETCH);
	if (unlikely(!rent_drop(b, l)))
		rent_behind(b, l);
	else if (queue_front(&l->queue))
		rent_drop(b, l);
}

/* The same as a function, for calls that are rare. */
void rent_pay_rarely(struct bucket *b, struct lane *l);

/*
 * To be called before the bucket allocates memory for slots.  Ends this lane's
 * rest, and looks into some other lanes, which calls may no longer visit, until
 * a slot is free.  False: no slot is free, or it must be told how many are in
 * use.
 */
bool rent_elsewhere(struct bucket *b, struct lane *l);

/* So few looks that no caller waits for long. */
#define RENT_RECLAIM 8

/*
 * RENT_RECLAIM looks, or fewer, for the driver, which adds no arrival.  The
 * driver has *left looks to spend; this subtracts the looks that it took.  If
 * at least half of them found a timer that had ended, they cost nothing.
 * Returns RENT_RECLAIM; or 0: the last lane has come to its end, and the next
 * call begins with the first lane.
 */
size_t rent_reclaim(struct bucket *b, uint64_t *left);

#endif
