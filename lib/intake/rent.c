/* SPDX-License-Identifier: MIT */
/*
 * What a call does whose turn it is to pay rent.  It drops the oldest entries
 * that are no longer of use.  If the oldest timer is still pending, there are
 * two cases.  Either this timer and a few others live longer than those that
 * were scheduled after them: then they are carried along, and when they have
 * become too many for that, they go to the lane of the old.  Or rent has caught
 * up with a thread that cancels: then it should look at nothing for a while,
 * because that thread, on another CPU, is about to write the very lines that
 * would be read here.  (With rests, a pair between two CPUs went from 2.0 to
 * 1.6 times the cost of a bare hand-over.  If none were taken after a few dead,
 * it took 158 ns instead of 75.)
 *
 * The old are in nobody's way in their own lane.  As many as come there, twice
 * as many are looked at there: so it is never much longer than what lives in
 * it.
 */
#include "intake/rent.h"

/* How many calls look at nothing after one that has found less than came. */
#define RESTS_LONG 64

/* The live are set aside only if so many dead have passed them. */
#define PASSED_MUCH 8

/*
 * How many entries ahead an entry is prefetched: with several lanes, the CPU
 * does not see that it comes next.  With 100,000 in flight and timeouts from
 * 0.1 to 10 s, this reduced the time of a pair from 330 to 255 ns.
 */
#define PREFETCH_ENTRIES 40

TT_NOINLINE void rent_prefetch(struct bucket *b, struct lane *l, size_t from)
{
	size_t n;
	const struct entry *e = queue_front_run(&l->queue, &n);

	if (n > from)
		__builtin_prefetch(e + from + PREFETCH_ENTRIES);
	for (size_t i = from; i < n && i < RENT_LOOKS; i++)
		prefetch_to_write(slots_of(&b->slots, e[i].index));
}

/*
 * Is e no longer of use?  Frees the slot of a timer that has ended: no other
 * thread does, for e is the entry that counts, and this has the lock.  Release:
 * as in slot_free.  A timer that was disarmed has no entry then (see sweep.c).
 */
static TT_INLINE bool is_over(struct bucket *b, const struct entry *e)
{
	uint32_t number = e->index >> b->slots.shift, word;
	struct slot *s = slots_get(&b->slots, number);

	if (!slot_owns(s, e))
		return true;
	/* Relaxed: the freeing thread reads nothing from the slot. */
	word = atom32_load(&s->state);
	if (unlikely(slot_state(word) == SLOT_DISARMED)) {
		s->queued = INT64_MAX;
		return true;
	}
	if (!slot_is_dead(word))
		return false;
	atom32_store_release(&s->state, slot_next(word));
	slots_give(&b->slots, s, number);
	return true;
}

/* Drops the oldest entries that are of no use.  Returns how many. */
static inline size_t drop_oldest(struct bucket *b, struct lane *l)
{
	size_t found = 0, run, i;

	do {
		const struct entry *e = queue_front_run(&l->queue, &run);

		if (run > RENT_LOOKS - found)
			run = RENT_LOOKS - found;
		for (i = 0; i < run; i++) {
			if (!is_over(b, &e[i]))
				break;
		}
		if (i > 0)
			queue_drop(&l->queue, i, &b->spares);
		found += i;
	} while (unlikely(i == run && found < RENT_LOOKS &&
			  queue_front(&l->queue)));
	return found;
}

/*
 * The oldest is live.  Drops those behind it that are of no use, and carries
 * the live along.  Returns how many it has dropped; 0: all in sight are live.
 */
static size_t drop_behind(struct bucket *b, struct lane *l)
{
	struct entry live[RENT_LOOKS];
	size_t n, found = 0, i = 0, k = 0;
	struct entry *e = queue_front_run(&l->queue, &n);

	for (; i < n && found < RENT_LOOKS && k < RENT_LOOKS; i++) {
		if (is_over(b, &e[i]))
			found++;
		else
			live[k++] = e[i];
	}
	if (found == 0)
		return 0;
	while (k > 0)
		e[--i] = live[--k];
	queue_drop(&l->queue, found, &b->spares);
	return found;
}

/* The oldest of the old: those that live go behind the others. */
static void look_at_old(struct bucket *b)
{
	struct queue *q = &b->lane[LANE_OLD].queue;
	size_t n, i = 0;
	const struct entry *e = queue_front_run(q, &n);

	for (; i < n && i < 2 * RENT_LOOKS && queue_has_room(q, 1); i++)
		if (!is_over(b, &e[i]))
			queue_push(q, e[i]);
	if (i > 0)
		queue_drop(q, i, &b->spares);
}

/*
 * All in sight are live.  If they are in the way, or are the last few of a
 * block, behind which nothing is in sight, they go to the lane of the old.
 */
static bool set_aside(struct bucket *b, struct lane *l)
{
	struct queue *old = &b->lane[LANE_OLD].queue;
	size_t n, i = 0;
	const struct entry *e = queue_front_run(&l->queue, &n);

	if (n >= RENT_LOOKS ? l->passed < PASSED_MUCH : e + n == l->queue.back)
		return false;
	for (; i < n && i < RENT_LOOKS; i++) {
		if (!queue_make_room(old, &b->spares))
			break;
		queue_push(old, e[i]);
	}
	b->old_waits = i == 0;
	if (i == 0)
		return false;
	l->passed -= l->passed < PASSED_MUCH ? l->passed : PASSED_MUCH;
	queue_drop(&l->queue, i, &b->spares);
	look_at_old(b);
	return true;
}

/*
 * The oldest is live.  False: so are the others, and rent has caught up with
 * the thread that cancels.
 */
static bool look_behind(struct bucket *b, struct lane *l, size_t *found)
{
	size_t n = drop_behind(b, l);

	*found += n;
	if (n > 0)
		l->passed += l->passed < PASSED_MUCH ? (uint32_t)n : 0;
	else if (set_aside(b, l))
		l->rests = 0;
	else if (!b->old_waits)
		l->passed = 0;
	return n > 0 || l->rests == 0;
}

TT_NOINLINE void rent_look(struct bucket *b, struct lane *l)
{
	size_t found = drop_oldest(b, l);
	bool few = found < RENT_EVERY && (found > 0 || queue_front(&l->queue));

	l->rests = RENT_EVERY - 1;
	/* Fewer than have come since the last look: some live long, or not. */
	if (unlikely(few) && queue_front(&l->queue) &&
	    (found == 0 || l->passed > 0))
		few = !look_behind(b, l, &found);
	if (unlikely(few))
		l->rests = RESTS_LONG;
	else if (l->rests > 0 && found < RENT_LOOKS)
		rent_prefetch(b, l, RENT_LOOKS - found);
}
