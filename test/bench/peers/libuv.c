/* SPDX-License-Identifier: MIT */
/*
 * libuv: a loop with a thread that runs it.  Only this thread may touch the
 * loop and its timers, so the others put requests into a list behind a mutex,
 * and call uv_async_send when the list was empty.  Each pending timer has a
 * handle with a uv_timer_t, from a pool, as the loop may still know it when
 * peer_cancel has returned.  Handles are never closed before the end: a
 * stopped one is started again.
 *
 * peer_cancel takes a request back that the loop has not seen yet.  Otherwise
 * it has the handle's callback do nothing, and posts a request to stop it.  The
 * loop's own thread does not wake itself: it looks at the list before it
 * sleeps.
 *
 * Against libuv: nothing in it is made for timers of other threads, and its
 * users would rather have one loop per thread.  The list, the pool and the
 * lock are those of this adapter.
 */
#include "peer.h"
#include "running.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <uv.h>

struct timer {
	struct handle *handle; /* while pending */
};

/* Behind the lock, but for what only the loop's thread touches. */
struct handle {
	uv_timer_t uv;    /* the loop's; first, so that it leads back here */
	bool initialized; /* the loop's: uv is a handle of it */
	bool queued;      /* in the list of requests */
	bool started;     /* the loop may have it in its heap */
	struct handle *next, *prev;
	struct timer *timer; /* NULL: not pending, to be stopped */
	peer_fn *fn;
	void *arg;
	int64_t due;
};

enum { BATCH = 64, CHUNK = 4096 };

struct chunk {
	struct chunk *next;
	size_t used;
	struct handle handles[CHUNK];
};

/* What the loop is to do, without the lock. */
struct order {
	struct handle *handle;
	int64_t due;
	bool stop;
};

const struct peer_info peer = {
	.name = "libuv",
	.clock = "monotonic",
	.resolution = 1000000,
	.timer_size = sizeof(struct timer),
	.cancel_tells = true,
	.callbacks_wait = true,
	.notes = "not thread-safe: requests posted to the loop; milliseconds",
};

static uv_loop_t loop;
static uv_async_t wake;
static uv_prepare_t before_sleep;
static pthread_t thread;
static _Thread_local bool in_loop;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle queue = {.next = &queue, .prev = &queue};
static struct handle *unused;
static struct chunk *chunks;
static bool stopping;

const char *peer_version(void)
{
	return uv_version_string();
}

static void enqueue(struct handle *h)
{
	h->queued = true;
	h->next = &queue;
	h->prev = queue.prev;
	h->prev->next = h;
	queue.prev = h;
}

static void dequeue(struct handle *h)
{
	h->queued = false;
	h->next->prev = h->prev;
	h->prev->next = h->next;
}

static void put_unused(struct handle *h)
{
	h->next = unused;
	unused = h;
}

static struct handle *get_new(void)
{
	struct handle *h;

	if (!chunks || chunks->used == CHUNK) {
		struct chunk *c = malloc(sizeof(*c));

		if (!c)
			return NULL;
		c->next = chunks;
		c->used = 0;
		chunks = c;
	}
	h = &chunks->handles[chunks->used++];
	h->initialized = h->queued = h->started = false;
	return h;
}

static struct handle *get_unused(void)
{
	struct handle *h = unused;

	if (!h)
		return get_new();
	unused = h->next;
	return h;
}

/* A handle that is queued was moved: its new time comes with the request. */
static void expire(uv_timer_t *uv)
{
	struct handle *h = (struct handle *)uv;
	struct timer *t;
	peer_fn *fn;
	void *arg;

	pthread_mutex_lock(&lock);
	t = h->timer;
	if (!t || h->queued) {
		pthread_mutex_unlock(&lock);
		return;
	}
	fn = h->fn;
	arg = h->arg;
	h->started = false;
	put_unused(h);
	t->handle = NULL;
	running_begin(t);
	pthread_mutex_unlock(&lock);
	fn(arg);
	pthread_mutex_lock(&lock);
	running_end();
	pthread_mutex_unlock(&lock);
}

static void start(struct handle *h, int64_t due)
{
	int64_t ms = (due + 999999) / 1000000 - (int64_t)uv_now(&loop);

	if (!h->initialized)
		uv_timer_init(&loop, &h->uv);
	h->initialized = true;
	uv_timer_start(&h->uv, expire, ms > 0 ? (uint64_t)ms : 0, 0);
}

static int take(struct order *orders)
{
	int n;

	for (n = 0; n < BATCH && queue.next != &queue; n++) {
		struct handle *h = queue.next;

		dequeue(h);
		h->started = h->timer;
		orders[n] = (struct order){h, h->due, !h->timer};
	}
	return n;
}

static void obey(const struct order *orders, int n)
{
	for (int i = 0; i < n; i++) {
		if (orders[i].stop)
			uv_timer_stop(&orders[i].handle->uv);
		else
			start(orders[i].handle, orders[i].due);
	}
}

/* Handles that are stopped and in no list are nobody's until they are here. */
static void give_back(const struct order *orders, int n)
{
	for (int i = 0; i < n; i++) {
		if (orders[i].stop)
			put_unused(orders[i].handle);
	}
}

static void work_off(void)
{
	struct order orders[BATCH];
	int n;

	pthread_mutex_lock(&lock);
	while ((n = take(orders)) > 0) {
		pthread_mutex_unlock(&lock);
		obey(orders, n);
		pthread_mutex_lock(&lock);
		give_back(orders, n);
	}
	if (stopping)
		uv_stop(&loop);
	pthread_mutex_unlock(&lock);
}

static void on_wake(uv_async_t *a)
{
	(void)a;
	work_off();
}

static void on_prepare(uv_prepare_t *p)
{
	(void)p;
	work_off();
}

static void *run(void *arg)
{
	in_loop = true;
	uv_run(&loop, UV_RUN_DEFAULT);
	return arg;
}

static void check(int r, const char *what)
{
	if (r < 0)
		peer_die(what, -r);
}

void peer_start(const struct peer_setup *setup)
{
	(void)setup;
	stopping = false;
	check(uv_loop_init(&loop), "uv_loop_init");
	check(uv_async_init(&loop, &wake, on_wake), "uv_async_init");
	check(uv_prepare_init(&loop, &before_sleep), "uv_prepare_init");
	check(uv_prepare_start(&before_sleep, on_prepare), "uv_prepare_start");
	check(-pthread_create(&thread, NULL, run, NULL), "pthread_create");
}

static void close_one(uv_handle_t *h, void *arg)
{
	(void)arg;
	uv_close(h, NULL);
}

void peer_stop(void)
{
	pthread_mutex_lock(&lock);
	stopping = true;
	pthread_mutex_unlock(&lock);
	uv_async_send(&wake);
	pthread_join(thread, NULL);
	uv_walk(&loop, close_one, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	check(uv_loop_close(&loop), "uv_loop_close");
	while (chunks) {
		struct chunk *c = chunks;

		chunks = c->next;
		free(c);
	}
	unused = NULL;
	queue.next = queue.prev = &queue;
}

void peer_enter(void)
{
}

void peer_leave(void)
{
}

/* Posts it, and unlocks. */
static void post(struct handle *h)
{
	bool first = queue.next == &queue;

	enqueue(h);
	pthread_mutex_unlock(&lock);
	if (first && !in_loop)
		uv_async_send(&wake);
}

int peer_schedule(void *timer, int64_t now, int64_t delay, peer_fn *fn,
		  void *arg)
{
	struct timer *t = timer;
	struct handle *h;

	pthread_mutex_lock(&lock);
	h = get_unused();
	if (!h) {
		pthread_mutex_unlock(&lock);
		return -ENOMEM;
	}
	h->timer = t;
	h->fn = fn;
	h->arg = arg;
	h->due = now + delay;
	t->handle = h;
	post(h);
	return 0;
}

/* Takes it back, or has the loop stop it.  Unlocks. */
static void drop(struct handle *h)
{
	h->timer = NULL;
	if (h->started && !h->queued) {
		post(h);
		return;
	}
	if (!h->started) {
		dequeue(h);
		put_unused(h);
	}
	pthread_mutex_unlock(&lock);
}

int peer_cancel(void *timer)
{
	struct timer *t = timer;
	struct handle *h;

	pthread_mutex_lock(&lock);
	h = t->handle;
	t->handle = NULL;
	if (h) {
		drop(h);
		return 1;
	}
	if (!in_loop)
		running_wait(&lock, t);
	pthread_mutex_unlock(&lock);
	return 0;
}

int peer_reschedule(void *timer, int64_t now, int64_t delay)
{
	struct timer *t = timer;
	struct handle *h;

	pthread_mutex_lock(&lock);
	h = t->handle;
	if (!h) {
		pthread_mutex_unlock(&lock);
		return 1;
	}
	h->due = now + delay;
	if (h->queued)
		pthread_mutex_unlock(&lock);
	else
		post(h);
	return 0;
}
