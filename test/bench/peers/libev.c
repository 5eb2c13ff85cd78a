/* SPDX-License-Identifier: MIT */
/*
 * libev: a loop with a thread that runs it, an ev_timer in each timer's memory,
 * and a mutex around all calls.  The loop lets go of the mutex while it sleeps,
 * with ev_set_loop_release_cb, as its documentation says, and here also while a
 * callback runs, as others shall schedule and cancel meanwhile.
 *
 * ev_timer_start does not read a clock: a timer is relative to the time at
 * which the loop last woke.  That time is not in the interface, so "base" is
 * kept, a reading of the clock just before each of the loop's own, and what
 * has passed since is added.  This saves ev_now_update in each call.
 *
 * A thread that schedules must wake the loop (ev_async_send, a system call) if
 * the loop would sleep for too long.  A timer that is not the first of the heap
 * is no reason to, and which place the first one has is found out at the start.
 * When the loop goes to sleep and the first timer is still one that was seen to
 * come first, then its deadline is known, and later ones are no reason to wake
 * the loop either.  Where it is not known, the loop is woken.
 */
#include "peer.h"
#include "running.h"

#include <errno.h>
#include <ev.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

struct timer {
	ev_timer ev; /* first, so that it leads back here */
	peer_fn *fn;
	void *arg;
	int64_t due;
};

const struct peer_info peer = {
	.name = "libev",
	.clock = "monotonic",
	.resolution = 1000000,
	.timer_size = sizeof(struct timer),
	.cancel_tells = true,
	.callbacks_wait = true,
	.notes = "not thread-safe: a mutex around it; sleeps milliseconds",
};

static struct ev_loop *loop;
static ev_async wake;
static pthread_t thread;
static _Thread_local bool in_loop;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t base;        /* not after the loop's time */
static int64_t awake_by;    /* the loop looks at the heap by itself */
static struct timer *first; /* was the heap's first, and may still be */
static int first_place;     /* of the heap's array */
static bool stopping;

const char *peer_version(void)
{
	static char version[32];

	snprintf(version, sizeof(version), "%d.%d", ev_version_major(),
		 ev_version_minor());
	return version;
}

static int64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static bool is_first(struct timer *t)
{
	return t->ev.active == first_place;
}

/* The loop has decided for how long it sleeps. */
static void release(struct ev_loop *l) EV_THROW
{
	base = clock_ns();
	ev_now_update(l);
	awake_by = first && is_first(first) ? first->due : INT64_MAX;
	pthread_mutex_unlock(&lock);
}

/* It will read its clock now, and look at the heap before it sleeps. */
static void acquire(struct ev_loop *l) EV_THROW
{
	(void)l;
	pthread_mutex_lock(&lock);
	base = clock_ns();
	awake_by = INT64_MIN;
}

static void on_wake(struct ev_loop *l, ev_async *a, int revents)
{
	(void)a;
	(void)revents;
	if (stopping)
		ev_break(l, EVBREAK_ALL);
}

static void expire(struct ev_loop *l, ev_timer *ev, int revents)
{
	struct timer *t = (struct timer *)ev;
	peer_fn *fn = t->fn;
	void *arg = t->arg;

	(void)l;
	(void)revents;
	if (first == t)
		first = NULL;
	running_begin(t);
	pthread_mutex_unlock(&lock);
	fn(arg);
	pthread_mutex_lock(&lock);
	running_end();
}

static void *run(void *arg)
{
	in_loop = true;
	pthread_mutex_lock(&lock);
	ev_run(loop, 0);
	pthread_mutex_unlock(&lock);
	return arg;
}

static void find_first_place(void)
{
	ev_timer t;

	ev_timer_init(&t, expire, 1, 0);
	ev_timer_start(loop, &t);
	first_place = t.active;
	ev_timer_stop(loop, &t);
}

void peer_start(const struct peer_setup *setup)
{
	int r;

	(void)setup;
	loop = ev_loop_new(EVFLAG_AUTO);
	if (!loop)
		peer_die("ev_loop_new", ENOMEM);
	find_first_place();
	stopping = false;
	first = NULL;
	awake_by = INT64_MIN;
	base = clock_ns();
	ev_now_update(loop);
	ev_set_loop_release_cb(loop, release, acquire);
	ev_async_init(&wake, on_wake);
	ev_async_start(loop, &wake);
	r = pthread_create(&thread, NULL, run, NULL);
	if (r != 0)
		peer_die("pthread_create", r);
}

void peer_stop(void)
{
	pthread_mutex_lock(&lock);
	stopping = true;
	ev_async_send(loop, &wake);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	ev_loop_destroy(loop);
}

void peer_enter(void)
{
}

void peer_leave(void)
{
}

/* After a start of t, or a move.  One wake-up is enough until it has come. */
static void wake_if_first(struct timer *t)
{
	if (!is_first(t))
		return;
	first = t;
	if (t->due >= awake_by)
		return;
	awake_by = INT64_MIN;
	ev_async_send(loop, &wake);
}

/* What is in the past already still is a time after now to libev. */
static ev_tstamp after(const struct timer *t)
{
	return t->due > base ? (ev_tstamp)(t->due - base) * 1e-9 : 0;
}

int peer_schedule(void *timer, int64_t now, int64_t delay, peer_fn *fn,
		  void *arg)
{
	struct timer *t = timer;

	t->fn = fn;
	t->arg = arg;
	t->due = now + delay;
	ev_init(&t->ev, expire);
	pthread_mutex_lock(&lock);
	ev_timer_set(&t->ev, after(t), 0);
	ev_timer_start(loop, &t->ev);
	wake_if_first(t);
	pthread_mutex_unlock(&lock);
	return 0;
}

static bool is_pending(struct timer *t)
{
	return ev_is_active(&t->ev) || ev_is_pending(&t->ev);
}

int peer_cancel(void *timer)
{
	struct timer *t = timer;
	bool pending;

	pthread_mutex_lock(&lock);
	pending = is_pending(t);
	if (pending) {
		ev_timer_stop(loop, &t->ev);
		if (first == t)
			first = NULL;
	} else if (!in_loop) {
		running_wait(&lock, t);
	}
	pthread_mutex_unlock(&lock);
	return pending;
}

/* ev_timer_again takes the repeat time, and it shall not be repeated. */
int peer_reschedule(void *timer, int64_t now, int64_t delay)
{
	struct timer *t = timer;
	bool pending;

	pthread_mutex_lock(&lock);
	pending = is_pending(t);
	if (pending) {
		t->due = now + delay;
		t->ev.repeat = after(t) + 1e-9;
		ev_timer_again(loop, &t->ev);
		t->ev.repeat = 0;
		wake_if_first(t);
	}
	pthread_mutex_unlock(&lock);
	return !pending;
}
