/* SPDX-License-Identifier: MIT */
/*
 * The driver that is a thread of the instance's own.
 */
#include "api/instance.h"
#include "engine/reclaim.h"
#include "engine/turn.h"
#include "os/call.h"

/* Calls a hook.  False: in a child of fork(2), where this thread ends. */
static bool call_hook(struct timerthread *tt, timerthread_fn *hook)
{
	const struct task_id no_tasks = {0};
	const struct run none = {0};
	struct engine *e = &tt->engine;
	bool destroyed = atom32_load(&e->destroyed);

	return !hook ||
	       inside_call(tt, &e->inside, destroyed ? &no_tasks : &e->task_id,
			   &none, hook, tt->options.hooks.arg);
}

/*
 * To sleep and to wake up costs a few microseconds of CPU time, tens of them in
 * a virtual machine.  The timers lack that time.  So after several timers have
 * run since the last sleep, the driver rests: the timers that it already has do
 * not end the next sleep before the rest is over.  (An arrival may.)  Timers
 * that expire meanwhile run together after it, as if the kernel had ended the
 * sleep late.  If the CPU was idle, the kernel ends a sleep about 20 us late
 * anyway.
 *
 * Measured with half a million timers a second, in a virtual machine with two
 * CPUs (late: the median):
 *
 *	rest, us		  0	 10	 20	 50
 *	CPU a timer, us		2.2	2.0	1.6	1.3
 *	late, us		 14	 21	 34	 59
 *
 * One lock, one heap and one condition variable, whose sleeps end 50 us late by
 * the kernel's default, took 1.6 and 71 us.
 *
 * The slack, which is added to each sleep, counts as rest.
 */
#define REST_NS 20000

/*
 * Returns the time when the rest is over; INT64_MIN: there is no rest.  Timers
 * that are due already do not wait.  A driver that spins does not rest.
 */
static int64_t rest_until(const struct engine *e, uint64_t ran, int64_t now)
{
	if (ran <= 1 || e->next <= now || e->wakeup.spin > 0 ||
	    REST_NS <= e->wakeup.slack)
		return INT64_MIN;
	return clock_add(now, REST_NS - e->wakeup.slack);
}

/* False: as call_hook. */
static bool take_turns(struct timerthread *tt)
{
	struct engine *e = &tt->engine;
	uint64_t ran = 0; /* since it slept */

	if (!call_hook(tt, tt->options.hooks.on_start))
		return false;
	while (!wakeup_stopping(&e->wakeup)) {
		int64_t now;

		if (!engine_turn(e, watch_now(&e->watch)))
			return false;
		now = watch_now(&e->watch);
		ran += e->ran;
		if (e->wakeup.spin > 0 && spin_until_due(e))
			continue;
		e->wakeup.rest_until = rest_until(e, ran, now);
		e->wakeup.by = reclaim_at(e);
		if (wakeup_sleep(&e->wakeup, e->next, now))
			ran = 0;
	}
	return call_hook(tt, tt->options.hooks.on_exit);
}

static void *thread_main(void *arg)
{
	struct timerthread *tt = arg;

	/*
	 * Until the start is over: if the program forks in a function that this
	 * thread calls, the child finds an instance that was started.
	 */
	pthread_mutex_lock(&tt->mutex);
	pthread_mutex_unlock(&tt->mutex);
	thread_prepare(tt->options.name, tt);
	/* It also works where the stack cannot be unwound (see call.h). */
	pthread_cleanup_push(call_left, NULL);
	wakeup_set_awake(&tt->engine.wakeup, true);
	if (take_turns(tt)) {
		wakeup_set_awake(&tt->engine.wakeup, false);
		/* The thread's last use of tt. */
		driver_end(tt);
	}
	pthread_cleanup_pop(0);
	return NULL;
}

int driver_begin_thread(struct timerthread *tt, const pthread_attr_t *attr)
{
	int r;

	tt->turning = true;
	r = thread_create(&tt->thread, attr, thread_main, tt);
	tt->turning = r == 0;
	if (r == 0 && tt->options.is_default)
		system_make_ordinary(tt->thread);
	return r;
}
