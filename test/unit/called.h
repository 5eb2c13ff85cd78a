/* SPDX-License-Identifier: MIT */
/*
 * An instance whose timers run in calls of the test, not on a thread.
 */
#pragma once

#include "timers.h"

#include "child.h"

static int runs;
static int64_t seen; /* the time of the last run */

static inline int64_t now(void)
{
	return timerthread_now(tt);
}

static inline void note(void *arg)
{
	(void)arg;
	runs++;
	seen = now();
}

static inline void visit(timerthread_id id, timerthread_fn *fn, void *arg,
			 void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	(void)ctx;
}

static inline int cancel_all(void)
{
	return timerthread_cancel_all(tt, visit, NULL);
}

static inline pthread_t start_thread(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	ck_assert_int_eq(pthread_create(&t, NULL, fn, arg), 0);
	return t;
}

/* Under a tool. */
static inline bool is_slow(void)
{
	return fork_is_delicate() || getenv("TT_VALGRIND");
}
