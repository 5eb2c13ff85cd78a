/* SPDX-License-Identifier: MIT */
/*
 * Schedule and cancel, at once (window 0) or with so many in flight a thread:
 * what a server does that sets a timer on every request.
 */
#include "config.h"

#include "work.h"

#include <stdlib.h>

/* So that no two threads' timers share a cache line. */
enum { APART = 64 };

static struct timers timers;
static size_t window;
static int64_t timeout;
static _Atomic long failures;

static void fill(int i)
{
	for (size_t k = 0; k < window; k++)
		must_schedule(timer_at(&timers, (size_t)i * window + k),
			      now_ns(), timeout, ignore, NULL);
}

static long turn_window(int i)
{
	const size_t first = (size_t)i * window, end = first + window;
	long n = 0, failed = 0;

	for (size_t k = first; !team_over(); n++) {
		void *t = timer_at(&timers, k);

		failed += peer_cancel(t) != 1;
		failed +=
			peer_schedule(t, now_ns(), timeout, ignore, NULL) != 0;
		if (++k == end)
			k = first;
	}
	failures += failed;
	return n;
}

static long turn_at_once(int i)
{
	void *t = timer_at(&timers, (size_t)i * APART);
	long n = 0, failed = 0;

	for (; !team_over(); n++) {
		failed +=
			peer_schedule(t, now_ns(), timeout, ignore, NULL) != 0;
		failed += peer_cancel(t) != 1;
	}
	failures += failed;
	return n;
}

static void empty(int i)
{
	for (size_t k = 0; k < window; k++)
		peer_cancel(timer_at(&timers, (size_t)i * window + k));
}

int work_pair(void)
{
	struct team team = {
		.threads = (int)argument("threads", 1),
		.begin = fill,
		.end = empty,
	};
	struct cost c;

	window = (size_t)argument("window", 0);
	timeout = argument_ns("timeout", 10);
	team.ns = argument_ns("seconds", 0.5);
	team.turn = window ? turn_window : turn_at_once;
	timers = timers_new((size_t)team.threads * (window ? window : APART));
	start_peer(team.threads, (size_t)team.threads * (window ? window : 1),
		   timeout);
	c = team_run(&team);
	result_cost(&c);
	result("failed", (double)failures);
	peer_stop();
	timers_free(&timers);
	return 0;
}
