/* SPDX-License-Identifier: MIT */
/*
 * What is asked about timers, and what is seen of those that match.
 */
#pragma once

#include "prepared.h"

/* A timer's argument, and what was seen of it. */
struct seen {
	timerthread_id id;
	timerthread_fn *fn;
	atom32 matches;
	atom32 visits;
	atom32 cancelled;
	atom32 runs;
	bool wrong;
};

/* Does not count the last one of settle, which may still be running. */
static inline int match_none(timerthread_id id, timerthread_fn *fn, void *arg,
			     void *ctx)
{
	(void)id;
	(void)arg;
	if (ctx && fn != post)
		++*(int *)ctx;
	return 0;
}

static inline int match_all(timerthread_id id, timerthread_fn *fn, void *arg,
			    void *ctx)
{
	match_none(id, fn, arg, ctx);
	return 1;
}

static inline int take_all(void)
{
	return timerthread_cancel_matching(tt, match_all, NULL, NULL);
}

static inline void visit_seen(timerthread_id id, timerthread_fn *fn, void *arg,
			      void *ctx)
{
	struct seen *s = arg;

	(void)ctx;
	if (s->id != id || s->fn != fn || cancel(id) != -ENOENT)
		s->wrong = true;
	atom32_add(&s->visits, 1);
}
