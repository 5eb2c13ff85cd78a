/* SPDX-License-Identifier: MIT */
/*
 * No timers at all: what the workloads' own loops cost, to be taken off, with
 * what they put down and take up of the timers' memory.
 */
#include "peer.h"

struct timer {
	int64_t deadline;
};

const struct peer_info peer = {
	.name = "loop",
	.clock = "none",
	.resolution = 1,
	.timer_size = sizeof(struct timer),
	.notes = "no timers: what the loops themselves cost",
};

const char *peer_version(void)
{
	return "1";
}

void peer_start(const struct peer_setup *setup)
{
	(void)setup;
}

void peer_stop(void)
{
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
	(void)fn;
	(void)arg;
	((struct timer *)timer)->deadline = now + delay;
	return 0;
}

int peer_cancel(void *timer)
{
	((struct timer *)timer)->deadline = 0;
	return 1;
}

int peer_reschedule(void *timer, int64_t now, int64_t delay)
{
	((struct timer *)timer)->deadline = now + delay;
	return 0;
}
