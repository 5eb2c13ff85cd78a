/* SPDX-License-Identifier: MIT */
/*
 * libevent: one event_base with a thread that loops in it, and a struct event
 * in each timer's memory.  The base has a lock, so any thread adds and deletes
 * events itself; event_del waits for a callback that runs.  A mutex and a
 * binary heap, then, and the loop is woken when an event is the new earliest.
 *
 * With COMMON_TIMEOUT defined, and where the workload says that nearly all
 * timeouts are the same, these are in a list instead of the heap: what libevent
 * has for a server that sets one timeout on everything.
 *
 * The base does not cache the time: otherwise what is added while the loop runs
 * callbacks is early by as long as they take.  Its clock is the one that
 * libevent takes if not told otherwise, which stands still for a tick of the
 * kernel, so callbacks may be early by as much.  EVENT_BASE_FLAG_PRECISE_TIMER
 * would make them exact, and event_add much slower, by the clock that it reads.
 *
 * event_add can move a pending event, but does not tell whether it was pending,
 * and a callback that begins meanwhile would run twice.  So a timer that is
 * moved is deleted first, which says so.  It is hardly slower.
 */
#include "peer.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <event2/thread.h>
#include <pthread.h>

struct timer {
	struct event event;
	peer_fn *fn;
	void *arg;
	bool begun;
};

const struct peer_info peer = {
#ifdef COMMON_TIMEOUT
	.name = "libevent-common",
#else
	.name = "libevent",
#endif
	.clock = "monotonic",
	.resolution = 4000000,
	.timer_size = sizeof(struct timer),
	.cancel_tells = true,
	.callbacks_wait = true,
#ifdef COMMON_TIMEOUT
	.notes = "for equal timeouts; up to a tick early (its coarse clock)",
#else
	.notes = "up to a tick early (its coarse clock)",
#endif
};

static struct event_base *base;
static pthread_t thread;

#ifdef COMMON_TIMEOUT
static const struct timeval *common;
static int64_t common_ns;
#endif

const char *peer_version(void)
{
	return event_get_version();
}

static struct timeval timeval_of(int64_t ns)
{
	int64_t us = ns > 0 ? (ns + 999) / 1000 : 0;

	return (struct timeval){.tv_sec = us / 1000000,
				.tv_usec = us % 1000000};
}

static void *loop(void *arg)
{
	event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY);
	return arg;
}

static void init_common(int64_t timeout)
{
#ifdef COMMON_TIMEOUT
	struct timeval tv = timeval_of(timeout);

	common_ns = timeout;
	common = timeout ? event_base_init_common_timeout(base, &tv) : NULL;
	if (timeout && !common)
		peer_die("event_base_init_common_timeout", ENOMEM);
#else
	(void)timeout;
#endif
}

void peer_start(const struct peer_setup *setup)
{
	struct event_config *config;
	int r;

	if (evthread_use_pthreads() != 0)
		peer_die("evthread_use_pthreads", ENOSYS);
	config = event_config_new();
	if (!config)
		peer_die("event_config_new", ENOMEM);
	event_config_set_flag(config, EVENT_BASE_FLAG_NO_CACHE_TIME);
	base = event_base_new_with_config(config);
	event_config_free(config);
	if (!base)
		peer_die("event_base_new_with_config", ENOMEM);
	init_common(setup->timeout);
	r = pthread_create(&thread, NULL, loop, NULL);
	if (r != 0)
		peer_die("pthread_create", r);
}

void peer_stop(void)
{
	event_base_loopexit(base, NULL);
	pthread_join(thread, NULL);
	event_base_free(base);
}

void peer_enter(void)
{
}

void peer_leave(void)
{
}

static void expire(evutil_socket_t fd, short what, void *arg)
{
	struct timer *t = arg;

	(void)fd;
	(void)what;
	t->begun = true;
	t->fn(t->arg);
}

static int add(struct timer *t, int64_t delay)
{
	struct timeval tv;

#ifdef COMMON_TIMEOUT
	if (common && delay == common_ns)
		return event_add(&t->event, common);
#endif
	tv = timeval_of(delay);
	return event_add(&t->event, &tv);
}

/* A new event's base is NULL, or one of before the last peer_stop. */
int peer_schedule(void *timer, int64_t now, int64_t delay, peer_fn *fn,
		  void *arg)
{
	struct timer *t = timer;

	(void)now;
	if (event_get_base(&t->event) != base)
		evtimer_assign(&t->event, base, expire, t);
	t->fn = fn;
	t->arg = arg;
	t->begun = false;
	return add(t, delay) == 0 ? 0 : -ENOMEM;
}

int peer_cancel(void *timer)
{
	struct timer *t = timer;

	event_del(&t->event);
	return !t->begun;
}

int peer_reschedule(void *timer, int64_t now, int64_t delay)
{
	struct timer *t = timer;

	(void)now;
	if (!peer_cancel(t))
		return 1;
	if (add(t, delay) != 0)
		peer_die("event_add", ENOMEM);
	return 0;
}
