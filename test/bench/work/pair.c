/* SPDX-License-Identifier: MIT */
/*
 * Schedule and cancel, at once (window 0) or with so many in flight a thread:
 * what a server does that sets a timer on every request.
 */
#include "config.h"

#include "work.h"

/* So that no two threads' timers share a cache line. */
enum { APART = 64 };

static struct timers timers;
static int64_t timeout;
static _Atomic long failures;

static void nothing(int i)
{
	(void)i;
}

static long turn(int i)
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

static int at_once(int threads, int64_t ns)
{
	const struct team team = {threads, ns, nothing, turn, nothing};

	timers = timers_new((size_t)threads * APART);
	start_peer(threads, (size_t)threads, timeout);
	return team_work(&team, &timers, &failures);
}

int work_pair(void)
{
	struct window w = {
		.threads = (int)argument("threads", 1),
		.size = (size_t)argument("window", 0),
	};

	w.least = w.most = timeout = argument_ns("timeout", 10);
	w.ns = argument_ns("seconds", 0.5);
	return w.size ? window_run(&w) : at_once(w.threads, w.ns);
}
