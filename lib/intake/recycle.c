/* SPDX-License-Identifier: MIT */
/*
 * What a call does whose turn it is to recycle.  It looks at the oldest entries
 * of a lane, eight of them.  There are three cases:
 *
 *	all are dead		they are dropped
 *	a few live among dead	these live longer than those that were scheduled
 *				after them: they are carried along (carried,
 *				passed)
 *	all live		these have become too many for that, and all go
 *				to the lane of the old (aside); or recycling has
 *				caught up with a thread that cancels
 *
 * In the last case it should look at nothing for a while (skips), because that
 * thread, on another CPU, is about to write the very lines that would be read
 * here.  (With skips, a pair between two CPUs went from 2.0
 * to 1.6 times the cost of a bare hand-over.  If none were taken after a few
 * dead, it took 158 ns instead of 75.)
 *
 * The old are in nobody's way in their own lane.  As many as come there, twice
 * as many are looked at there: so it is never much longer than what lives in
 * it.  The driver, too, puts back what it has taken out there.  (In one lane
 * for all distances, or among the new, they cost 70 ns more a pair where one of
 * a hundred timers stays.)
 *
 * If timers are cancelled in no order, recycling finds few of them, and a sweep
 * finds most, at less cost.  So recycling does not insist.  (If it set aside
 * all that live, a pair took 81 ns with 1,000 timers, and 70 so.)
 */
#include "intake/recycle.h"

/* How many calls look at nothing after one that has found less than came. */
#define SKIPS_LONG 64

/* Those that are carried are set aside when so many dead have passed them. */
#define PASSED_MUCH 32

/* The lane is long if it has so many times the entries that all slots need. */
#define LONG 2

/*
 * How many entries ahead an entry is prefetched: with several lanes, the CPU
 * does not see that it comes next.  With 100,000 in flight and timeouts from
 * 0.1 to 10 s, this reduced the time of a pair from 330 to 255 ns.
 */
#define PREFETCH_ENTRIES 40

TT_NOINLINE void recycle_prefetch(struct bucket *b, struct lane *l, size_t from)
{
	size_t n;
	const struct entry *e = queue_front_run(&l->queue, &n);

	if (n > from)
		__builtin_prefetch(e + from + PREFETCH_ENTRIES);
	for (size_t i = from; i < n && i < RECYCLE_LOOKS; i++)
		prefetch_to_write(slots_of(&b->slots, e[i].index));
}

/*
 * Is e no longer of use?  Frees the slot of a timer that has ended.  A timer
 * that was disarmed is unarmed then.
 */
static TT_INLINE bool is_over(struct bucket *b, const struct entry *e)
{
	uint32_t number = e->index >> b->slots.shift, word;
	struct slot *s = slots_get(&b->slots, number);

	if (!slot_owns(s, e))
		return true;
	word = atom32_load(&s->state);
	if (unlikely(slot_state(word) == SLOT_DISARMED) &&
	    slot_change(s, &word, SLOT_UNARMED))
		return true;
	if (!slot_is_dead(word))
		return false;
	slot_free(s, word);
	slots_give(&b->slots, s, number);
	return true;
}

/* Drops the oldest entries that are of no use.  Returns how many. */
static inline size_t drop_oldest(struct bucket *b, struct lane *l)
{
	size_t found = 0, run, i;

	do {
		const struct entry *e = queue_front_run(&l->queue, &run);

		if (run > RECYCLE_LOOKS - found)
			run = RECYCLE_LOOKS - found;
		for (i = 0; i < run; i++) {
			if (!is_over(b, &e[i]))
				break;
		}
		if (i > 0)
			queue_drop(&l->queue, i, &b->spares);
		found += i;
	} while (unlikely(i == run && found < RECYCLE_LOOKS &&
			  queue_front(&l->queue)));
	return found;
}

/*
 * The oldest is live.  Drops those behind it that are of no use, and carries
 * the live along.  Returns how many it has dropped; 0: all in sight are live.
 */
static size_t drop_behind(struct bucket *b, struct lane *l)
{
	struct entry live[RECYCLE_LOOKS];
	size_t n, found = 0, i = 0, k = 0, passed = 0;
	struct entry *e = queue_front_run(&l->queue, &n);

	for (; i < n && found < RECYCLE_LOOKS && k < RECYCLE_LOOKS; i++) {
		if (is_over(b, &e[i])) {
			found++;
			passed = k;
		} else {
			live[k++] = e[i];
		}
	}
	if (found == 0)
		return 0;
	l->carried = (uint32_t)passed;
	while (k > 0)
		e[--i] = live[--k];
	queue_drop(&l->queue, found, &b->spares);
	return found;
}

/* The oldest of these: those that live go behind the others. */
static void look_at_old(struct bucket *b, struct queue *q)
{
	size_t n, i = 0;
	const struct entry *e = queue_front_run(q, &n);

	for (; i < n && i < 2 * RECYCLE_LOOKS; i++) {
		if (is_over(b, &e[i]))
			continue;
		if (!queue_has_room(q, 1))
			break;
		queue_push(q, e[i]);
	}
	if (i > 0)
		queue_drop(q, i, &b->spares);
	e = queue_front_run(q, &n);
	for (i = 0; i < n && i < 2 * RECYCLE_LOOKS; i++)
		prefetch_to_write(slots_of(&b->slots, e[i].index));
}

static bool lane_is_long(const struct bucket *b, const struct lane *l)
{
	return l->queue.blocks > LONG * (b->slots.used / BLOCK_ENTRIES + 1);
}

/* How many of the n in sight, which are all live, are in the way? */
static size_t in_the_way(const struct bucket *b, const struct lane *l,
			 const struct entry *e, size_t n)
{
	/* The last of a block: nothing else is in sight. */
	if (n < RECYCLE_LOOKS)
		return e + n == l->queue.back ? 0 : n;
	if (l->aside > 0 || lane_is_long(b, l))
		return RECYCLE_LOOKS;
	return l->passed >= PASSED_MUCH ? l->carried : 0;
}

/*
 * All in sight are live.  If they are in the way, or are the last few of a
 * block, behind which nothing is in sight, they go to the lane of the old.
 */
static bool set_aside(struct bucket *b, struct lane *l)
{
	struct lane *old = l + LANE_OLD;
	size_t n, most, i = 0;
	const struct entry *e = queue_front_run(&l->queue, &n);

	if (l->aside > l->queue.blocks * BLOCK_ENTRIES)
		l->aside = l->queue.blocks * BLOCK_ENTRIES;
	most = in_the_way(b, l, e, n);
	for (; i < most; i++) {
		if (!queue_make_room(&old->queue, &b->spares))
			break;
		queue_push(&old->queue, e[i]);
	}
	b->old_full = i < most ? old : NULL;
	if (i == 0)
		return false;
	l->aside -= l->aside < i ? l->aside : (uint32_t)i;
	l->passed = 0;
	queue_drop(&l->queue, i, &b->spares);
	look_at_old(b, &old->queue);
	return true;
}

/*
 * The oldest is live.  False: so are the others, and recycling has caught up
 * with the thread that cancels.
 */
static bool look_behind(struct bucket *b, struct lane *l, size_t *found)
{
	size_t n = drop_behind(b, l);

	*found += n;
	l->passed += (uint32_t)n;
	if (n == 0 && set_aside(b, l))
		l->skips = 0;
	return n > 0 || l->skips == 0;
}

TT_NOINLINE void recycle_look(struct bucket *b, struct lane *l)
{
	size_t found = drop_oldest(b, l);
	bool few =
		found < RECYCLE_EVERY && (found > 0 || queue_front(&l->queue));

	l->skips = RECYCLE_EVERY - 1;
	/* Fewer than have come since the last look: some live long, or not. */
	if (unlikely(few) && queue_front(&l->queue) &&
	    (found == 0 || l->passed > 0))
		few = !look_behind(b, l, &found);
	if (found > 0)
		b->sweeps_alone = 0;
	b->latest.wanted = found > 0 && !queue_front(&l->queue);
	if (unlikely(few)) {
		l->skips = SKIPS_LONG;
		look_at_old(b, &l[LANE_OLD].queue);
	} else if (l->skips > 0 && found < RECYCLE_LOOKS) {
		recycle_prefetch(b, l, RECYCLE_LOOKS - found);
	}
}
