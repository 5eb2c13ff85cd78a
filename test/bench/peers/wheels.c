/* SPDX-License-Identifier: MIT */
/*
 * Hierarchical timing wheels (scheme 7 of Varghese and Lauck) that a queue of
 * buckets drives, as those of Kafka's purgatory.  Written for this comparison.
 *
 * A wheel has 256 buckets; one of the lowest wheel is 1 ms wide, one of each
 * further wheel as wide as the whole wheel below.  (Kafka: 20 buckets, of 1 ms
 * too; more of them mean fewer wheels, and that timers move down less often.)
 * Wheels are made when a timer is that far away.  A bucket that gets its first
 * timer goes into a heap that is ordered by when buckets begin, and the timer
 * thread sleeps until the first one does: nothing ticks.  It then runs the
 * bucket's timers that are due and moves the others to lower wheels.  Nothing
 * is early: a deadline is rounded up to 1 ms.
 *
 * A timer is in the workload's memory.  Scheduling and cancelling take the lock
 * of one bucket, and the heap's when a bucket gets its first timer.  Kafka also
 * takes a read-write lock, so that the clock stands still while a timer is put
 * into its bucket.  Here a bucket says which time it stands for, a timer that
 * finds it standing for a later one looks at the clock again, and one for an
 * earlier time does no harm, as it is emptied earlier.
 *
 * Callbacks run on the timer thread; Kafka hands them to a thread of their own,
 * which would cost more.  For it: equal timeouts share buckets, so that the
 * heap is hardly used.  Against it: they then share the bucket's lock too, and
 * buckets whose timers were all cancelled still wake up the thread.
 */
#include "peer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define TICK   INT64_C(1000000)
#define SECOND INT64_C(1000000000)

enum {
	BITS = 8,
	BUCKETS = 1 << BITS,
	WHEELS = 6, /* enough for all 64-bit nanoseconds */
	HOLD = 64,  /* timers moved until the bucket's lock is let go */
};

struct bucket;

struct timer {
	struct timer *next;
	struct timer **back;         /* what points to it */
	_Atomic(struct bucket *) in; /* NULL: not pending */
	int64_t tick;                /* at which it is due */
	peer_fn *fn;
	void *arg;
};

struct bucket {
	_Alignas(64) pthread_mutex_t lock;
	struct timer *first;
	int64_t begin; /* the tick; while it is in the heap it stays */
	bool queued;   /* in the heap, or just taken from it */
};

struct wheel {
	struct bucket buckets[BUCKETS];
};

const struct peer_info peer = {
	.name = "wheels",
	.clock = "monotonic",
	.resolution = TICK,
	.timer_size = sizeof(struct timer),
	.cancel_tells = true,
	.callbacks_wait = true,
	.notes = "",
};

static _Atomic(struct wheel *) wheels[WHEELS];
static _Atomic int64_t clock_tick; /* no later than now */

static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t heap_cond;
static struct bucket *heap[WHEELS * BUCKETS];
static size_t n_heap;

static pthread_t thread;
static atomic_bool stopping;
static _Atomic(struct timer *) running;
static _Thread_local bool on_timer_thread;

static pthread_mutex_t end_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t end_cond = PTHREAD_COND_INITIALIZER;
static atomic_int end_waiters;

const char *peer_version(void)
{
	return "1";
}

/*
 * The heap of buckets, under its lock.
 */

static void heap_up(struct bucket *b)
{
	size_t i = n_heap++;

	for (; i > 0 && heap[(i - 1) / 2]->begin > b->begin; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = b;
}

static struct bucket *heap_take(void)
{
	struct bucket *first = heap[0];
	struct bucket *last = heap[--n_heap];
	size_t i = 0, k;

	while ((k = 2 * i + 1) < n_heap) {
		if (k + 1 < n_heap && heap[k + 1]->begin < heap[k]->begin)
			k++;
		if (heap[k]->begin >= last->begin)
			break;
		heap[i] = heap[k];
		i = k;
	}
	heap[i] = last;
	return first;
}

static void heap_add(struct bucket *b)
{
	pthread_mutex_lock(&heap_lock);
	heap_up(b);
	if (heap[0] == b)
		pthread_cond_signal(&heap_cond);
	pthread_mutex_unlock(&heap_lock);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

/* The next bucket that has begun; NULL when it is to stop. */
static struct bucket *next_bucket(void)
{
	struct bucket *b = NULL;

	pthread_mutex_lock(&heap_lock);
	while (!atomic_load(&stopping)) {
		int64_t t = n_heap ? heap[0]->begin * TICK : 0;
		struct timespec until = {t / SECOND, t % SECOND};

		if (!n_heap) {
			pthread_cond_wait(&heap_cond, &heap_lock);
		} else if (t > now_ns()) {
			pthread_cond_timedwait(&heap_cond, &heap_lock, &until);
		} else {
			b = heap_take();
			break;
		}
	}
	pthread_mutex_unlock(&heap_lock);
	return b;
}

/*
 * The wheels.
 */

static struct wheel *new_wheel(int level)
{
	struct wheel *w = aligned_alloc(_Alignof(struct wheel), sizeof(*w));
	struct wheel *other = NULL;
	int i;

	if (!w)
		return NULL;
	for (i = 0; i < BUCKETS; i++)
		w->buckets[i] = (struct bucket){
			.lock = PTHREAD_MUTEX_INITIALIZER,
		};
	if (atomic_compare_exchange_strong(&wheels[level], &other, w))
		return w;
	free(w);
	return other;
}

/* Where a timer belongs by the clock, and at which tick that bucket begins. */
static struct bucket *find_bucket(int64_t tick, int64_t *begin)
{
	int64_t t = atomic_load_explicit(&clock_tick, memory_order_acquire);
	struct wheel *w;
	int shift = 0;

	if (tick < t)
		tick = t;
	while ((tick >> shift) - (t >> shift) >= BUCKETS)
		shift += BITS;
	*begin = tick >> shift << shift;
	w = atomic_load_explicit(&wheels[shift / BITS], memory_order_acquire);
	if (!w)
		w = new_wheel(shift / BITS);
	return w ? &w->buckets[(tick >> shift) % BUCKETS] : NULL;
}

static void link_timer(struct timer *t, struct bucket *b)
{
	t->next = b->first;
	t->back = &b->first;
	if (t->next)
		t->next->back = &t->next;
	b->first = t;
	atomic_store_explicit(&t->in, b, memory_order_release);
}

static void unlink_timer(struct timer *t)
{
	*t->back = t->next;
	if (t->next)
		t->next->back = t->back;
}

/* Under the lock of the bucket.  false: it is in use for a later time. */
static bool put(struct timer *t, struct bucket *b, int64_t begin)
{
	if (b->queued && b->begin > begin)
		return false;
	if (!b->queued) {
		b->queued = true;
		b->begin = begin;
		link_timer(t, b);
		heap_add(b);
	} else {
		link_timer(t, b);
	}
	return true;
}

/* The clock has moved on where it does not fit: so it fits elsewhere then. */
static int insert(struct timer *t)
{
	bool done;

	do {
		int64_t begin;
		struct bucket *b = find_bucket(t->tick, &begin);

		if (!b)
			return -ENOMEM;
		pthread_mutex_lock(&b->lock);
		done = put(t, b, begin);
		pthread_mutex_unlock(&b->lock);
	} while (!done);
	return 0;
}

/*
 * The timer thread.
 */

/* Who waits for the end counts itself before it looks at what is running. */
static void run(peer_fn *fn, void *arg)
{
	fn(arg);
	atomic_store(&running, NULL);
	if (atomic_load(&end_waiters)) {
		pthread_mutex_lock(&end_lock);
		pthread_cond_broadcast(&end_cond);
		pthread_mutex_unlock(&end_lock);
	}
}

/* Takes and lets go the lock that is held, as nobody runs under a lock. */
static void fire(struct timer *t, struct bucket *from)
{
	peer_fn *fn = t->fn;
	void *arg = t->arg;

	atomic_store(&running, t);
	atomic_store_explicit(&t->in, NULL, memory_order_release);
	pthread_mutex_unlock(&from->lock);
	run(fn, arg);
	pthread_mutex_lock(&from->lock);
}

/*
 * To a lower wheel, or to where it belongs by now.  Only this thread holds two
 * buckets' locks, so that nobody waits for it and it for him.  The bucket is
 * never in use for a later time: no other thread sees a later clock.
 */
static void move(struct timer *t, struct bucket *from)
{
	int64_t begin;
	struct bucket *b = find_bucket(t->tick, &begin);

	if (!b)
		peer_die("a wheel", ENOMEM);
	if (b != from)
		pthread_mutex_lock(&b->lock);
	put(t, b, begin);
	if (b != from)
		pthread_mutex_unlock(&b->lock);
}

/* What it takes from the bucket is still under the bucket's lock. */
static void empty(struct bucket *b)
{
	int64_t now = atomic_load(&clock_tick);
	struct timer *list, *t;
	int held = 0;

	pthread_mutex_lock(&b->lock);
	list = b->first;
	if (list)
		list->back = &list;
	b->first = NULL;
	b->queued = false;
	while ((t = list) && !atomic_load(&stopping)) {
		unlink_timer(t);
		if (t->tick <= now) {
			fire(t, b);
			continue;
		}
		move(t, b);
		if (++held % HOLD == 0) {
			pthread_mutex_unlock(&b->lock);
			pthread_mutex_lock(&b->lock);
		}
	}
	pthread_mutex_unlock(&b->lock);
}

static void *timer_main(void *arg)
{
	struct bucket *b;

	(void)arg;
	on_timer_thread = true;
	while ((b = next_bucket())) {
		/* Until it is emptied, its beginning is not changed. */
		if (b->begin > atomic_load(&clock_tick))
			atomic_store(&clock_tick, b->begin);
		empty(b);
	}
	return NULL;
}

/*
 * What the workloads call.
 */

void peer_start(const struct peer_setup *setup)
{
	pthread_condattr_t attr;
	int r;

	(void)setup;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&heap_cond, &attr);
	pthread_condattr_destroy(&attr);
	atomic_store(&clock_tick, now_ns() / TICK);
	atomic_store(&stopping, false);
	r = pthread_create(&thread, NULL, timer_main, NULL);
	if (r)
		peer_die("pthread_create", r);
}

void peer_stop(void)
{
	int i;

	pthread_mutex_lock(&heap_lock);
	atomic_store(&stopping, true);
	pthread_cond_signal(&heap_cond);
	pthread_mutex_unlock(&heap_lock);
	pthread_join(thread, NULL);
	pthread_cond_destroy(&heap_cond);
	n_heap = 0;
	for (i = 0; i < WHEELS; i++)
		free(atomic_exchange(&wheels[i], NULL));
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

	t->tick = (now + delay + TICK - 1) / TICK;
	t->fn = fn;
	t->arg = arg;
	return insert(t);
}

static void wait_for_end(struct timer *t)
{
	atomic_fetch_add(&end_waiters, 1);
	pthread_mutex_lock(&end_lock);
	while (atomic_load(&running) == t)
		pthread_cond_wait(&end_cond, &end_lock);
	pthread_mutex_unlock(&end_lock);
	atomic_fetch_sub(&end_waiters, 1);
}

/* The timer may move to another bucket until the lock is taken. */
static bool take_out(struct timer *t)
{
	struct bucket *b;

	while ((b = atomic_load_explicit(&t->in, memory_order_acquire))) {
		bool there;

		pthread_mutex_lock(&b->lock);
		there = atomic_load_explicit(&t->in, memory_order_relaxed) == b;
		if (there) {
			unlink_timer(t);
			atomic_store_explicit(&t->in, NULL,
					      memory_order_relaxed);
		}
		pthread_mutex_unlock(&b->lock);
		if (there)
			return true;
	}
	return false;
}

int peer_cancel(void *timer)
{
	if (take_out(timer))
		return 1;
	if (!on_timer_thread)
		wait_for_end(timer);
	return 0;
}

/* Kafka's timers cannot be moved either. */
int peer_reschedule(void *timer, int64_t now, int64_t delay)
{
	struct timer *t = timer;

	if (!peer_cancel(t))
		return 1;
	return peer_schedule(t, now, delay, t->fn, t->arg);
}
