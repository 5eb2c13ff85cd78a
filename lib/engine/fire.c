/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine/fire.h"
#include "engine/inside.h"
#include "intake/expiry.h"
#include "intake/handover.h"

#include <limits.h>

static void count(struct engine *e)
{
	if (e->ran < INT_MAX)
		e->ran++;
}

/* Leaves it to the next batch. */
static void postpone(struct engine *e, struct bucket *b, struct slot *s,
		     const struct entry *entry)
{
	if (!pending_reserve(&e->pending)) {
		e->over = true;
		pending_put_back(&e->pending, *entry);
	} else if (!handover_postpone(b, &e->wakeup, s, entry)) {
		pending_unreserve(&e->pending, 1);
	}
}

/* Who sees that the timer is over can count on its place. */
void fire_conclude(struct engine *e, struct slot *s)
{
	cap_give(&e->cap);
	if (!expiry_end(s))
		await_end(&e->await, s);
}

static void finish(struct engine *e, struct bucket *b, struct slot *s,
		   struct entry *entry)
{
	if (expiry_repeat(b, s, entry)) {
		if (e->batch && entry->deadline <= e->until)
			postpone(e, b, s, entry);
		else
			pending_put_back(&e->pending, *entry);
		return;
	}
	fire_conclude(e, s);
	intake_recycle(e->intake, s);
}

static enum step run(struct engine *e, struct bucket *b, struct slot *s,
		     struct entry *entry)
{
	uint64_t id = slot_id(s, atom32_load(&s->state));

	count(e);
	pending_prefetch_next(&e->pending, e->now);
	engine_set_idle(e);
	if (!inside_call(e->instance, id, s->fn, slot_arg(s)))
		return STEP_FORKED;
	engine_set_busy(e);
	finish(e, b, s, entry);
	return STEP_MORE;
}

static enum step hand_over(struct engine *e, struct slot *s)
{
	count(e);
	engine_set_idle(e);
	if (!e->hand_over(e->instance, s))
		return STEP_FORKED;
	engine_set_busy(e);
	return STEP_MORE;
}

static enum expiry begin(struct engine *e, struct bucket *b, struct slot *s,
			 struct entry *entry)
{
	int64_t now = e->now;

	/* So that a period that has passed by now counts as missed. */
	if (entry->ticket & TICKET_REPEATS)
		now = engine_clock(e);
	return expiry_begin(b, s, entry, now);
}

static enum expiry give(struct engine *e, struct bucket *b, struct slot *s,
			struct entry *entry)
{
	enum expiry x = handover_give(b, s, entry, e->now);

	if (x != EXPIRY_RUN)
		pending_unreserve(&e->pending, 1);
	return x;
}

enum step fire(struct engine *e)
{
	struct entry entry = pending_take(&e->pending);
	struct bucket *b = intake_bucket(e->intake, entry.index);
	struct slot *s = slots_of(&b->slots, entry.index);
	/* Without memory it runs here. */
	bool gives = e->hand_over && pending_reserve(&e->pending);

	switch (gives ? give(e, b, s, &entry) : begin(e, b, s, &entry)) {
	case EXPIRY_RUN:
		return gives ? hand_over(e, s) : run(e, b, s, &entry);
	case EXPIRY_LATER:
		pending_put_back(&e->pending, entry);
		break;
	case EXPIRY_OVER:
		intake_recycle(e->intake, s);
		break;
	default:
		break;
	}
	return STEP_MORE;
}
