/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/expiry.h"
#include "pending/sweep.h"

/* Of so many looks one must find something, or more would be in vain. */
#define WORTH_WHILE 8

static bool note(struct sweep *sweep, struct intake *in, struct slot *s,
		 enum expiry x)
{
	if (likely(x == EXPIRY_PENDING))
		return false;
	sweep_raise_alarm(sweep);
	if (x == EXPIRY_OVER)
		intake_recycle(in, s);
	return true;
}

bool sweep_drop(struct sweep *sweep, struct intake *in, const struct entry *e)
{
	struct bucket *b = intake_bucket(in, e->index);
	struct slot *s = slots_of(&b->slots, e->index);

	return note(sweep, in, s, expiry_look(b, s, e));
}

bool sweep_refresh(struct sweep *sweep, struct intake *in, struct entry *e)
{
	struct bucket *b = intake_bucket(in, e->index);
	struct slot *s = slots_of(&b->slots, e->index);

	return note(sweep, in, s, expiry_refresh(b, s, e));
}

/* Looks at n of the heap, or to its end; returns how many it dropped. */
static size_t look_in_heap(struct sweep *s, struct filed *f, size_t n)
{
	struct heap *h = &f->heap;
	size_t dropped = 0;

	for (; n > 0 && s->at < h->n; n--) {
		size_t i = s->at;

		if (likely(i + INTAKE_PREFETCH < h->n))
			intake_prefetch(f->intake,
					heap_at(h, i + INTAKE_PREFETCH));
		if (sweep_drop(s, f->intake, heap_at(h, i))) {
			heap_remove(h, i);
			dropped++;
		}
		s->at++;
	}
	return dropped;
}

/* Drops what is over from a block; returns how many. */
static uint32_t look_in_block(struct sweep *s, struct filed *f, struct block *b)
{
	int64_t nearest = INT64_MAX;
	uint32_t n = b->n, kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct entry e = b->entry[i];

		if (likely(i + INTAKE_PREFETCH < n))
			intake_prefetch(f->intake,
					&b->entry[i + INTAKE_PREFETCH]);
		if (sweep_drop(s, f->intake, &e))
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
static size_t look_in_wheel(struct sweep *s, struct filed *f,
			    size_t *ret_looked)
{
	struct block *b = wheel_visit(&f->wheel);
	uint32_t dropped;

	*ret_looked = 0;
	if (!b)
		return 0;
	*ret_looked = b->n;
	dropped = look_in_block(s, f, b);
	wheel_visited(&f->wheel, dropped, &f->spares);
	return dropped;
}

/* One step of the round: looks at n of the heap at most, or at a block. */
static size_t look(struct sweep *s, struct filed *f, size_t n,
		   size_t *ret_looked)
{
	size_t dropped;

	if (s->in_wheel) {
		dropped = look_in_wheel(s, f, ret_looked);
		s->in_wheel = *ret_looked > 0;
		return dropped;
	}
	*ret_looked = s->at < f->heap.n ? f->heap.n - s->at : 0;
	if (*ret_looked > n)
		*ret_looked = n;
	dropped = look_in_heap(s, f, n);
	if (s->at >= f->heap.n) {
		s->at = 0;
		s->in_wheel = true;
	}
	return dropped;
}

/* As sweep_look; returns how many it looked at. */
static size_t look_at(struct sweep *s, struct filed *f, size_t n,
		      size_t *ret_dropped)
{
	size_t all = filed_count(f), done = 0, looked;

	*ret_dropped = 0;
	if (n > all)
		n = all;
	while (done < n && filed_count(f) > 0) {
		*ret_dropped += look(s, f, n - done, &looked);
		done += looked;
	}
	if (*ret_dropped == 0)
		s->alarm -= s->alarm < done ? s->alarm : (uint32_t)done;
	return done;
}

bool sweep_look(struct sweep *s, struct filed *f, size_t n, size_t *ret_looked)
{
	size_t dropped;

	*ret_looked = look_at(s, f, n, &dropped);
	return dropped > 0 && dropped * WORTH_WHILE >= *ret_looked;
}

void sweep_pay(struct sweep *s, struct filed *f, size_t n)
{
	size_t dropped;
	int64_t looks;

	s->owed += (int64_t)n * (s->alarm > 0 ? 2 * SWEEP_SAMPLE : 1);
	looks = s->owed / SWEEP_SAMPLE;
	if (looks < SWEEP_BATCH)
		return;
	s->owed -=
		SWEEP_SAMPLE * (int64_t)look_at(s, f, (size_t)looks, &dropped);
	/* There were not so many. */
	if (s->owed > 0)
		s->owed = 0;
}
