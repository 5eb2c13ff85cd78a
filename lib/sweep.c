/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "expiry.h"
#include "pending.h"
#include "sweep.h"

/* Of so many looks one must find something, or more would be in vain. */
#define WORTH_WHILE 8

static bool note(struct pending *p, struct slot *s, enum expiry x)
{
	if (likely(x == EXPIRY_PENDING))
		return false;
	sweep_raise_alarm(p);
	if (x == EXPIRY_OVER)
		intake_return(p->intake, s);
	return true;
}

bool sweep_reclaim(struct pending *p, const struct entry *e)
{
	struct bucket *b = intake_bucket(p->intake, e->index);
	struct slot *s = slots_of(&b->slots, e->index);

	return note(p, s, expiry_look(b, s, e));
}

bool sweep_settle(struct pending *p, struct entry *e)
{
	struct bucket *b = intake_bucket(p->intake, e->index);
	struct slot *s = slots_of(&b->slots, e->index);

	return note(p, s, expiry_settle(b, s, e));
}

void sweep_raise_alarm(struct pending *p)
{
	p->sweep.alarm = SWEEP_ALARM;
}

/* Looks at n of the heap, or to its end; returns how many it dropped. */
static size_t look_in_heap(struct pending *p, size_t n)
{
	struct heap *h = &p->heap;
	size_t dropped = 0;

	for (; n > 0 && p->sweep.at < h->n; n--) {
		size_t i = p->sweep.at;

		if (likely(i + PENDING_PREFETCH < h->n))
			pending_prefetch(p, heap_at(h, i + PENDING_PREFETCH));
		if (sweep_reclaim(p, heap_at(h, i))) {
			heap_remove(h, i);
			dropped++;
		}
		p->sweep.at++;
	}
	return dropped;
}

/* Drops what is over from a block; returns how many. */
static uint32_t look_in_block(struct pending *p, struct block *b)
{
	int64_t nearest = INT64_MAX;
	uint32_t n = b->n, kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct entry e = b->entry[i];

		if (likely(i + PENDING_PREFETCH < n))
			pending_prefetch(p, &b->entry[i + PENDING_PREFETCH]);
		if (sweep_reclaim(p, &e))
			continue;
		if (e.deadline < nearest)
			nearest = e.deadline;
		b->entry[kept++] = e;
	}
	b->n = kept;
	b->nearest = nearest;
	return n - kept;
}

/* Looks at a block of the wheel; returns how many it dropped. */
static size_t look_in_wheel(struct pending *p, size_t *ret_looked)
{
	struct block *b = wheel_visit(&p->wheel);
	uint32_t dropped;

	*ret_looked = 0;
	if (!b)
		return 0;
	*ret_looked = b->n;
	dropped = look_in_block(p, b);
	wheel_visited(&p->wheel, dropped, &p->spares);
	return dropped;
}

/* One step of the round: looks at n of the heap at most, or at a block. */
static size_t look(struct pending *p, size_t n, size_t *ret_looked)
{
	size_t dropped;

	if (p->sweep.in_wheel) {
		dropped = look_in_wheel(p, ret_looked);
		p->sweep.in_wheel = *ret_looked > 0;
		return dropped;
	}
	*ret_looked = p->sweep.at < p->heap.n ? p->heap.n - p->sweep.at : 0;
	if (*ret_looked > n)
		*ret_looked = n;
	dropped = look_in_heap(p, n);
	if (p->sweep.at >= p->heap.n) {
		p->sweep.at = 0;
		p->sweep.in_wheel = true;
	}
	return dropped;
}

/* As sweep_look; returns how many it looked at. */
static size_t look_at(struct pending *p, size_t n, size_t *ret_dropped)
{
	size_t all = p->heap.n + p->wheel.n, done = 0, looked;

	*ret_dropped = 0;
	if (n > all)
		n = all;
	while (done < n && p->heap.n + p->wheel.n > 0) {
		*ret_dropped += look(p, n - done, &looked);
		done += looked;
	}
	if (*ret_dropped == 0)
		p->sweep.alarm -=
			p->sweep.alarm < done ? p->sweep.alarm : (uint32_t)done;
	return done;
}

bool sweep_look(struct pending *p, size_t n, size_t *ret_looked)
{
	size_t dropped;

	*ret_looked = look_at(p, n, &dropped);
	return dropped > 0 && dropped * WORTH_WHILE >= *ret_looked;
}

void sweep_pay(struct pending *p, size_t n)
{
	struct sweep *s = &p->sweep;
	size_t dropped;
	int64_t looks;

	s->owed += (int64_t)n * (s->alarm > 0 ? 2 * SWEEP_SAMPLE : 1);
	looks = s->owed / SWEEP_SAMPLE;
	if (looks < SWEEP_BATCH)
		return;
	s->owed -= SWEEP_SAMPLE * (int64_t)look_at(p, (size_t)looks, &dropped);
	/* There were not so many. */
	if (s->owed > 0)
		s->owed = 0;
}
