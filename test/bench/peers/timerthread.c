/* SPDX-License-Identifier: MIT */
/*
 * libtimerthread itself, linked as its users link it.  Built twice: with
 * SLACK_NS, the program has allowed timers to be so much late.
 */
#include "peer.h"

#include <timerthread.h>

#ifdef SLACK_NS
#define NAME  "timerthread-slack"
#define NOTES "with a slack of 100 us"
#else
#define SLACK_NS 0
#define NAME     "timerthread"
#define NOTES    ""
#endif

const struct peer_info peer = {
	.name = NAME,
	.clock = "monotonic",
	.resolution = 1,
	.timer_size = sizeof(timerthread_id),
	.cancel_tells = true,
	.callbacks_wait = true,
	.notes = NOTES,
};

static struct timerthread *tt;

const char *peer_version(void)
{
	return timerthread_version();
}

static void check(int r, const char *what)
{
	if (r < 0)
		peer_die(what, -r);
}

void peer_start(const struct peer_setup *setup)
{
	(void)setup;
	check(timerthread_create(&tt), "timerthread_create");
	check(timerthread_set_slack(tt, SLACK_NS), "timerthread_set_slack");
	check(timerthread_start(tt, NULL), "timerthread_start");
}

void peer_stop(void)
{
	timerthread_destroy(tt);
}

void peer_enter(void)
{
}

void peer_leave(void)
{
}

int peer_schedule(void *timer, int64_t now, int64_t delay, peer_fn *fn,
		  void *arg)
{
	return timerthread_schedule(tt, now + delay, fn, arg, timer);
}

int peer_cancel(void *timer)
{
	int r = timerthread_cancel(tt, *(timerthread_id *)timer);

	if (r == 1)
		timerthread_cancel_wait(tt, *(timerthread_id *)timer);
	return r == 0;
}

int peer_reschedule(void *timer, int64_t now, int64_t delay)
{
	return timerthread_reschedule(tt, *(timerthread_id *)timer,
				      now + delay) != 0;
}

void peer_add(void *timer, peer_fn *fn, void *arg)
{
	check(timerthread_prepare(tt, fn, arg, timer), "timerthread_prepare");
}

int peer_arm(void *timer, int64_t now, int64_t delay, peer_fn *fn, void *arg)
{
	(void)fn;
	(void)arg;
	return timerthread_reschedule(tt, *(timerthread_id *)timer,
				      now + delay);
}

int peer_disarm(void *timer)
{
	return timerthread_disarm_wait(tt, *(timerthread_id *)timer) == 0;
}

void peer_remove(void *timer)
{
	timerthread_cancel_wait(tt, *(timerthread_id *)timer);
}
