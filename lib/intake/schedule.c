/* SPDX-License-Identifier: MIT */
#include "base/probe.h"
#include "intake/arrival.h"
#include "intake/bucket.h"
#include "intake/unqueued.h"
#include "os/tool.h"

int bucket_schedule(struct bucket *b, struct wakeup *w, const struct timer *t,
		    uint64_t *ret_id)
{
	bool added = t->period == PERIOD_ADDED;
	struct arrival a;
	struct entry e;
	struct slot *s;
	uint32_t word;
	uint64_t id;
	int r = arrival_begin(b, w, true, t->deadline, &t->now, &a);

	if (unlikely(r < 0))
		return r;
	counter_add(&b->scheduled, 1);
	s = slots_take(&b->slots);
	word = atom32_load(&s->state);
	id = slot_id(s, word);
	/* As soon as the timer is armed, it may be drained. */
	if (ret_id)
		*ret_id = id;
	tool_release(s);
	e = slot_arm(s, word, t, a.due, added ? SLOT_UNARMED : SLOT_ARMED);
	if (unlikely(added))
		arrival_leave(b, w, false);
	else if (likely(r == ARRIVAL_READY))
		arrival_add(b, w, a.lane, e);
	else
		unqueued_add(b, w, a.lane, s, r);
	PROBE4(schedule, id, t->deadline, t->fn, t->arg);
	return 0;
}
