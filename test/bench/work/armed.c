/* SPDX-License-Identifier: MIT */
/*
 * Connections with a timer each, made once: it is armed when a request comes,
 * and disarmed when that is answered.  So many requests are under way a thread;
 * each turn the oldest is answered and the next one comes.
 *
 * A facility that has no such timers schedules and cancels.
 */
#include "config.h"

#include "work.h"

__attribute__((weak)) void peer_add(void *timer, peer_fn *fn, void *arg)
{
	(void)timer;
	(void)fn;
	(void)arg;
}

__attribute__((weak)) int peer_arm(void *timer, int64_t now, int64_t delay,
				   peer_fn *fn, void *arg)
{
	return peer_schedule(timer, now, delay, fn, arg);
}

__attribute__((weak)) int peer_disarm(void *timer)
{
	return peer_cancel(timer);
}

__attribute__((weak)) void peer_remove(void *timer)
{
	(void)timer;
}

static struct timers timers;
static size_t each;
static _Atomic long failures;

static void *timer_of(int thread, size_t i)
{
	return timer_at(&timers, (size_t)thread * each + i);
}

static void arm(void *timer)
{
	int r = peer_arm(timer, now_ns(), 10 * BENCH_S, ignore, NULL);

	if (r < 0)
		peer_die("peer_arm", -r);
}

static void begin(int thread)
{
	for (size_t i = 0; i < each; i++) {
		peer_add(timer_of(thread, i), ignore, NULL);
		arm(timer_of(thread, i));
	}
}

static long turn(int thread)
{
	long n = 0, failed = 0;

	for (size_t i = 0; !team_over(); n++) {
		void *timer = timer_of(thread, i);

		failed += peer_disarm(timer) != 1;
		arm(timer);
		i = i + 1 < each ? i + 1 : 0;
	}
	failures += failed;
	return n;
}

static void end(int thread)
{
	for (size_t i = 0; i < each; i++) {
		peer_disarm(timer_of(thread, i));
		peer_remove(timer_of(thread, i));
	}
}

int work_armed(void)
{
	struct team team = {.begin = begin, .turn = turn, .end = end};

	team.threads = (int)argument("threads", 1);
	each = (size_t)argument("window", 1000);
	team.ns = argument_ns("seconds", 0.5);
	timers = timers_new(each * (size_t)team.threads);
	start_peer(team.threads, timers.n, 10 * BENCH_S);
	return team_work(&team, &timers, &failures);
}
