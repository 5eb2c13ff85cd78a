/* SPDX-License-Identifier: MIT */
/*
 * The design of TimerThread in brpc, as its document "Timer keeping" has it.
 * Own code, not brpc's.
 *
 * What is scheduled goes to one of 12 buckets, which is a list with a lock:
 * there is no order to be kept.  A bucket knows the earliest of what was added
 * since the timer thread emptied it.  Only what is earlier than that looks at
 * the earliest of all, and only what is earlier than that too wakes the thread.
 * A cancel changes the version of the task, without a lock, and leaves it where
 * it is.  The thread, when it wakes up, empties all buckets, drops what is
 * cancelled, and keeps the rest in a heap that no other thread sees.
 *
 * Kept as published: whoever is earliest calls the kernel, whether the thread
 * sleeps or not; the thread wakes up for cancelled timers too; a cancelled one
 * keeps its memory until the thread wakes up, and one that was in the heap by
 * then until its deadline.  (brpc sweeps its heap since 2026; this does not.)
 *
 * Unlike it: 12 buckets, not 13; the clock is monotonic; a thread's bucket is
 * its id modulo 12, as a mixing hash would sometimes give two threads the same
 * one and figures would differ from run to run; a timer keeps its callback
 * besides the id, because a move, which is a cancel and a new timer, needs it.
 */
#include "brpcpool.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BUCKETS = 12, ARY = 4, ROOM_FIRST = 1024 };

#define NS_PER_S INT64_C(1000000000)

struct timer {
	uint64_t id;
	peer_fn *fn;
	void *arg;
};

const struct peer_info peer = {
	.name = "brpc-design",
	.clock = "monotonic",
	.resolution = 1,
	.timer_size = sizeof(struct timer),
	.timers_most = (size_t)BLOCKS * BLOCK_TASKS,
	.cancel_tells = true,
	.callbacks_wait = true,
	.notes = "own code: cancelled timers keep memory, some to the deadline",
};

struct bucket {
	alignas(128) pthread_mutex_t lock;
	int64_t nearest; /* of tasks; INT64_MAX if there is none */
	struct task *tasks;
};

struct entry {
	int64_t run_time;
	struct task *task;
};

static struct bucket buckets[BUCKETS];

static struct {
	alignas(128) pthread_mutex_t lock;
	int64_t nearest; /* that the timer thread is to know of */
	_Atomic uint32_t signals;
	atomic_bool stopping;
} all;

/* The timer thread's own. */
static struct {
	alignas(128) struct entry *entries;
	size_t count, room;
} heap;

static pthread_t thread;
static _Thread_local bool on_thread;
static _Thread_local struct bucket *mine;

const char *peer_version(void)
{
	return "1";
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* The kernel's, where long is 64 bits; until INT64_MAX is for ever. */
static void futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t until)
{
	struct timespec t = {.tv_sec = until / NS_PER_S,
			     .tv_nsec = until % NS_PER_S};

	syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value,
		until == INT64_MAX ? NULL : &t, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* The place i is free, and e goes there or further up. */
static void put_up(size_t i, struct entry e)
{
	while (i > 0) {
		size_t parent = (i - 1) / ARY;

		if (heap.entries[parent].run_time <= e.run_time)
			break;
		heap.entries[i] = heap.entries[parent];
		i = parent;
	}
	heap.entries[i] = e;
}

/* Of the children from first on; there is one at least. */
static size_t earliest_from(size_t first)
{
	size_t end = first + ARY, best = first;

	if (end > heap.count)
		end = heap.count;
	for (size_t i = first + 1; i < end; i++) {
		if (heap.entries[i].run_time < heap.entries[best].run_time)
			best = i;
	}
	return best;
}

/* The place i is free, and e goes there or further down. */
static void put_down(size_t i, struct entry e)
{
	for (;;) {
		size_t child = ARY * i + 1;

		if (child >= heap.count)
			break;
		child = earliest_from(child);
		if (heap.entries[child].run_time >= e.run_time)
			break;
		heap.entries[i] = heap.entries[child];
		i = child;
	}
	heap.entries[i] = e;
}

static void push(struct task *t)
{
	if (heap.count == heap.room) {
		heap.room = heap.room ? 2 * heap.room : ROOM_FIRST;
		heap.entries = realloc(heap.entries,
				       heap.room * sizeof(*heap.entries));
		if (!heap.entries)
			peer_die("memory for the heap", ENOMEM);
	}
	put_up(heap.count++, (struct entry){t->run_time, t});
}

static struct task *pop(void)
{
	struct task *t = heap.entries[0].task;

	if (--heap.count)
		put_down(0, heap.entries[heap.count]);
	return t;
}

static int64_t earliest(void)
{
	return heap.count ? heap.entries[0].run_time : INT64_MAX;
}

static struct task *empty(struct bucket *b)
{
	struct task *tasks;

	pthread_mutex_lock(&b->lock);
	tasks = b->tasks;
	b->tasks = NULL;
	b->nearest = INT64_MAX;
	pthread_mutex_unlock(&b->lock);
	return tasks;
}

static bool is_cancelled(struct task *t)
{
	return atomic_load_explicit(&t->version, memory_order_relaxed) !=
	       t->scheduled;
}

/* In this order: what is not in a bucket yet will be less than nearest. */
static void collect(void)
{
	struct task *t, *next;

	pthread_mutex_lock(&all.lock);
	all.nearest = INT64_MAX;
	pthread_mutex_unlock(&all.lock);
	for (int i = 0; i < BUCKETS; i++) {
		for (t = empty(&buckets[i]); t; t = next) {
			next = t->next;
			if (is_cancelled(t))
				pool_put(t);
			else
				push(t);
		}
	}
}

/* Acquire, as it pairs with the end of the callback where it fails. */
static bool change(struct task *t, uint32_t version, uint32_t by)
{
	return atomic_compare_exchange_strong_explicit(
		&t->version, &version, version + by, memory_order_acquire,
		memory_order_acquire);
}

static void run(struct task *t)
{
	if (change(t, t->scheduled, 1)) {
		t->fn(t->arg);
		atomic_store_explicit(&t->version, t->scheduled + 2,
				      memory_order_release);
	}
	pool_put(t);
}

static bool knows_earlier(int64_t run_time)
{
	bool earlier;

	pthread_mutex_lock(&all.lock);
	earlier = all.nearest < run_time;
	pthread_mutex_unlock(&all.lock);
	return earlier;
}

static bool is_stopping(void)
{
	return atomic_load_explicit(&all.stopping, memory_order_relaxed);
}

/* False if there is something earlier in the buckets than what is next. */
static bool run_due(void)
{
	int64_t now = INT64_MIN;

	while (heap.count && !is_stopping()) {
		if (earliest() > now)
			now = now_ns();
		if (earliest() > now)
			break;
		if (knows_earlier(earliest()))
			return false;
		run(pop());
	}
	return true;
}

static void sleep_on(void)
{
	int64_t until = earliest();
	uint32_t signals = 0;
	bool earlier;

	pthread_mutex_lock(&all.lock);
	earlier = all.nearest < until;
	if (!earlier) {
		all.nearest = until;
		signals = atomic_load_explicit(&all.signals,
					       memory_order_relaxed);
	}
	pthread_mutex_unlock(&all.lock);
	if (!earlier && !is_stopping())
		futex_wait(&all.signals, signals, until);
}

static void *timer_main(void *arg)
{
	on_thread = true;
	while (!is_stopping()) {
		collect();
		if (run_due())
			sleep_on();
	}
	pool_leave();
	return arg;
}

static void signal_thread(void)
{
	atomic_fetch_add_explicit(&all.signals, 1, memory_order_relaxed);
}

void peer_start(const struct peer_setup *setup)
{
	int r;

	(void)setup;
	for (int i = 0; i < BUCKETS; i++) {
		buckets[i] = (struct bucket){.nearest = INT64_MAX};
		pthread_mutex_init(&buckets[i].lock, NULL);
	}
	pthread_mutex_init(&all.lock, NULL);
	all.nearest = INT64_MAX;
	all.stopping = false;
	r = pthread_create(&thread, NULL, timer_main, NULL);
	if (r)
		peer_die("pthread_create", r);
}

/* Under the lock, so that the thread sees all of it or does not sleep. */
static void stop_thread(void)
{
	pthread_mutex_lock(&all.lock);
	all.stopping = true;
	signal_thread();
	pthread_mutex_unlock(&all.lock);
	futex_wake(&all.signals);
	pthread_join(thread, NULL);
}

/* The tasks go back to the pool, which stays. */
void peer_stop(void)
{
	stop_thread();
	collect();
	for (size_t i = 0; i < heap.count; i++) {
		struct task *t = heap.entries[i].task;

		atomic_store(&t->version, t->scheduled + 2);
		pool_put(t);
	}
	pool_leave();
	free(heap.entries);
	heap.entries = NULL;
	heap.count = heap.room = 0;
}

void peer_enter(void)
{
}

void peer_leave(void)
{
	pool_leave();
}

static struct bucket *choose(void)
{
	return &buckets[syscall(SYS_gettid) % BUCKETS];
}

/* Whether it is the earliest of its bucket. */
static bool add(struct bucket *b, struct task *t)
{
	int64_t run_time = t->run_time;
	bool earlier;

	pthread_mutex_lock(&b->lock);
	t->next = b->tasks;
	b->tasks = t;
	earlier = run_time < b->nearest;
	if (earlier)
		b->nearest = run_time;
	pthread_mutex_unlock(&b->lock);
	return earlier;
}

static void tell(int64_t run_time)
{
	bool earlier;

	pthread_mutex_lock(&all.lock);
	earlier = run_time < all.nearest;
	if (earlier) {
		all.nearest = run_time;
		signal_thread();
	}
	pthread_mutex_unlock(&all.lock);
	if (earlier)
		futex_wake(&all.signals);
}

/* The timer is written before the callback can run, which may use it again. */
int peer_schedule(void *timer, int64_t now, int64_t delay, peer_fn *fn,
		  void *arg)
{
	struct timer *u = timer;
	struct task *t = pool_get();

	if (!t)
		return -ENOMEM;
	if (!mine)
		mine = choose();
	t->run_time = now + delay;
	t->fn = u->fn = fn;
	t->arg = u->arg = arg;
	t->scheduled = atomic_load_explicit(&t->version, memory_order_relaxed);
	u->id = (uint64_t)t->scheduled << 32 | t->slot;
	if (add(mine, t))
		tell(now + delay);
	return 0;
}

static uint32_t version_of(uint64_t id)
{
	return (uint32_t)(id >> 32);
}

static bool unschedule(uint64_t id)
{
	return change(pool_task(id), version_of(id), 2);
}

static void await_end(uint64_t id)
{
	struct task *t = pool_task(id);

	while (atomic_load_explicit(&t->version, memory_order_acquire) ==
	       version_of(id) + 1)
		sched_yield();
}

int peer_cancel(void *timer)
{
	uint64_t id = ((struct timer *)timer)->id;

	if (unschedule(id))
		return 1;
	if (!on_thread)
		await_end(id);
	return 0;
}

int peer_reschedule(void *timer, int64_t now, int64_t delay)
{
	struct timer *t = timer;

	if (!unschedule(t->id))
		return 1;
	return peer_schedule(t, now, delay, t->fn, t->arg);
}
