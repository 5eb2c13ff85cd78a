/* SPDX-License-Identifier: MIT */
/*
 * One heap, one lock, one condition variable, one thread: what most programs
 * write for themselves, and what TimerThread replaced.  A timer is in the
 * user's memory, and a cancel takes it out at once.
 *
 * For it: it allocates nothing but the heap's array, and forgets at once.
 * Against it: all threads want the one lock.
 */
#include "heapcore.h"

const struct peer_info peer = {
	.name = "one-heap",
	.clock = "monotonic",
	.resolution = 1,
	.timer_size = sizeof(struct heapcore_timer),
	.cancel_tells = true,
	.callbacks_wait = true,
	.notes = "own code: the plain way, one lock and one heap",
};

static struct heapcore heap;

const char *peer_version(void)
{
	return "1";
}

void peer_start(const struct peer_setup *setup)
{
	(void)setup;
	heapcore_start(&heap);
}

void peer_stop(void)
{
	heapcore_stop(&heap);
	heapcore_free(&heap);
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
	return heapcore_schedule(&heap, timer, now + delay, fn, arg);
}

int peer_cancel(void *timer)
{
	return heapcore_cancel(&heap, timer);
}

int peer_reschedule(void *timer, int64_t now, int64_t delay)
{
	return heapcore_reschedule(&heap, timer, now + delay);
}
