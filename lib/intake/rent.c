/* SPDX-License-Identifier: MIT */
/*
 * What rent does where the oldest lives.
 *
 * Either these timers will live for long, and those behind them are to be
 * looked at; or rent has caught up with whoever cancels.  Then it should look
 * at nothing for a while: on another CPU that thread is about to write the very
 * lines that would be read here.  (With rests a pair between two CPUs went from
 * 2.0 to 1.6 times a bare hand-over.)
 *
 * A few samples tell.  If one of them is over, it scans: a cursor goes
 * through the lane and leaves a hole where one is over.  So those that live
 * keep their order, all but a few of the oldest, and that order is most likely
 * the one in which they will be cancelled.
 * (When they were put behind the others instead the order was never found
 * again: with 20,000 in flight and timeouts from 0.1 to 10 s a pair took 108
 * instead of 91 ns, with 100,000 104 instead of 79.)
 */
#include "config.h"

#include "intake/rent.h"

/* Calls. */
#define RESTS 64

/*
 * Looks of a call that scans, and the calls after it that look at nothing.
 * (Cancels in no order, 15,500 in flight, with 3 looks of each call: 191 ns a
 * pair; with 12 of each fourth: 172; with 24 of each eighth: 167.)
 */
#define SCAN_LOOKS 24
#define SCAN_RESTS 7

/* So often others are looked into before the table grows. */
#define ELSEWHERE 8

/* Arrivals that are looked at before a rest: the oldest, and some others. */
#define OLDEST 8
#define OTHERS 4

/* Not inline here, where it is called less. */
static TT_NOINLINE bool drop(struct bucket *b, struct lane *l)
{
	return rent_drop(b, l);
}

/*
 * The oldest lives, but one of the next few, which were prefetched, does not:
 * drops that, and puts the oldest in its place.  So a few that stay are carried
 * along.
 */
static bool drop_behind(struct bucket *b, struct lane *l)
{
	struct queue *q = &l->queue;

	for (size_t i = 1; i < OLDEST; i++) {
		if (!queue_ahead(q, i, 1))
			return false;
		if (entry_is_hole(&q->front[i]) ||
		    rent_is_over(b, &q->front[i])) {
			q->front[i] = *q->front;
			queue_pop(q, &b->spares);
			return true;
		}
	}
	return false;
}

/* Others each time. */
static bool others_live(const struct bucket *b, struct lane *l)
{
	uint64_t span = queue_span(&l->queue);

	for (int i = 0; i < OTHERS; i++) {
		uint32_t at = l->probe += UINT32_C(0x9e3779b9);
		const struct entry *e =
			queue_at(&l->queue, (size_t)(at * span >> 32));
		const struct slot *s;

		if (!e || entry_is_hole(e))
			continue;
		s = slots_of(&b->slots, e->index);
		if (!slot_owns(s, e) || slot_is_dead(s))
			return false;
	}
	return true;
}

/* Looks at some that lie together.  How many are over? */
static uint32_t look_at(struct bucket *b, struct entry *e, size_t n,
			size_t left)
{
	uint32_t found = 0;

	for (size_t i = 0; i < n; i++) {
		if (i + RENT_PREFETCH < left)
			rent_prefetch_slot(b, &e[i + RENT_PREFETCH]);
		if (!entry_is_hole(&e[i]) && rent_is_over(b, &e[i])) {
			e[i].index = 0;
			found++;
		}
	}
	return found;
}

/* Looks at n from the cursor on, or up to the back.  How many are over? */
static uint32_t scan(struct bucket *b, struct lane *l, size_t n)
{
	uint32_t found = 0;

	while (n > 0) {
		size_t left, k;
		struct entry *e =
			queue_walk(&l->queue, &l->cursor, &left, &b->spares);

		k = left < n ? left : n;
		found += look_at(b, e, k, left);
		l->cursor.in_block += (uint32_t)k;
		n -= e ? k : 1;
		if (queue_at_back(&l->queue, &l->cursor))
			break;
	}
	return found;
}

/* Is there much to be found? */
static bool begin_scan(struct bucket *b, struct lane *l)
{
	if (drop_behind(b, l)) {
		drop_behind(b, l);
		return false;
	}
	if (others_live(b, l)) {
		l->rests = RESTS;
		return false;
	}
	l->cursor = (struct queue_place){l->queue.head, 0};
	return true;
}

TT_NOINLINE void rent_behind(struct bucket *b, struct lane *l)
{
	if (!queue_front(&l->queue))
		return;
	l->scans = l->scans || begin_scan(b, l);
	if (l->scans) {
		scan(b, l, SCAN_LOOKS);
		l->scans = !queue_at_back(&l->queue, &l->cursor);
		l->rests = SCAN_RESTS;
	}
}

/*
 * Up to n looks by who adds nothing to this lane: at the oldest, or behind it
 * if that lives.  How many were over?
 */
static size_t look(struct bucket *b, struct lane *l, size_t n)
{
	size_t found = 0;

	while (found < n && drop(b, l))
		found++;
	return found > 0 ? found : scan(b, l, n);
}

/* A lane until the cursor is at its back, then the next one that has some. */
static struct lane *lane_for_others(struct bucket *b)
{
	struct lane *l = &b->lane[b->next_lane];

	for (int i = 0; i < LANES; i++) {
		size_t left;

		if (queue_front(&l->queue) &&
		    !queue_at_back(&l->queue, &l->cursor))
			return l;
		/* Closes the last holes. */
		queue_walk(&l->queue, &l->cursor, &left, &b->spares);
		l->cursor = (struct queue_place){l->queue.head, 0};
		b->next_lane = (b->next_lane + 1) % LANES;
		l = &b->lane[b->next_lane];
	}
	return l;
}

bool rent_elsewhere(struct bucket *b, struct lane *l)
{
	if (l->rests > 0) {
		l->rests = 0;
		rent_look(b, l);
	}
	for (int i = 0; i < ELSEWHERE && !slots_any(&b->slots); i++) {
		struct lane *other = lane_for_others(b);

		if (other != l)
			look(b, other, RENT_RECLAIM);
	}
	return slots_any(&b->slots);
}

size_t rent_reclaim(struct bucket *b, uint64_t *left)
{
	struct lane *l = lane_for_others(b);
	size_t n = bucket_size(b), in_lane = queue_size(&l->queue), found;
	size_t looks = in_lane < RENT_RECLAIM ? in_lane : RENT_RECLAIM;

	found = look(b, l, looks);
	if (*left > n)
		*left = n;
	if (2 * found < looks)
		*left -= *left < looks ? *left : looks;
	if (*left > n - found)
		*left = n - found;
	return looks;
}
