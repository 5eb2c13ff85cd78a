/* SPDX-License-Identifier: MIT */
/*
 * The heap is 4-ary: it is half as deep as a binary one, and a node's children
 * share a cache line or two.  Each timer knows its place in it, so that
 * a cancel takes it out at once.
 *
 * The thread is signalled only if a new timer is earlier than what it sleeps
 * until, not for each that is the earliest of those pending: when the timer
 * that it sleeps for is cancelled, it sleeps on, and what comes next is mostly
 * later than that.  It is signalled without the lock, which it wants next.
 */
#include "heapcore.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

enum { ROOT = 1, ARY = 4, ROOM_FIRST = 64 };

static _Thread_local struct heapcore *own;

struct heapcore *heapcore_own(void)
{
	return own;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static size_t parent_of(size_t i)
{
	return (i + ARY - 2) / ARY;
}

static size_t first_child_of(size_t i)
{
	return ARY * (i - 1) + 2;
}

static void put(struct heapcore *h, size_t i, struct heapcore_entry e)
{
	h->entries[i] = e;
	e.timer->place = i;
}

/* The place i is free, and e goes there or further up. */
static void put_up(struct heapcore *h, size_t i, struct heapcore_entry e)
{
	while (i > ROOT) {
		size_t parent = parent_of(i);

		if (h->entries[parent].deadline <= e.deadline)
			break;
		put(h, i, h->entries[parent]);
		i = parent;
	}
	put(h, i, e);
}

/* Of the children from first on; there is one at least. */
static size_t earliest_from(const struct heapcore *h, size_t first)
{
	size_t end = first + ARY, best = first;

	if (end > h->count + 1)
		end = h->count + 1;
	for (size_t i = first + 1; i < end; i++) {
		if (h->entries[i].deadline < h->entries[best].deadline)
			best = i;
	}
	return best;
}

/* The place i is free, and e goes there or further down. */
static void put_down(struct heapcore *h, size_t i, struct heapcore_entry e)
{
	for (;;) {
		size_t child = first_child_of(i);

		if (child > h->count)
			break;
		child = earliest_from(h, child);
		if (h->entries[child].deadline >= e.deadline)
			break;
		put(h, i, h->entries[child]);
		i = child;
	}
	put(h, i, e);
}

/* The place i is free, and e goes where it belongs. */
static void put_right(struct heapcore *h, size_t i, struct heapcore_entry e)
{
	if (i > ROOT && h->entries[parent_of(i)].deadline > e.deadline)
		put_up(h, i, e);
	else
		put_down(h, i, e);
}

static void take_out(struct heapcore *h, struct heapcore_timer *t)
{
	size_t i = t->place;
	struct heapcore_entry last = h->entries[h->count--];

	t->place = 0;
	if (last.timer != t)
		put_right(h, i, last);
}

static bool make_room(struct heapcore *h)
{
	size_t room = h->room ? 2 * h->room : ROOM_FIRST;
	struct heapcore_entry *entries;

	if (h->count + ROOT < h->room)
		return true;
	entries = realloc(h->entries, room * sizeof(*entries));
	if (!entries)
		return false;
	h->entries = entries;
	h->room = room;
	return true;
}

/* Whether the caller is to signal, after it has unlocked. */
static bool sleeps_too_long(struct heapcore *h, int64_t deadline)
{
	if (deadline >= h->asleep_until)
		return false;
	h->asleep_until = INT64_MIN;
	return true;
}

int heapcore_schedule(struct heapcore *h, struct heapcore_timer *t,
		      int64_t deadline, peer_fn *fn, void *arg)
{
	bool wake;

	pthread_mutex_lock(&h->lock);
	if (!make_room(h)) {
		pthread_mutex_unlock(&h->lock);
		return -ENOMEM;
	}
	t->fn = fn;
	t->arg = arg;
	h->count++;
	put_up(h, h->count, (struct heapcore_entry){deadline, t});
	wake = sleeps_too_long(h, deadline);
	pthread_mutex_unlock(&h->lock);
	if (wake)
		pthread_cond_signal(&h->earlier);
	return 0;
}

/* A callback does not wait for itself, and nobody for a later run. */
static void await_end(struct heapcore *h, struct heapcore_timer *t)
{
	uint64_t run = h->runs;

	if (own == h)
		return;
	h->waiting++;
	while (h->running == t && h->runs == run)
		pthread_cond_wait(&h->over, &h->lock);
	h->waiting--;
}

int heapcore_cancel(struct heapcore *h, struct heapcore_timer *t)
{
	bool pending;

	pthread_mutex_lock(&h->lock);
	pending = t->place != 0;
	if (pending)
		take_out(h, t);
	else
		await_end(h, t);
	pthread_mutex_unlock(&h->lock);
	return pending;
}

int heapcore_reschedule(struct heapcore *h, struct heapcore_timer *t,
			int64_t deadline)
{
	bool pending, wake = false;

	pthread_mutex_lock(&h->lock);
	pending = t->place != 0;
	if (pending) {
		put_right(h, t->place, (struct heapcore_entry){deadline, t});
		wake = sleeps_too_long(h, deadline);
	}
	pthread_mutex_unlock(&h->lock);
	if (wake)
		pthread_cond_signal(&h->earlier);
	return !pending;
}

/* Reads the clock only if what it last said does not do. */
static bool is_due(const struct heapcore *h, int64_t *now)
{
	if (h->count == 0)
		return false;
	if (h->entries[ROOT].deadline > *now)
		*now = now_ns();
	return h->entries[ROOT].deadline <= *now;
}

/* The callback may free the timer, or schedule it again. */
static void fire(struct heapcore *h)
{
	struct heapcore_timer *t = h->entries[ROOT].timer;
	peer_fn *fn = t->fn;
	void *arg = t->arg;

	take_out(h, t);
	h->running = t;
	h->runs++;
	pthread_mutex_unlock(&h->lock);
	fn(arg);
	pthread_mutex_lock(&h->lock);
	h->running = NULL;
	if (h->waiting)
		pthread_cond_broadcast(&h->over);
}

static void sleep_on(struct heapcore *h)
{
	struct timespec t;

	if (h->count == 0) {
		h->asleep_until = INT64_MAX;
		pthread_cond_wait(&h->earlier, &h->lock);
	} else {
		h->asleep_until = h->entries[ROOT].deadline;
		t.tv_sec = h->asleep_until / 1000000000;
		t.tv_nsec = h->asleep_until % 1000000000;
		pthread_cond_timedwait(&h->earlier, &h->lock, &t);
	}
	h->asleep_until = INT64_MIN;
}

static void *heap_main(void *arg)
{
	struct heapcore *h = arg;
	int64_t now = INT64_MIN;

	own = h;
	pthread_mutex_lock(&h->lock);
	while (!h->stopping) {
		if (is_due(h, &now))
			fire(h);
		else
			sleep_on(h);
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

static void check(int error, const char *what)
{
	if (error)
		peer_die(what, error);
}

void heapcore_start(struct heapcore *h)
{
	pthread_condattr_t a;

	*h = (struct heapcore){.asleep_until = INT64_MIN};
	check(pthread_mutex_init(&h->lock, NULL), "pthread_mutex_init");
	check(pthread_condattr_init(&a), "pthread_condattr_init");
	check(pthread_condattr_setclock(&a, CLOCK_MONOTONIC),
	      "pthread_condattr_setclock");
	check(pthread_cond_init(&h->earlier, &a), "pthread_cond_init");
	check(pthread_cond_init(&h->over, NULL), "pthread_cond_init");
	pthread_condattr_destroy(&a);
	check(pthread_create(&h->thread, NULL, heap_main, h), "pthread_create");
}

void heapcore_stop(struct heapcore *h)
{
	pthread_mutex_lock(&h->lock);
	h->stopping = true;
	pthread_mutex_unlock(&h->lock);
	pthread_cond_signal(&h->earlier);
	check(pthread_join(h->thread, NULL), "pthread_join");
}

void heapcore_free(struct heapcore *h)
{
	pthread_cond_destroy(&h->over);
	pthread_cond_destroy(&h->earlier);
	pthread_mutex_destroy(&h->lock);
	free(h->entries);
}
