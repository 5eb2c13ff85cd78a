/* SPDX-License-Identifier: MIT */
/*
 * The calls on timers, and what a callback can ask about its own run: check the
 * arguments, find the part, call it.
 */
#include "api/instance.h"
#include "intake/reserve.h"
#include "intake/schedule.h"
#include "os/tool.h"

/* No place is free: because of the cap, or after a stop because of that. */
static TT_NOINLINE int why_full(struct timerthread *tt)
{
	if (wakeup_stopping(&tt->engine.wakeup))
		return -ESHUTDOWN;
	instance_count(tt, &tt->capped);
	return -EAGAIN;
}

/* The bucket was never used, has no memory for the timer, or is shut. */
static int schedule_elsewhere(struct timerthread *tt, struct bucket *b,
			      const struct timer *t, timerthread_id *ret_id,
			      int r)
{
	struct engine *e = &tt->engine;

	if (r == -ESHUTDOWN && intake_use(e->intake, b))
		r = bucket_schedule(b, &e->wakeup, t, ret_id);
	if (r < 0 && r != -ESHUTDOWN)
		r = intake_schedule_elsewhere(e->intake, b, &e->wakeup, t,
					      ret_id, r);
	if (r < 0)
		cap_give(&e->cap);
	if (r < 0 && r != -ESHUTDOWN)
		instance_count(tt, &tt->no_memory);
	return r;
}

/*
 * Is the caller a callback on the instance's timer thread, whose timers go to
 * the quiet bucket?  Not for more than a second: then other threads may often
 * reschedule them.  (And that bucket has little of a reserve; and a loop is
 * mostly the only thread that uses its instance.)
 */
static inline bool wants_quiet(const struct timerthread *tt, int64_t deadline)
{
	return unlikely(this_call.in == &tt->engine.inside) &&
	       tt->driver == DRIVER_THREAD && tt->options.reserve == 0 &&
	       deadline <= clock_add(tt->engine.until, NS_PER_S);
}

/* The long way, for all.  now is as in struct timer. */
static TT_NOINLINE int schedule(struct timerthread *tt, int64_t deadline,
				timerthread_fn *fn, void *arg,
				timerthread_id *ret_id, int64_t now,
				int64_t period)
{
	const struct timer t = {deadline, period, fn, arg, now};
	struct bucket *b;
	uint32_t cpu;
	int r = instance_started(tt);

	if (unlikely(r < 0))
		return r;
	cpu = cpu_map_pick(&tt->engine.intake->cpus);
	if (unlikely(!cap_take(&tt->engine.cap, cpu)))
		return why_full(tt);
	b = intake_pick(tt->engine.intake, cpu,
			wants_quiet(tt, deadline) ||
				(period > 0 && period <= NS_PER_S));
	r = bucket_schedule(b, &tt->engine.wakeup, &t, ret_id);
	if (unlikely(r < 0))
		r = schedule_elsewhere(tt, b, &t, ret_id, r);
	return instance_announced(tt, r);
}

/*
 * The short way first.  As schedule, with a period of 0, but looks whether
 * there is an instance and a function.
 */
static TT_NOINLINE int schedule_once(struct timerthread *tt, int64_t deadline,
				     timerthread_fn *fn, void *arg,
				     timerthread_id *ret_id, int64_t now)
{
	if (unlikely(!tt || !fn))
		return instance_check(tt, false);
	if (instance_has_short_way(tt) && !wants_quiet(tt, deadline)) {
		struct intake *in = tt->engine.intake;
		struct bucket *b = &in->bucket[cpu_map_pick(&in->cpus)];

		if (likely(schedule_shortly(b, deadline, fn, arg, ret_id)))
			return 0;
	}
	return schedule(tt, deadline, fn, arg, ret_id, now, 0);
}

TT_EXPORT int timerthread_schedule(struct timerthread *tt, int64_t deadline,
				   timerthread_fn *fn, void *arg,
				   timerthread_id *ret_id)
{
	return schedule_once(tt, deadline, fn, arg, ret_id, 0);
}

TT_EXPORT int timerthread_schedule_after(struct timerthread *tt, int64_t delay,
					 timerthread_fn *fn, void *arg,
					 timerthread_id *ret_id)
{
	/* The instance may just be starting: the call waits, and succeeds. */
	int64_t now = likely(tt != NULL) ? instance_now(tt) : 0;

	return schedule_once(tt, clock_add(now, delay), fn, arg, ret_id, now);
}

TT_EXPORT int timerthread_schedule_every(struct timerthread *tt, int64_t first,
					 int64_t period, timerthread_fn *fn,
					 void *arg, timerthread_id *ret_id)
{
	if (unlikely(!tt || !fn || period <= 0))
		return instance_check(tt, false);
	return schedule(tt, first, fn, arg, ret_id, 0, period);
}

TT_EXPORT int timerthread_schedule_every_after(struct timerthread *tt,
					       int64_t delay, int64_t period,
					       timerthread_fn *fn, void *arg,
					       timerthread_id *ret_id)
{
	int64_t first = clock_add(timerthread_now(tt), delay);

	return timerthread_schedule_every(tt, first, period, fn, arg, ret_id);
}

TT_EXPORT int timerthread_prepare(struct timerthread *tt, timerthread_fn *fn,
				  void *arg, timerthread_id *ret_id)
{
	if (unlikely(!tt || !fn || !ret_id))
		return instance_check(tt, false);
	return schedule(tt, TIMERTHREAD_NEVER, fn, arg, ret_id, 0,
			PERIOD_PREPARED);
}

/*
 * All calls on a timer that exists begin with this.  Returns 0 and stores its
 * slot, or returns an error.  An instance that does not live has no timers.
 */
static inline int find_slot(struct timerthread *tt, timerthread_id id,
			    struct slot **ret_slot)
{
	if (unlikely(!tt))
		return -EINVAL;
	if (unlikely(!instance_lives(tt)))
		return instance_inherited(tt) ? -ECHILD : -ENOENT;
	*ret_slot = intake_slot(tt->engine.intake, id);
	return likely(*ret_slot != NULL) ? 0 : -ENOENT;
}

/* The end of a call that has tried to cancel, with the result r. */
static int cancelled(struct timerthread *tt, struct slot *s, timerthread_id id,
		     int r)
{
	/*
	 * For tools: the caller knows now what has become of the timer, if
	 * there ever was one in this slot.
	 */
	if (tool_here() && atom32_load(&s->state) != 0)
		tool_acquire(s);
	r = engine_cancelled(&tt->engine, s, r);
	PROBE2(cancel, id, r);
	return r;
}

/* The long way of timerthread_cancel. */
static TT_NOINLINE int cancel_any(struct timerthread *tt, timerthread_id id)
{
	struct slot *s;
	int r = find_slot(tt, id, &s);

	return unlikely(r < 0) ? r : cancelled(tt, s, id, slot_cancel(s, id));
}

TT_EXPORT int timerthread_cancel(struct timerthread *tt, timerthread_id id)
{
	if (likely(tt != NULL) && instance_has_short_way(tt)) {
		struct slot *s = intake_slot(tt->engine.intake, id);

		if (likely(s != NULL && slot_kill(s, id))) {
			PROBE2(cancel, id, 0);
			return 0;
		}
	}
	return cancel_any(tt, id);
}

TT_EXPORT int timerthread_cancel_take(struct timerthread *tt, timerthread_id id,
				      void **ret_arg)
{
	struct slot *s;
	void *arg;
	int r = likely(ret_arg != NULL) ? find_slot(tt, id, &s)
					: instance_check(tt, false);

	if (unlikely(r < 0))
		return r;
	r = cancelled(tt, s, id, slot_take(s, id, &arg));
	if (r == 0)
		*ret_arg = arg;
	return r;
}

/* As bucket_disarm. */
static inline int disarm(struct timerthread *tt, struct slot *s,
			 timerthread_id id, bool running, uint32_t *ret_ticket)
{
	int r = bucket_disarm(intake_bucket(tt->engine.intake, slot_index(id)),
			      s, id, running, ret_ticket);

	/* Else the caller asks again. */
	if (r != 1 || running)
		PROBE2(disarm, id, r);
	return r;
}

/* As timerthread_cancel_wait_until; or, if not cancels, it disarms. */
static int end_and_wait(struct timerthread *tt, timerthread_id id, bool cancels,
			int64_t deadline)
{
	uint32_t ticket = 0;
	struct slot *s;
	int r = find_slot(tt, id, &s);

	if (r < 0)
		return r;
	r = cancels ? slot_cancel_pending(s, id)
		    : disarm(tt, s, id, false, NULL);
	if (likely(r != 1))
		return cancels ? cancelled(tt, s, id, r) : r;
	/* It was running, and still is if the caller is its callback. */
	if (instance_inside(tt, id))
		return -EDEADLK;
	deadline = instance_steady_time(tt, deadline);
	await_begin(&tt->engine.await);
	r = cancels ? cancelled(tt, s, id, slot_cancel(s, id))
		    : disarm(tt, s, id, true, &ticket);
	return await_end(&tt->engine.await,
			 intake_bucket(tt->engine.intake, slot_index(id)), s,
			 id, ticket, deadline, r);
}

TT_EXPORT int timerthread_cancel_wait_until(struct timerthread *tt,
					    timerthread_id id, int64_t deadline)
{
	return end_and_wait(tt, id, true, deadline);
}

TT_EXPORT int timerthread_cancel_wait(struct timerthread *tt, timerthread_id id)
{
	return end_and_wait(tt, id, true, TIMERTHREAD_NEVER);
}

TT_EXPORT int timerthread_disarm(struct timerthread *tt, timerthread_id id)
{
	struct slot *s;
	int r = find_slot(tt, id, &s);

	return unlikely(r < 0) ? r : disarm(tt, s, id, true, NULL);
}

TT_EXPORT int timerthread_disarm_wait(struct timerthread *tt, timerthread_id id)
{
	return end_and_wait(tt, id, false, TIMERTHREAD_NEVER);
}

/* Errors that hold for all timers come before errors of this one. */
TT_EXPORT int timerthread_reschedule(struct timerthread *tt, timerthread_id id,
				     int64_t deadline)
{
	struct intake *in;
	struct slot *s;
	bool inside;
	int r;

	if (unlikely(!tt))
		return -EINVAL;
	r = instance_started(tt);
	if (unlikely(r < 0))
		return r;
	in = tt->engine.intake;
	s = intake_slot(in, id);
	if (unlikely(!s))
		return wakeup_stopping(&tt->engine.wakeup) ? -ESHUTDOWN
							   : -ENOENT;
	/*
	 * In its own callback, the timer is running all the time.  A thread
	 * that is in no call does not look: the slot's line comes while it
	 * waits for the lock.  (One of 100,000 was rescheduled in 40 ns instead
	 * of 46, of which 24 were the loop.)
	 */
	inside = unlikely(this_call.in || tt->engine.task_id.fn) &&
		 slot_is_running(s, id) && instance_inside(tt, id);
	prefetch_to_write(s);
	tool_release(s);
	r = bucket_reschedule(intake_bucket(in, slot_index(id)),
			      &tt->engine.wakeup, s, id, deadline, inside);
	PROBE3(reschedule, id, deadline, r);
	return instance_announced(tt, r);
}

TT_EXPORT int timerthread_reschedule_after(struct timerthread *tt,
					   timerthread_id id, int64_t delay)
{
	int64_t now = likely(tt != NULL) ? instance_now(tt) : 0;

	return timerthread_reschedule(tt, id, clock_add(now, delay));
}

TT_EXPORT int timerthread_get_deadline(struct timerthread *tt,
				       timerthread_id id, int64_t *ret_deadline)
{
	struct slot *s;
	int r = ret_deadline ? find_slot(tt, id, &s)
			     : instance_check(tt, false);

	if (r < 0)
		return r;
	return bucket_get_deadline(
		intake_bucket(tt->engine.intake, slot_index(id)), s, id,
		ret_deadline);
}

TT_EXPORT int timerthread_get_current(struct timerthread **ret_tt,
				      timerthread_id *ret_id)
{
	const struct current *c = inside_current();

	if (!c)
		return -ENOENT;
	if (ret_tt)
		*ret_tt = c->tt;
	if (ret_id)
		*ret_id = c->id;
	return 0;
}

TT_EXPORT int timerthread_get_overrun(uint64_t *ret_n)
{
	const struct current *c = inside_current();

	if (!ret_n)
		return -EINVAL;
	if (!c)
		return -ENOENT;
	*ret_n = c->overrun;
	return 0;
}

TT_EXPORT const char *timerthread_version(void)
{
	return PACKAGE_VERSION;
}
