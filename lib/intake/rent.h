/* SPDX-License-Identifier: MIT */
/*
 * Rent: a call that adds an entry to a bucket looks at a few older ones there,
 * and frees the slots of timers that are over.
 *
 * All of it under the bucket's lock.
 */
#ifndef TT_RENT_H
#define TT_RENT_H

#include "intake/bucket.h"

/* Slots are prefetched so many entries before they are looked at. */
#define RENT_PREFETCH 8

/*
 * And entries so many before their slots are: with several lanes the CPU does
 * not see that they come next.  With 100,000 in flight and timeouts from
 * 0.1 to 10 s this took a pair from 330 to 255 ns.
 */
#define RENT_PREFETCH_ENTRIES 40

static inline void rent_prefetch_slot(struct bucket *b, const struct entry *e)
{
	if (likely(!entry_is_hole(e)))
		prefetch_to_write(slots_of(&b->slots, e->index));
}

/*
 * Prefetches the slots that later calls will look at.  Where another CPU
 * has cancelled the timers, their lines must come from there, and the next
 * atomic operation here would wait until what is written to them has arrived:
 * between CPUs that are far apart this took a pair from 205 to 120 ns.
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

/* Is e, not a hole, of no more use?  Frees the slot of a timer that is over. */
static TT_INLINE bool rent_is_over(struct bucket *b, const struct entry *e)
{
	uint32_t number = e->index >> b->slots.shift;
	struct slot *s = slots_get(&b->slots, number);

	if (slot_owns(s, e)) {
		/* Orders nothing: the thread that frees the slot reads none
		 * of it. */
		if (!slot_is_dead(atom32_load(&s->state)))
			return false;
		slots_recycle(&b->slots, s, number);
	}
	return true;
}

/*
 * Drops the oldest arrival if it is of no more use.  Inline, though each
 * schedule does it twice: as a function it made a pair 5% slower.
 */
static TT_INLINE bool rent_drop(struct bucket *b, struct lane *l)
{
	const struct entry *e = queue_front(&l->queue);

	if (!e || (likely(!entry_is_hole(e)) && !rent_is_over(b, e)))
		return false;
	queue_pop(&l->queue, &b->spares);
	return true;
}

/* The oldest arrival lives, or there is none: looks behind it, or rests. */
void rent_behind(struct bucket *b, struct lane *l);

/*
 * Looks at two old arrivals.  Most timers are cancelled about in the order in
 * which they were scheduled, so the oldest is the most likely to be dead, the
 * slots are used again in the order in which they lie in memory, and CPUs
 * prefetch them by themselves.
 */
static inline void rent_look(struct bucket *b, struct lane *l)
{
	if (unlikely(!rent_drop(b, l)))
		rent_behind(b, l);
	else if (queue_front(&l->queue))
		rent_drop(b, l);
}

/* A call that adds to this lane pays. */
static inline void rent_pay(struct bucket *b, struct lane *l)
{
	if (unlikely(l->rests > 0)) {
		if (--l->rests < RENT_PREFETCH / 2)
			rent_prefetch(b, l, RENT_PREFETCH - 2 - 2 * l->rests);
		return;
	}
	rent_prefetch(b, l, RENT_PREFETCH);
	rent_look(b, l);
}

/* The same for a call that rarely adds: smaller code, and slower. */
void rent_pay_rarely(struct bucket *b, struct lane *l);

/*
 * Before the bucket takes memory for slots: ends the rest of this lane, and
 * looks into some others, which calls may not visit any more, until a slot is
 * free.  False: none is.
 */
bool rent_elsewhere(struct bucket *b, struct lane *l);

/* So few looks let no caller wait for long. */
#define RENT_RECLAIM 8

/*
 * RENT_RECLAIM looks, or fewer, for the driver, which adds no arrival and pays
 * for *left looks: what is left of them then.  If half of them found something
 * that was over they cost nothing.  Returns RENT_RECLAIM; or 0: the last lane
 * has come to its end, and the next time it begins with the first.
 */
size_t rent_reclaim(struct bucket *b, uint64_t *left);

#endif
