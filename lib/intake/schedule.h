/* SPDX-License-Identifier: MIT */
/*
 * What calls do with the timers of a bucket, but for cancelling (slot.h).
 *
 * There are two ways to schedule.  The short one is what nearly all calls do,
 * and nothing else.  Whatever is not usual goes the long way, bucket_schedule.
 * (A pair of calls took 115 instructions more when there was one way for all.)
 *
 * If the timer that was scheduled last is dead, and still the last one of its
 * lane, its slot and its entry are used again.  So a caller that cancels each
 * timer before it schedules the next leaves nothing behind, and there is
 * nothing to recycle.  And the call does not wait for what it would find in the
 * lane and in the words of free slots: a CPU guesses the results of comparisons
 * and goes on.  (A pair took 41 ns, of which 22 were the loop, and 38 so.)
 * Where timers are in flight, or another CPU cancels, this would fail.  So it
 * is tried from when recycling has emptied a lane until it fails once.
 *
 * What do calls wait for?  A locked instruction waits until all stores before
 * it are in the cache, and what comes after it waits for it.  Between two of
 * them, time goes by in chains: loads that need the result of the one before.
 * Instructions beside the chains cost little.  (A pair that had 74 fewer, and a
 * longer chain, was no faster.)  [x] is locked, -> needs what is before it:
 *
 *	schedule	CPU -> bucket [lock] and then side by side
 *				base -> distance -> table -> lane -> end of its
 *				queue -> the entry's line
 *				word of free slots -> slot -> its state -> id
 *	  latest	CPU -> bucket [lock] -> slot: the rest is compared
 *	cancel		id -> chunk -> slot -> state [compare-and-swap]
 *	reschedule,	id -> chunk -> slot, which is fetched meanwhile
 *	arm, disarm	id -> bucket [lock] -> state [compare-and-swap; only of
 *			a timer that was not moved before, or to disarm] ->
 *			deadline
 *
 * Which lines these are:
 *  - many in flight, in order: slots follow each other in memory, so the CPU
 *    has fetched the next one.  The first word behind them is prefetched, too
 *    (slots_take), and what recycling will look at (recycle.h);
 *  - mixed timeouts: the same, but an entry's line is one of several lanes';
 *  - another CPU cancels: the slot's line comes back from there, when
 *    recycling has prefetched it; cancel asks for it once, to write (slot.h);
 *  - one of 100,000 at random is rescheduled: the slot's line is in no near
 *    cache, and its page not in the TLB; the next lock waits for the store.
 *
 * Any thread.
 */
#pragma once

#include "base/probe.h"
#include "intake/arrival.h"

/* As timerthread_schedule_every, or _prepare.  The arguments were checked. */
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
 * Is it dead, and not used up, and its entry the lane's last?  Where that was,
 * there may be another one by now.  Acquire: in the place of slot_free.
 */
static TT_INLINE bool latest_is_over(const struct latest *t,
				     const struct lane *l)
{
	uint32_t dead = slot_word(t->id) ^ SLOT_ARMED ^ SLOT_DEAD;

	return likely(t->entry + 1 == l->queue.back) &&
	       likely(atom32_load_acquire(&t->slot->state) == dead) &&
	       likely(slot_owns(t->slot, t->entry)) &&
	       likely(t->entry->index == slot_index(t->id)) &&
	       likely(!(t->entry->ticket & TICKET_WORN)) &&
	       likely(slot_next(dead) != 0);
}

/* Its slot, for another timer, whose id is *ret_id.  NULL: it is in use. */
static TT_INLINE struct slot *take_latest(struct bucket *b, struct lane *l,
					  uint64_t *ret_id)
{
	struct latest *t = &b->latest;

	if (unlikely(!latest_is_over(t, l))) {
		*t = (struct latest){.wanted = false};
		return NULL;
	}
	l->queue.back--;
	t->id += (uint64_t)SLOT_GENERATION << 32;
	*ret_id = t->id;
	return t->slot;
}

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
	struct slot *s = NULL;
	struct lane *l;
	uint64_t id;

	TT_KEEP(b);
	if (unlikely(!lock_try(&b->lock)))
		return false;
	l = arrival_aim(b, deadline).lane;
	TT_KEEP(l);
	if (unlikely(deadline < l->queue.nearest || deadline < b->doubtful ||
		     b->state != BUCKET_OPEN))
		goto not_usual;
	if (b->latest.entry)
		s = take_latest(b, l, &id);
	if (!s) {
		if (unlikely(!slots_any(&b->slots) ||
			     !arrival_ready(b, l, false)))
			goto not_usual;
		s = slots_take(&b->slots);
		id = slot_id(s, atom32_load(&s->state));
		if (unlikely(b->latest.wanted))
			b->latest = (struct latest){true, l->queue.back, s, id};
	}
	counter_add(&b->scheduled, 1);
	/* As soon as it is armed, cancel_all may visit the timer. */
	if (ret_id)
		*ret_id = id;
	queue_push(&l->queue, slot_arm(s, slot_word(id) ^ SLOT_ARMED, &t,
				       deadline, SLOT_ARMED));
	lock_release_inline(&b->lock);
	PROBE4(schedule, id, deadline, fn, arg);
	return true;
not_usual:
	lock_release_inline(&b->lock);
	return false;
}
