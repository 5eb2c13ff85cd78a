/* SPDX-License-Identifier: MIT */
/*
 * Which callbacks are running now, for a thread that looks from outside.
 *
 * They are found one after the other, in the order in which they began.  So no
 * list of them is made, and nothing is locked between two of them.  New
 * callbacks may begin all the time, so the caller looks only for those that had
 * begun by a certain time.
 *
 * Any thread, for an instance that lives.
 */
#include "base/keep.h"
#include "engine/fire.h"
#include "os/call.h"
#include "view/stats.h"

bool running_next(const struct timerthread *tt, int64_t by, struct run *s)
{
	struct run best = {.id = UINT64_MAX, .since = by};

	runs_next_of(&tt->engine.inside, s, &best);
	runs_next(&tt->runs, s, &best);
	*s = best;
	return best.id != UINT64_MAX;
}

TT_EXPORT_RARE int timerthread_visit_running(struct timerthread *tt,
					     int64_t threshold,
					     timerthread_slow_fn *fn, void *ctx)
{
	KEEP_THREAD;
	const struct slow visit = {threshold, fn, ctx};
	struct run s = RUNNING_BEGIN;
	struct report r = {&visit, &s, 0};
	int64_t now = clock_now(CLOCK_MONOTONIC);
	int n = instance_check(tt, fn && threshold >= 0);

	if (n < 0 || !instance_lives(tt))
		return n;
	while (running_next(tt, now, &s) &&
	       (r.run_time = now - s.since) > threshold) {
		if (!call_to_return(fire_report, &r))
			return -ECHILD;
		n++;
	}
	return n;
}
