/* SPDX-License-Identifier: MIT */
/*
 * What a call does whose turn it is to pay rent.  It drops the oldest arrivals
 * whose timers have ended.  If the oldest timer is still pending, there are two
 * cases.  Either these timers will live for long: then it should look at those
 * behind them.  Or rent has caught up with a thread that cancels: then it
 * should look at nothing for a while, because that thread, on another CPU, is
 * about to write the very lines that would be read here.  (With rests, a pair
 * between two CPUs went from 2.0 to 1.6 times the cost of a bare hand-over.  If
 * none were taken after a few dead, it took 158 ns instead of 75.)
 *
 * A scan finds out which it is.  It goes through the lane in portions, and
 * leaves a hole for each timer that has ended.  As long as it finds some, it
 * goes on.  Otherwise there is a rest, and the next portion is in another
 * block, at random.  So the timers that live keep their order, except for a few
 * of the oldest.  That order is most likely the one in which they will be
 * cancelled.  (When they were put behind the others instead, the order was
 * never found again: with 20,000 in flight and timeouts from 0.1 to 10 s, a
 * pair took 108 instead of 91 ns; with 100,000, it took 104 instead of 79.)
 */
#include "config.h"

#include "intake/rent.h"

/*
 * The entries in a portion; and how many calls after it look at nothing: RESTS
 * if some had ended, or if the scan was going on; else RESTS_LONG.  (Cancels in
 * no order, 15,500 in flight: with 3 looks in each call, a pair took 191 ns;
 * with 12 in each fourth, 172; with 24 in each eighth, 167.  Whether 1, 2, 3 or
 * 5 of them must have ended made no difference.)
 */
#define PORTION    24
#define RESTS      7
#define RESTS_LONG 64

/* How often other lanes are looked into before the table grows. */
#define ELSEWHERE 8

/*
 * How many entries ahead an entry is prefetched: with several lanes, the CPU
 * does not see that it comes next.  With 100,000 in flight and timeouts from
 * 0.1 to 10 s, this reduced the time of a pair from 330 to 255 ns.
 */
#define PREFETCH_ENTRIES 40

static inline void prefetch_slot(struct bucket *b, const struct entry *e)
{
	if (likely(!entry_is_hole(e)))
		prefetch_to_write(slots_of(&b->slots, e->index));
}

TT_NOINLINE void rent_prefetch(struct bucket *b, struct lane *l, size_t from)
{
	size_t n;
	const struct entry *e = queue_front_run(&l->queue, &n);

	if (n > from)
		__builtin_prefetch(e + from + PREFETCH_ENTRIES);
	for (size_t i = from; i < n && i < RENT_LOOKS; i++)
		prefetch_slot(b, &e[i]);
}

/*
 * Is e, which is not a hole, no longer of use?  Frees the slot of a timer that
 * has ended: no other thread does, for e is the entry that counts, and this
 * has the lock.  Release: as in slot_free.
 */
static TT_INLINE bool is_over(struct bucket *b, const struct entry *e)
{
	uint32_t number = e->index >> b->slots.shift, word;
	struct slot *s = slots_get(&b->slots, number);

	if (!slot_owns(s, e))
		return true;
	/* Relaxed: the freeing thread reads nothing from the slot. */
	word = atom32_load(&s->state);
	if (!slot_is_dead(word))
		return false;
	atom32_store_release(&s->state, slot_next(word));
	slots_give(&b->slots, s, number);
	return true;
}

/*
 * Drops the oldest arrivals that are no longer of use, up to n.  Returns how
 * many.
 */
static inline size_t drop_oldest(struct bucket *b, struct lane *l, size_t n)
{
	size_t found = 0, run, i;

	do {
		const struct entry *e = queue_front_run(&l->queue, &run);

		if (run > n - found)
			run = n - found;
		for (i = 0; i < run; i++) {
			if (likely(!entry_is_hole(&e[i])) && !is_over(b, &e[i]))
				break;
		}
		if (i > 0)
			queue_drop(&l->queue, i, &b->spares);
		found += i;
	} while (unlikely(i == run && found < n && queue_front(&l->queue)));
	return found;
}

/*
 * If the oldest is live, but one of the next few has ended: drops that one, and
 * puts the oldest in its place.  So a few that stay are carried along.
 */
static bool drop_behind(struct bucket *b, struct lane *l)
{
	size_t n;
	struct entry *e = queue_front_run(&l->queue, &n);

	for (size_t i = 1; i < n && i < RENT_LOOKS; i++) {
		if (entry_is_hole(&e[i]) || is_over(b, &e[i])) {
			e[i] = e[0];
			queue_drop(&l->queue, 1, &b->spares);
			return true;
		}
	}
	return false;
}

/* Looks at n entries that lie together.  Returns how many timers have ended. */
static uint32_t look_at(struct bucket *b, struct entry *e, size_t n,
			size_t left)
{
	uint32_t found = 0;

	for (size_t i = 0; i < n; i++) {
		if (i + RENT_LOOKS < left)
			prefetch_slot(b, &e[i + RENT_LOOKS]);
		if (!entry_is_hole(&e[i]) && is_over(b, &e[i])) {
			e[i].index = 0;
			found++;
		}
	}
	return found;
}

/*
 * Looks at n entries from a position on, or up to the back.  Returns how many
 * timers have ended.
 */
static uint32_t scan(struct bucket *b, struct queue *q,
		     struct queue_position *p, size_t n)
{
	uint32_t found = 0;

	while (n > 0) {
		size_t left, k;
		struct entry *e = queue_walk(q, p, &left, &b->spares);

		k = left < n ? left : n;
		found += look_at(b, e, k, left);
		p->in_block += (uint32_t)k;
		n -= e ? k : 1;
		if (queue_at_back(q, p))
			break;
	}
	return found;
}

/* Goes to another row each time, to its beginning and its middle by turns. */
static void jump(struct lane *l)
{
	uint64_t rows = l->queue.tail - l->queue.head;

	l->probe += UINT32_C(0x9e3779b9);
	l->position.row = l->queue.head + (uint32_t)(l->probe * rows >> 32);
	l->position.in_block = l->probe & 1 ? BLOCK_ENTRIES / 2 : 0;
}

/* As rent_look, if the oldest are live. */
static void look_further(struct bucket *b, struct lane *l)
{
	bool scanned = l->scans;
	bool found = scan(b, &l->queue, &l->position, PORTION) > 0;

	l->scans = found && !queue_at_back(&l->queue, &l->position);
	l->rests = scanned || found ? RESTS : RESTS_LONG;
	if (l->scans)
		return;
	if (scanned || found)
		queue_leave(&l->queue, &l->position, &b->spares);
	jump(l);
}

TT_NOINLINE void rent_look(struct bucket *b, struct lane *l)
{
	size_t found = drop_oldest(b, l, RENT_LOOKS);

	l->rests = RENT_EVERY - 1;
	if (unlikely(found == 0 && queue_front(&l->queue))) {
		while (!l->scans && found < RENT_LOOKS && drop_behind(b, l))
			found++;
		if (found == 0)
			look_further(b, l);
	}
	/* Fewer than have come since the last look: it has caught up. */
	if (found > 0 && found < RENT_EVERY)
		l->rests = RESTS_LONG;
	if (l->rests < RENT_EVERY)
		rent_prefetch(b, l, RENT_LOOKS - found);
}

static void go_to_next_lane(struct bucket *b)
{
	b->next_lane = b->next_lane + 1 < LANES ? b->next_lane + 1 : 0;
	b->next.row = b->lane[b->next_lane].queue.head;
	b->next.in_block = 0;
}

/*
 * The lane where rent_elsewhere and rent_reclaim look: first one lane up to its
 * back, then the next.  NULL: the last lane has come to its end, and the next
 * call begins with the first.
 */
static struct lane *lane_for_others(struct bucket *b)
{
	do {
		struct queue *q = &b->lane[b->next_lane].queue;
		size_t left;

		if (queue_front(q) && !queue_at_back(q, &b->next))
			return &b->lane[b->next_lane];
		/* Closes the last holes. */
		queue_walk(q, &b->next, &left, &b->spares);
		go_to_next_lane(b);
	} while (b->next_lane > 0);
	return NULL;
}

/*
 * Takes up to n looks in this lane: at the oldest, or behind it if that is
 * live.  Returns as scan.
 */
static size_t look_in_lane(struct bucket *b, struct lane *l, size_t n)
{
	size_t found = drop_oldest(b, l, n);

	return found > 0 ? found : scan(b, &l->queue, &b->next, n);
}

bool rent_elsewhere(struct bucket *b, struct lane *l)
{
	rent_look(b, l);
	for (int i = 0; i < ELSEWHERE && !slots_any(&b->slots); i++) {
		struct lane *other = lane_for_others(b);

		/*
		 * The call has looked in its own lane already, and that may
		 * grow faster than this gets through it.
		 */
		if (other == l)
			go_to_next_lane(b);
		else if (other)
			look_in_lane(b, other, RENT_RECLAIM);
	}
	return slots_ready(&b->slots);
}

size_t rent_reclaim(struct bucket *b, uint64_t *left)
{
	struct lane *l = lane_for_others(b);

	if (!l)
		return 0;
	if (2 * look_in_lane(b, l, RENT_RECLAIM) < RENT_RECLAIM)
		*left -= *left < RENT_RECLAIM ? *left : RENT_RECLAIM;
	return RENT_RECLAIM;
}
