/* SPDX-License-Identifier: MIT */
/*
 * Scheduling into a bucket, for callers that have it inline.  (A call that
 * servers make for each request: as functions that pass a struct, it took 45
 * instructions more.)
 *
 * Any thread.
 */
#ifndef TT_SCHEDULE_H
#define TT_SCHEDULE_H

#include "intake/arrival.h"
#include "intake/handover.h"
#include "os/probe.h"
#include "os/tool.h"

/* As bucket_schedule. */
static TT_INLINE int schedule_inline(struct bucket *b, struct wakeup *w,
				     const struct timer *t, uint64_t *ret_id)
{
	struct arrival a;
	struct slot *s;
	uint64_t id;
	int r = arrival_begin(b, w, true, t->deadline, &t->now, &a);

	if (unlikely(r < 0))
		return r;
	counter_add(&b->scheduled, 1);
	s = slots_take(&b->slots);
	id = slot_id(s, atom32_load(&s->state));
	/* As soon as the timer is armed, it may be drained. */
	if (ret_id)
		*ret_id = id;
	tool_release(s);
	slot_arm(s, t, a.due,
		 likely(t->period != PERIOD_ADDED) ? SLOT_ARMED : SLOT_UNARMED);
	if (unlikely(t->period == PERIOD_ADDED))
		arrival_leave(b, w, false);
	else if (likely(r == ARRIVAL_READY))
		arrival_add(b, w, a.lane, slot_entry(s));
	else
		handover_add(b, w, a.lane, s, r);
	PROBE4(schedule, id, t->deadline, t->fn, t->arg);
	return 0;
}

#endif
