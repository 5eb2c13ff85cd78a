/* SPDX-License-Identifier: MIT */
/*
 * Taking back all timers that are pending.
 *
 * A drain goes through the slots, not the queues: a timer that is pending is
 * pending in its slot, wherever its entry is.  Each timer is cancelled as by
 * timerthread_cancel, with a compare-and-swap and without a lock.  So no thread
 * waits for a drain, however long it takes.  The timers that were drained are
 * dead, and are recycled like other cancelled timers.
 *
 * Each is counted before its visit, which may throw.
 */
#include "config.h"

#include "api/instance.h"
#include "os/base.h"
#include "os/tool.h"

#include <errno.h>
#include <limits.h>

struct visitor {
	timerthread_visit_fn *visit;
	void *ctx;
};

/* The load is relaxed: slot_take_pending looks again. */
static bool drain_slot(struct timerthread *tt, const struct slots *t,
		       uint32_t number, const struct visitor *v)
{
	struct slot *s = slots_at(t, number);
	uint64_t id = slots_id(t, number, atom32_load(&s->state));
	struct callback c;

	if (slot_take_pending(s, id, &c) != 0)
		return false;
	tool_acquire(s);
	cap_give(&tt->engine.cap);
	instance_count(tt, &tt->drained);
	v->visit(id, c.fn, c.arg, v->ctx);
	return true;
}

/* Drains the slots that had been used when it began.  Returns how many. */
static uint32_t drain_bucket(struct timerthread *tt, struct bucket *b,
			     const struct visitor *v)
{
	uint32_t end, n = 0;

	lock_acquire(&b->lock);
	end = slots_end(&b->slots);
	lock_release(&b->lock);
	for (uint32_t i = SLOT_FIRST_NUMBER; i < end; i++)
		n += drain_slot(tt, &b->slots, i, v);
	return n;
}

TT_EXPORT int timerthread_drain(struct timerthread *tt,
				timerthread_visit_fn *visit, void *ctx)
{
	const struct visitor v = {visit, ctx};
	int r = instance_check(tt, visit != NULL);
	struct bucket_set used;
	struct bucket *b;
	uint64_t n = 0;

	if (r < 0)
		return r;
	if (tt->options.is_default)
		return -EPERM;
	/* An instance that was never started has no timers. */
	if (!instance_lives(tt))
		return 0;
	used = intake_used(tt->engine.intake);
	while ((b = intake_take(tt->engine.intake, &used)))
		n += drain_bucket(tt, b, &v);
	return n < INT_MAX ? (int)n : INT_MAX;
}
