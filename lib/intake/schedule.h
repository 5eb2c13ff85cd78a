/* SPDX-License-Identifier: MIT */
/*
 * What calls do with the timers of a bucket, but for cancelling (slot.h).
 *
 * There are two ways to schedule.  The short one is what nearly all calls do,
 * and nothing else.  Whatever is not usual goes the long way, bucket_schedule.
 * (A pair of calls took 115 instructions more when there was one way for all.)
 *
 * Any thread.
 */
#pragma once

#include "base/probe.h"
#include "intake/arrival.h"

/* As timerthread_schedule_every, or _add.  The arguments were checked. */
INTERNAL int bucket_schedule(struct bucket *b, struct wakeup *w,
			     const struct timer *t, uint64_t *ret_id);

/*
 * As timerthread_reschedule, for a slot of this bucket.  inside: the caller is
 * the callback of the timer that is running in s.
 */
INTERNAL int bucket_reschedule(struct bucket *b, struct wakeup *w,
			       struct slot *s, uint64_t id, int64_t deadline,
			       bool inside);

/*
 * As slot_disarm.  If ret_ticket is not NULL, and the timer is running,
 * *ret_ticket is its ticket until that run ends; see await.h.
 */
INTERNAL int bucket_disarm(struct bucket *b, struct slot *s, uint64_t id,
			   bool running, uint32_t *ret_ticket);

/* As timerthread_get_deadline. */
INTERNAL int bucket_get_deadline(struct bucket *b, struct slot *s, uint64_t id,
				 int64_t *ret_deadline);

/*
 * Schedules a timer that does not repeat.  False: something is not usual, and
 * nothing is scheduled.  The lock is held by another thread; the bucket is not
 * open; the deadline is earlier than all in its lane, so the driver may have to
 * know it, or it may have passed; or memory is missing.
 */
static TT_INLINE bool schedule_shortly(struct bucket *b, int64_t deadline,
				       timerthread_fn *fn, void *arg,
				       uint64_t *ret_id)
{
	const struct timer t = {deadline, 0, fn, arg, 0};
	struct lane *l;
	struct slot *s;
	uint32_t word;
	uint64_t id;

	TT_KEEP(b);
	if (unlikely(!lock_try(&b->lock)))
		return false;
	l = arrival_aim(b, deadline).lane;
	TT_KEEP(l);
	if (unlikely(deadline < l->queue.nearest || deadline < b->doubtful ||
		     b->state != BUCKET_OPEN || !slots_any(&b->slots) ||
		     !arrival_ready(b, l, true))) {
		lock_release_inline(&b->lock);
		return false;
	}
	counter_add(&b->scheduled, 1);
	s = slots_take(&b->slots);
	word = atom32_load(&s->state);
	id = slot_id(s, word);
	/* As soon as the timer is armed, it may be drained. */
	if (ret_id)
		*ret_id = id;
	queue_push(&l->queue, slot_arm(s, word, &t, deadline, SLOT_ARMED));
	lock_release_inline(&b->lock);
	PROBE4(schedule, id, deadline, fn, arg);
	return true;
}
