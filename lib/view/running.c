/* SPDX-License-Identifier: MIT */
#include "view/running.h"

#include "base/keep.h"
#include "engine/fire.h"
#include "os/call.h"

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
