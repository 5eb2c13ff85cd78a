/* SPDX-License-Identifier: MIT */
/*
 * Each deadline is earlier than all before, two hours ahead, and is cancelled
 * 1,000 turns later: what is at the top of a heap changes each time, and with
 * it the time that a thread sleeps until.
 */
#include "config.h"

#include "work.h"

enum { WINDOW = 1000 };

static struct timers timers;
static int64_t start;
static _Atomic long failures;

/* A microsecond earlier each time, however fast the turns are. */
static void schedule_earlier(void *timer, long n)
{
	int64_t now = now_ns();

	must_schedule(timer, now, start + 7200 * BENCH_S - n * BENCH_US - now,
		      ignore, NULL);
}

static long turn(int i)
{
	static _Thread_local long n;
	long before = n, failed = 0;

	for (; !team_over(); n++) {
		void *t = timer_at(&timers, (size_t)(i * WINDOW + n % WINDOW));

		if (n >= WINDOW)
			failed += peer_cancel(t) != 1;
		schedule_earlier(t, n);
	}
	failures += failed;
	return n - before;
}

static void nothing(int i)
{
	(void)i;
}

int work_earlier(void)
{
	struct team team = {
		.threads = (int)argument("threads", 1),
		.begin = nothing,
		.turn = turn,
		.end = nothing,
		.ns = argument_ns("seconds", 0.5),
	};
	struct cost c;
	long sleeps;

	timers = timers_new((size_t)team.threads * WINDOW);
	start_peer(team.threads, timers.n, 0);
	start = now_ns();
	sleeps = others_sleeps();
	c = team_run(&team);
	result_cost(&c);
	result("failed", (double)failures);
	result("sleeps", (double)(others_sleeps() - sleeps));
	peer_stop();
	timers_free(&timers);
	return 0;
}
