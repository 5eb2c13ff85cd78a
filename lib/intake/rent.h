/* SPDX-License-Identifier: MIT */
/*
 * Rent: who adds an entry to a bucket looks at a couple of older ones there,
 * and frees the slots of timers that are over.
 *
 * All of it under the bucket's lock.
 */
#ifndef TT_RENT_H
#define TT_RENT_H

#include "intake/bucket.h"

/* Prefetched so many entries before they are looked at. */
#define RENT_PREFETCH 8

/*
 * Prefetches the slots that later calls will look at.  Where another CPU
 * has cancelled the timers, their lines must come from there, and the next
 * atomic operation here would wait until what is written to them has arrived:
 * between CPUs that are far apart this took a pair from 205 to 120 ns.
 */
static inline void rent_prefetch(struct bucket *b, unsigned ahead)
{
	const struct entry *e = queue_ahead(&b->arrivals, ahead, 2);

	if (unlikely(!e))
		return;
	prefetch_to_write(slots_of(&b->slots, e[0].index));
	prefetch_to_write(slots_of(&b->slots, e[1].index));
}

/* Drops the oldest arrival if its timer is over or has another entry. */
static inline bool rent_drop(struct bucket *b)
{
	const struct entry *e = queue_front(&b->arrivals);
	struct slot *s;

	if (!e)
		return false;
	s = slots_of(&b->slots, e->index);
	if (slot_owns(s, e)) {
		if (!slot_is_dead(s))
			return false;
		slots_recycle(&b->slots, s);
	}
	queue_pop(&b->arrivals);
	return true;
}

/* The oldest arrival lives: the ones behind it come first now. */
static inline void rent_rotate(struct bucket *b)
{
	struct queue *q = &b->arrivals;
	struct entry e;

	if (!queue_front(q) || (!queue_has_room(q, 1) && !queue_extend(q)))
		return;
	e = *queue_front(q);
	queue_pop(q);
	queue_push(q, e);
}

/*
 * Looks at two old arrivals.  Most timers are cancelled about in the order in
 * which they were scheduled, so the oldest is the most likely to be dead, the
 * slots are used again in the order in which they lie in memory, and CPUs
 * prefetch them by themselves.
 */
static inline void rent_look(struct bucket *b)
{
	if (likely(rent_drop(b))) {
		b->lived = 0;
	} else {
		rent_rotate(b);
		b->lived++;
	}
	if (rent_drop(b))
		b->lived = 0;
}

/* So many looks in a row that met no timer that is over lead to a rest. */
#define RENT_LIVED 8

/* All of the last looks met living timers: rests, if that is of use. */
void rent_rest(struct bucket *b);

static inline void rent_pay(struct bucket *b)
{
	if (unlikely(b->rests > 0)) {
		if (--b->rests < RENT_PREFETCH / 2)
			rent_prefetch(b, RENT_PREFETCH - 2 - 2 * b->rests);
		return;
	}
	rent_prefetch(b, RENT_PREFETCH);
	rent_look(b);
	if (unlikely(b->lived >= RENT_LIVED))
		rent_rest(b);
}

/*
 * Before the bucket takes memory for slots: looks at a whole block of
 * arrivals, until a slot is free.  False: none is, or there is no spare block
 * and so no room to turn them over.
 */
bool rent_sweep(struct bucket *b);

/* So few looks let no caller wait for long. */
#define RENT_RECLAIM 8

/*
 * Looks at RENT_RECLAIM arrivals, for who adds none and pays for *left looks:
 * what is left of them then, but no more than there are arrivals.  If half of
 * what it came upon was over they cost nothing.  Returns how many looks it
 * took.
 */
size_t rent_reclaim(struct bucket *b, uint64_t *left);

#endif
