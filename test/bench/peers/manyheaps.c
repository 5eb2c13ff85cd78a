/* SPDX-License-Identifier: MIT */
/*
 * 64 heaps, each with its own lock, condition variable and thread, as in the
 * runtime of Go 1.10 to 1.13.  A calling thread has one of them for what it
 * schedules; a timer remembers its heap, so that any thread cancels it there.
 *
 * Go picks the heap by the number of the processor that a goroutine runs on.
 * Here threads are numbered as they come, so that up to 64 of them have a lock
 * each: as good as this design can be.  A callback uses the heap whose thread
 * it runs on, which is awake.  A moved timer stays in its heap.
 *
 * Against it: each heap wakes up a thread for its own first timer, and pending
 * timers are spread over that many sleeps.
 */
#include "heapcore.h"

#include <stdatomic.h>

enum { HEAPS = 64 };

struct timer {
	struct heapcore_timer base;
	struct heapcore *heap;
};

const struct peer_info peer = {
	.name = "64-heaps",
	.clock = "monotonic",
	.resolution = 1,
	.timer_size = sizeof(struct timer),
	.cancel_tells = true,
	.notes = "own code, as Go 1.10: callbacks overlap, on 64 threads",
};

static struct heapcore heaps[HEAPS];
static atomic_uint threads;
static _Thread_local struct heapcore *mine;

const char *peer_version(void)
{
	return "1";
}

void peer_start(const struct peer_setup *setup)
{
	(void)setup;
	for (int i = 0; i < HEAPS; i++)
		heapcore_start(&heaps[i]);
}

void peer_stop(void)
{
	for (int i = 0; i < HEAPS; i++)
		heapcore_stop(&heaps[i]);
	for (int i = 0; i < HEAPS; i++)
		heapcore_free(&heaps[i]);
}

static struct heapcore *choose(void)
{
	struct heapcore *own = heapcore_own();

	return own ? own : &heaps[atomic_fetch_add(&threads, 1) % HEAPS];
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
	struct timer *t = timer;

	if (!mine)
		mine = choose();
	t->heap = mine;
	return heapcore_schedule(mine, &t->base, now + delay, fn, arg);
}

int peer_cancel(void *timer)
{
	struct timer *t = timer;

	return heapcore_cancel(t->heap, &t->base);
}

int peer_reschedule(void *timer, int64_t now, int64_t delay)
{
	struct timer *t = timer;

	return heapcore_reschedule(t->heap, &t->base, now + delay);
}
