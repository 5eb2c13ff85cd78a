/* SPDX-License-Identifier: MIT */
/*
 * A hashed timing wheel with rounds: scheme 6 of Varghese and Lauck, in the
 * form that Netty's HashedWheelTimer made known.  Written for this comparison.
 *
 * A thread wakes up each tick, whether there are timers or not, as Netty's
 * does once it was started.  Scheduling appends a node to a queue with many
 * producers.  At its next tick the thread puts what came, 100,000 at most, into
 * the slots of the wheel, each with the number of revolutions that it is away,
 * and runs what is due in the slot of this tick.  Nothing is early: a deadline
 * is rounded up to a tick.
 *
 * Cancelling changes the node's state.  A node that is in a slot by then is
 * appended to a second queue, for the thread to unlink it; one that is not is
 * dropped when the thread takes it from the first queue.  Netty appends both
 * kinds, and counts the timers that are pending in a counter that all threads
 * share: here that is saved.
 *
 * As a cancelled node stays where it is until the next tick, it cannot be in
 * the timer's memory, which may be used again at once.  Nodes come from a pool
 * that threads take from, and the wheel's thread gives back to, in batches.
 * They are not freed before the end and count how often they were used, so
 * that a timer that has run can still be cancelled.
 *
 * The tick is 1 ms, to be comparable; Netty's default is 100 ms.  A revolution
 * is 65.5 s, near that of Netty's defaults (51.2 s), which takes more slots.
 * It is for the wheel that it need not order timers and takes no lock, and
 * against it that it wakes up 1000 times a second.
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
	SLOTS = 65536,   /* a power of two */
	INTAKE = 100000, /* nodes a tick */
	BATCH = 256,     /* nodes */
};

/* The low bits of a node's state; the others are its generation. */
enum { QUEUED, PLACED, CANCELLED, RUNNING, STATES };

struct node {
	_Alignas(64) _Atomic(struct node *) link; /* in a queue */
	struct node *next;                        /* in a slot, or the pool */
	struct node **back;                       /* what points to it */
	_Atomic uint64_t state;
	int64_t deadline;
	int64_t rounds;
	peer_fn *fn;
	void *arg;
};

struct timer {
	struct node *node;
	uint64_t generation; /* of the node, state 0 */
	peer_fn *fn;
	void *arg;
};

const struct peer_info peer = {
	.name = "hashed-wheel",
	.clock = "monotonic",
	.resolution = TICK,
	.timer_size = sizeof(struct timer),
	.cancel_tells = true,
	.callbacks_wait = true,
	.notes = "wakes up each 1 ms, also when idle",
};

/* Nodes of the pool, linked by next. */
struct batch {
	struct node *first;
	int n;
};

/* Many threads append, one takes.  It always has a node, maybe the stub. */
struct queue {
	_Alignas(64) _Atomic(struct node *) tail;
	_Alignas(64) struct node *head;
	struct node stub;
};

struct slab {
	_Alignas(64) struct slab *next;
	struct node nodes[BATCH];
};

static struct node **slots;
static struct queue fresh, cancelled;
static int64_t start_time, current; /* the tick that is to be done next */
static pthread_t thread;
static atomic_bool stopping;
static _Thread_local bool on_wheel;

/* Batches, linked by their first nodes' link, with n in their rounds. */
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *pool;
static struct slab *slabs;
static _Thread_local struct batch mine, spare;

static pthread_mutex_t end_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t end_cond = PTHREAD_COND_INITIALIZER;
static atomic_int end_waiters;

const char *peer_version(void)
{
	return "1";
}

/*
 * The pool.
 */

static void pool_put(struct batch *b)
{
	struct node *first = b->first;

	if (!first)
		return;
	first->rounds = b->n;
	pthread_mutex_lock(&pool_lock);
	atomic_store_explicit(&first->link, pool, memory_order_relaxed);
	pool = first;
	pthread_mutex_unlock(&pool_lock);
	*b = (struct batch){NULL, 0};
}

static bool pool_get(struct batch *b)
{
	struct node *first;

	pthread_mutex_lock(&pool_lock);
	first = pool;
	if (first)
		pool = atomic_load_explicit(&first->link, memory_order_relaxed);
	pthread_mutex_unlock(&pool_lock);
	if (first)
		*b = (struct batch){first, (int)first->rounds};
	return first != NULL;
}

static bool pool_grow(struct batch *b)
{
	struct slab *s = aligned_alloc(_Alignof(struct slab), sizeof(*s));
	int i;

	if (!s)
		return false;
	for (i = 0; i < BATCH; i++) {
		s->nodes[i].next = i + 1 < BATCH ? &s->nodes[i + 1] : NULL;
		atomic_init(&s->nodes[i].state, 0);
	}
	*b = (struct batch){s->nodes, BATCH};
	pthread_mutex_lock(&pool_lock);
	s->next = slabs;
	slabs = s;
	pthread_mutex_unlock(&pool_lock);
	return true;
}

static struct node *node_get(void)
{
	struct node *n;

	if (!mine.first) {
		if (spare.first) {
			mine = spare;
			spare = (struct batch){NULL, 0};
		} else if (!pool_get(&mine) && !pool_grow(&mine)) {
			return NULL;
		}
	}
	n = mine.first;
	mine.first = n->next;
	mine.n--;
	return n;
}

/* The generation is over: whoever looks finds that the timer is not pending. */
static void node_put(struct node *n, uint64_t state)
{
	atomic_store(&n->state, (state | (STATES - 1)) + 1);
	if (mine.n == BATCH) {
		pool_put(&spare);
		spare = mine;
		mine = (struct batch){NULL, 0};
	}
	n->next = mine.first;
	mine.first = n;
	mine.n++;
}

/*
 * The queues, each as Vyukov describes it: an append is one exchange.
 */

static void queue_init(struct queue *q)
{
	atomic_store(&q->stub.link, NULL);
	atomic_store(&q->tail, &q->stub);
	q->head = &q->stub;
}

static void append(struct queue *q, struct node *n)
{
	struct node *before;

	atomic_store_explicit(&n->link, NULL, memory_order_relaxed);
	before = atomic_exchange_explicit(&q->tail, n, memory_order_acq_rel);
	atomic_store_explicit(&before->link, n, memory_order_release);
}

static struct node *after(struct node *n)
{
	return atomic_load_explicit(&n->link, memory_order_acquire);
}

/* NULL: there is none, or an append is under way. */
static struct node *take(struct queue *q)
{
	struct node *n = q->head;
	struct node *next = after(n);

	if (n == &q->stub) {
		if (!next)
			return NULL;
		q->head = n = next;
		next = after(n);
	}
	if (!next) {
		if (n != atomic_load_explicit(&q->tail, memory_order_acquire))
			return NULL;
		append(q, &q->stub);
		next = after(n);
	}
	if (!next)
		return NULL;
	q->head = next;
	return n;
}

/*
 * The wheel's thread.
 */

static void link_node(struct node *n, struct node **slot)
{
	n->next = *slot;
	n->back = slot;
	if (n->next)
		n->next->back = &n->next;
	*slot = n;
}

static void unlink_node(struct node *n)
{
	*n->back = n->next;
	if (n->next)
		n->next->back = n->back;
}

static bool change(struct node *n, uint64_t from, uint64_t to)
{
	return atomic_compare_exchange_strong_explicit(&n->state, &from, to,
						       memory_order_acq_rel,
						       memory_order_acquire);
}

static void unlink_cancelled(void)
{
	struct node *n;

	while ((n = take(&cancelled))) {
		unlink_node(n);
		node_put(n,
			 atomic_load_explicit(&n->state, memory_order_relaxed));
	}
}

static void place(struct node *n)
{
	uint64_t state = atomic_load_explicit(&n->state, memory_order_relaxed);
	int64_t tick = (n->deadline - start_time + TICK - 1) / TICK;

	if (state % STATES != QUEUED || !change(n, state, state + PLACED)) {
		node_put(n, state);
		return;
	}
	if (tick < current)
		tick = current;
	n->rounds = (tick - current) / SLOTS;
	link_node(n, &slots[tick % SLOTS]);
}

static void place_fresh(void)
{
	struct node *n;
	int i;

	for (i = 0; i < INTAKE && (n = take(&fresh)); i++)
		place(n);
}

/* Who waits for the end counts itself before it looks at the state. */
static void run(struct node *n, uint64_t state)
{
	n->fn(n->arg);
	node_put(n, state);
	if (atomic_load(&end_waiters)) {
		pthread_mutex_lock(&end_lock);
		pthread_cond_broadcast(&end_cond);
		pthread_mutex_unlock(&end_lock);
	}
}

/* Cancelled ones stay until they are taken from their queue. */
static void run_slot(struct node *n)
{
	struct node *next;

	for (; n && !atomic_load_explicit(&stopping, memory_order_relaxed);
	     n = next) {
		uint64_t state =
			atomic_load_explicit(&n->state, memory_order_relaxed);

		next = n->next;
		if (n->rounds > 0) {
			n->rounds--;
		} else if (state % STATES == PLACED &&
			   change(n, state, state - PLACED + RUNNING)) {
			unlink_node(n);
			run(n, state);
		}
	}
}

static void sleep_until(int64_t t)
{
	struct timespec until = {.tv_sec = t / SECOND, .tv_nsec = t % SECOND};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
}

/* After a delay it does one tick after the other without sleeping. */
static void *wheel_main(void *arg)
{
	(void)arg;
	on_wheel = true;
	while (!atomic_load(&stopping)) {
		sleep_until(start_time + current * TICK);
		unlink_cancelled();
		place_fresh();
		run_slot(slots[current % SLOTS]);
		current++;
	}
	return NULL;
}

/*
 * What the workloads call.
 */

void peer_start(const struct peer_setup *setup)
{
	struct timespec t;
	int r;

	(void)setup;
	slots = calloc(SLOTS, sizeof(*slots));
	if (!slots)
		peer_die("calloc", ENOMEM);
	queue_init(&fresh);
	queue_init(&cancelled);
	clock_gettime(CLOCK_MONOTONIC, &t);
	start_time = t.tv_sec * SECOND + t.tv_nsec;
	current = 1;
	atomic_store(&stopping, false);
	r = pthread_create(&thread, NULL, wheel_main, NULL);
	if (r)
		peer_die("pthread_create", r);
}

void peer_stop(void)
{
	atomic_store(&stopping, true);
	pthread_join(thread, NULL);
	while (slabs) {
		struct slab *next = slabs->next;

		free(slabs);
		slabs = next;
	}
	pool = NULL;
	free(slots);
}

void peer_enter(void)
{
}

void peer_leave(void)
{
	pool_put(&mine);
	pool_put(&spare);
}

int peer_schedule(void *timer, int64_t now, int64_t delay, peer_fn *fn,
		  void *arg)
{
	struct timer *t = timer;
	struct node *n = node_get();

	if (!n)
		return -ENOMEM;
	n->deadline = now + delay;
	n->fn = t->fn = fn;
	n->arg = t->arg = arg;
	t->node = n;
	t->generation = atomic_load_explicit(&n->state, memory_order_relaxed);
	append(&fresh, n);
	return 0;
}

static void wait_for_end(struct node *n, uint64_t running)
{
	atomic_fetch_add(&end_waiters, 1);
	pthread_mutex_lock(&end_lock);
	while (atomic_load(&n->state) == running)
		pthread_cond_wait(&end_cond, &end_lock);
	pthread_mutex_unlock(&end_lock);
	atomic_fetch_sub(&end_waiters, 1);
}

int peer_cancel(void *timer)
{
	const struct timer *t = timer;
	struct node *n = t->node;
	uint64_t g = t->generation;

	if (change(n, g + QUEUED, g + CANCELLED))
		return 1;
	if (change(n, g + PLACED, g + CANCELLED)) {
		append(&cancelled, n);
		return 1;
	}
	if (!on_wheel)
		wait_for_end(n, g + RUNNING);
	return 0;
}

/* A timeout of this kind of wheel cannot be moved. */
int peer_reschedule(void *timer, int64_t now, int64_t delay)
{
	const struct timer *t = timer;

	if (!peer_cancel(timer))
		return 1;
	return peer_schedule(timer, now, delay, t->fn, t->arg);
}
