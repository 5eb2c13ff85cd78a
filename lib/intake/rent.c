/* SPDX-License-Identifier: MIT */
/*
 * When rent rests.
 *
 * Where the oldest that it comes upon live, either these timers will live for
 * long, and those behind them are to be looked at; or rent has caught up with
 * whoever cancels.  Then it should look at nothing for a while: on another CPU
 * that thread is about to write the very lines that would be read here.
 * (With rests a pair between two CPUs went from 2.0 to 1.6 times a bare
 * hand-over.)
 *
 * A few samples tell.  If one of them is over, those that live are passed over
 * until one does not.  If none is, the oldest stays first, for it will be
 * cancelled next.  (When each rest began with passing some over, which were
 * found only a round later, a quarter of all were dead.)
 */
#include "config.h"

#include "intake/rent.h"

/* Calls. */
#define RESTS 64

/* So many that live are passed over by a call. */
#define PASSES 3

/* Arrivals of other lanes that are looked at before the table grows. */
#define SWEEPS 32

/* Arrivals that are looked at before a rest: the oldest, and some others. */
#define OLDEST 8
#define OTHERS 4

/*
 * The oldest lives, but one of the next few, which were prefetched, does not:
 * drops that, and puts the oldest in its place.  So a little disorder stays a
 * little: to pass the oldest over would make more of it.
 */
static bool drop_behind(struct bucket *b, struct queue *q)
{
	for (size_t i = 1; i < OLDEST; i++) {
		if (!queue_ahead(q, i, 1))
			return false;
		if (rent_is_over(b, &q->front[i])) {
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
		const struct slot *s = e ? slots_of(&b->slots, e->index) : NULL;

		if (s && (!slot_owns(s, e) || slot_is_dead(s)))
			return false;
	}
	return true;
}

/* The ones behind the oldest come first now. */
static void turn_over(struct bucket *b, struct queue *q)
{
	struct entry e;

	if (!queue_front(q))
		return;
	e = *queue_front(q);
	if (!queue_has_room(q, 1) && !queue_extend(q, &b->spares))
		return;
	queue_pop(q, &b->spares);
	queue_push(q, e);
}

/* Not inline here, where it is called less. */
static TT_NOINLINE bool drop(struct bucket *b, struct lane *l)
{
	return rent_drop(b, l);
}

/* Passes over those that live, until one does not. */
static void pass_over(struct bucket *b, struct lane *l)
{
	for (int i = 0; i < PASSES && l->passes > 0; i++) {
		turn_over(b, &l->queue);
		rent_prefetch(b, l, RENT_PREFETCH);
		l->passes--;
		if (drop(b, l)) {
			drop(b, l);
			l->passes = 0;
		}
	}
}

TT_NOINLINE void rent_pass(struct bucket *b, struct lane *l)
{
	if (!queue_front(&l->queue))
		return;
	if (l->passes == 0) {
		if (drop_behind(b, &l->queue)) {
			drop_behind(b, &l->queue);
			return;
		}
		if (others_live(b, l)) {
			l->rests = RESTS;
			return;
		}
		l->passes = (uint32_t)queue_size(&l->queue);
	}
	pass_over(b, l);
}

/* A look by who adds nothing to this lane. */
static void look(struct bucket *b, struct lane *l)
{
	if (!drop(b, l))
		turn_over(b, &l->queue);
	drop(b, l);
}

/* Lanes in turn. */
static struct lane *next_lane(struct bucket *b)
{
	for (int i = 0; i < LANES; i++) {
		struct lane *l = &b->lane[b->sweeps++ % LANES];

		if (queue_front(&l->queue))
			return l;
	}
	return &b->lane[0];
}

bool rent_sweep(struct bucket *b, struct lane *l)
{
	if (l->rests > 0) {
		l->rests = 0;
		rent_look(b, l);
	}
	for (int i = 0; i < SWEEPS && !slots_any(&b->slots); i++) {
		struct lane *other = next_lane(b);

		if (other != l)
			look(b, other);
	}
	return slots_any(&b->slots);
}

/*
 * Nothing is prefetched: what lives here a thread on another CPU is likely to
 * write next.  Over those that live a look moves on by one.
 */
size_t rent_reclaim(struct bucket *b, uint64_t *left)
{
	struct lane *l = next_lane(b);
	size_t n = bucket_size(b), in_lane = queue_size(&l->queue), found;
	size_t looks = in_lane < RENT_RECLAIM ? in_lane : RENT_RECLAIM;

	for (size_t i = 0; i < looks; i++)
		look(b, l);
	found = in_lane - queue_size(&l->queue);
	if (*left > n)
		*left = n;
	if (found < looks)
		*left -= *left < looks ? *left : looks;
	if (*left > n - found)
		*left = n - found;
	return looks;
}
