/* SPDX-License-Identifier: MIT */
/*
 * As "pair" with a window and 10 s for all, while beside it a near timer goes
 * on, 1 ms ahead each time: so the facility's thread is awake at times, and
 * what it then does with the far timers, or for how long it holds a lock, is
 * seen.  Either its callback schedules the next (mode=self), or another thread
 * schedules one each millisecond (mode=other).
 *
 * What the near timers themselves cost, about 1,000 runs a second, stays in
 * the figure: the loop without timers runs none.  One that schedules itself
 * runs less often where it is late; "near_s" tells how many ran a second.
 */
#include "config.h"

#include "work.h"

#include <pthread.h>

enum { SELF, OTHER };

/* One that is late by as many milliseconds is given up. */
enum { NEAR = 1000 };

static struct timers near_timers;
static int mode;
static int64_t start;
static pthread_t other;
static _Atomic bool stopping, stopped;
static _Atomic long runs;

/* At the last two looks: at the end, when measuring began and ended. */
static struct {
	int64_t at;
	long runs;
} look[2];

static void run_other(void *arg)
{
	(void)arg;
	runs++;
}

static void run_self(void *timer)
{
	runs++;
	if (stopping)
		stopped = true;
	else
		must_schedule(timer, now_ns(), BENCH_MS, run_self, timer);
}

/* One that has run is cancelled too, as a request does at its end. */
static void *schedule_near(void *arg)
{
	size_t n = 0;

	peer_enter();
	for (int64_t at = start; !stopping; at += BENCH_MS, n++) {
		void *t = timer_at(&near_timers, n % NEAR);

		sleep_until_ns(at);
		if (n >= NEAR)
			peer_cancel(t);
		must_schedule(t, now_ns(), BENCH_MS, run_other, NULL);
	}
	for (size_t k = 0; k < n && k < NEAR; k++)
		peer_cancel(timer_at(&near_timers, k));
	peer_leave();
	return arg;
}

static void watch(void)
{
	look[0] = look[1];
	look[1].at = now_ns();
	look[1].runs = runs;
}

static void begin(void)
{
	int r;

	start = now_ns();
	if (mode == SELF) {
		peer_enter();
		must_schedule(near_timers.memory, start, BENCH_MS, run_self,
			      near_timers.memory);
		peer_leave();
		return;
	}
	r = pthread_create(&other, NULL, schedule_near, NULL);
	if (r != 0)
		peer_die("a thread", r);
}

/*
 * No call may be going on when the peer is stopped.  Where nothing has ever
 * run, as without timers, nothing is waited for; where the next was lost, this
 * is until the program is ended.
 */
static void end(void)
{
	result("near_s", (double)(look[1].runs - look[0].runs) * 1e9 /
				 (double)(look[1].at - look[0].at));
	stopping = true;
	if (mode == OTHER)
		pthread_join(other, NULL);
	while (mode == SELF && runs > 0 && !stopped)
		sleep_until_ns(now_ns() + BENCH_MS);
}

int work_mixed(void)
{
	static const char *const modes[] = {"self", "other", NULL};
	struct window w = {
		.threads = (int)argument("threads", 1),
		.size = (size_t)argument("window", 20000),
		.least = 10 * BENCH_S,
		.most = 10 * BENCH_S,
		.beside = NEAR,
		.begin = begin,
		.end = end,
		.watch = watch,
	};
	int r;

	mode = argument_word("mode", modes);
	w.ns = argument_ns("seconds", 0.5);
	near_timers = timers_new(NEAR);
	r = window_run(&w);
	timers_free(&near_timers);
	return r;
}
