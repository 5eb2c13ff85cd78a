/* SPDX-License-Identifier: MIT */
/*
 * Handing back what will never run.
 *
 * It goes through the slots, not the queues: a timer that is pending is
 * pending in its slot, wherever its entry is.  A cancel that comes at the same
 * time gets each timer or does not, as any other cancel.
 */
#include "config.h"

#include "api/instance.h"
#include "os/base.h"

#include <errno.h>
#include <limits.h>

struct visitor {
	timerthread_visit_fn *visit;
	void *ctx;
};

static bool drain_slot(struct slot *s, const struct visitor *v)
{
	uint64_t id = slot_id(s, atom32_load_acquire(&s->state));

	if (slot_cancel(s, id) != 0)
		return false;
	v->visit(id, s->fn, slot_arg(s), v->ctx);
	return true;
}

/* Nothing gets into the bucket any more. */
static int drain_bucket(struct bucket *b, const struct visitor *v, int n)
{
	uint32_t end;

	lock_acquire(&b->lock);
	end = b->slots.fresh << SLOT_WORD_LOG2;
	lock_release(&b->lock);
	for (uint32_t i = SLOT_FIRST_NUMBER; i < end; i++) {
		if (drain_slot(slots_at(&b->slots, i), v) && n < INT_MAX)
			n++;
	}
	return n;
}

static bool is_stopped(const struct timerthread *tt)
{
	return (tt->life == LIFE_STOPPING || tt->life == LIFE_STOPPED) &&
	       instance_is_quiet(tt);
}

/* 0: nothing runs any more, or ever did. */
static int check_stopped(struct timerthread *tt, bool valid)
{
	int r = instance_check(tt, valid);

	if (r < 0)
		return r;
	pthread_mutex_lock(&tt->mutex);
	r = is_stopped(tt) ? 0 : -EBUSY;
	pthread_mutex_unlock(&tt->mutex);
	return r;
}

TT_EXPORT int timerthread_drain(struct timerthread *tt,
				timerthread_visit_fn *visit, void *ctx)
{
	const struct visitor v = {visit, ctx};
	int n;

	n = check_stopped(tt, visit != NULL);
	for (uint32_t i = 0;
	     n >= 0 && tt->engine.intake && i < tt->engine.intake->n; i++)
		n = drain_bucket(&tt->engine.intake->bucket[i], &v, n);
	return n;
}
