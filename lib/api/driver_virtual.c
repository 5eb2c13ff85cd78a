/* SPDX-License-Identifier: MIT */
/*
 * The driver that is a test, with a virtual clock.
 */
#include "api/driver.h"
#include "base/keep.h"
#include "engine/turn.h"

#include <limits.h>

TT_EXPORT int timerthread_start_virtual(struct timerthread *tt, int64_t now)
{
	const struct start how = {.driver = DRIVER_VIRTUAL, .now = now};

	return start_instance(tt, true, &how);
}

/* Goes from one deadline to the next.  False: in a child of fork(2). */
static bool run_until(struct timerthread *tt, int64_t end, int *ran)
{
	struct engine *e = &tt->engine;
	int64_t next, now = watch_now(&e->watch);

	do {
		next = engine_next(e, end);
		now = next > now ? next : now;
		if (wakeup_stopping(&e->wakeup))
			break;
		watch_set(&e->watch, now);
		if (!engine_turn(e, now))
			return false;
		*ran += e->ran < INT_MAX - *ran ? e->ran : INT_MAX - *ran;
	} while (e->ran > 0 || now < end || e->again);
	return true;
}

TT_EXPORT int timerthread_advance(struct timerthread *tt, int64_t ns)
{
	int r = driver_begin(tt, DRIVER_VIRTUAL, ns >= 0), ran = 0;

	if (r < 0)
		return r;
	KEEP_THREAD_UNLESS(tt->engine.task_id.fn);
	ns = clock_add(watch_now(&tt->engine.watch), ns);
	if (!run_until(tt, ns, &ran))
		return -ECHILD;
	driver_end(tt);
	return ran;
}
