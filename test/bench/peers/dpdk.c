/* SPDX-License-Identifier: MIT */
/*
 * DPDK's rte_timer: a skip list of timers for each lcore, under a spinlock.
 * A timer, 120 bytes, is in its user's memory.
 *
 * Each calling thread is registered as an lcore and has its timers in its own
 * list; one thread polls all lists by rte_timer_alt_manage and calls back, as
 * DPDK's own event timer adapter does it.  There are RTE_MAX_LCORE (mostly 128)
 * lists, two of them taken by the main and the polling thread.  DPDK lets other
 * threads set and stop timers too, so that threads beyond that share the
 * polling thread's list: 400 can call.
 *
 * It sleeps 50 us after each poll, as long as the kernel makes of it: about
 * 110 us.  DPDK's own way is not to sleep, on a CPU that has nothing else to
 * do; here that would be a CPU that the others need.
 *
 * Nobody is woken, by a schedule call or for a deadline: that is what the
 * others pay for and this one does not.  Spinlocks are made for as many threads
 * as there are CPUs; with more, they wait for one that does not run.
 *
 * A delay is in ticks of the time stamp counter, at the rate that DPDK found
 * out: where it had to measure, it rounds to 10 MHz, and a timer may be early.
 * rte_timer_stop does not say whether the timer ran, so the callback notes it
 * in the timer; and it fails while the callback runs, then it is tried again.
 * rte_timer_reset would start a timer that has just run once more, and is
 * therefore not used to move one; stopping it first costs next to nothing, as
 * it would take it from the list too.
 *
 * A callback can cancel a timer that is due in the same turn only by a mark in
 * it, so that its memory must stay until that turn is over.
 *
 * Neither huge pages nor devices nor privileges are needed.  DPDK leaves an
 * empty directory dpdk/rte where it keeps files otherwise.  It can be started
 * once in a process.
 */
#include "peer.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wcast-align"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wundef"
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_timer.h>
#include <rte_version.h>
#pragma GCC diagnostic pop

enum { PAUSE_NS = 50000, SECOND = 1000000000 };

struct timer {
	struct rte_timer t; /* first: callbacks get its address */
	peer_fn *fn;
	void *arg;
	int64_t again; /* the new deadline of one that is DROPPED, or 0 */
	_Atomic uint8_t state;
	bool initialised;
};

enum {
	IDLE,
	WAITS,
	BEGUN,   /* its callback did */
	DROPPED, /* cancelled by a callback, when due to run next */
};

const struct peer_info peer = {
	.name = "dpdk",
	.clock = "tsc",
	.resolution = 1,
	.timer_size = sizeof(struct timer),
	.cancel_tells = true,
	.callbacks_wait = true,
	.notes = "polls, with pauses of some 110 us",
};

static pthread_t poller;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t started = PTHREAD_COND_INITIALIZER;
static unsigned int poller_lcore = LCORE_ID_ANY;
static atomic_bool stopping;
static uint32_t lists; /* DPDK's id of our set of them */
static atomic_int lists_used;
static uint64_t ticks_per_s;

/* Of the calling thread. */
static _Thread_local unsigned int list;
static _Thread_local bool registered;

const char *peer_version(void)
{
	return rte_version();
}

static uint64_t ticks(int64_t ns)
{
	uint64_t n = ns > 0 ? (uint64_t)ns : 0;

	return n / SECOND * ticks_per_s + n % SECOND * ticks_per_s / SECOND;
}

static int reset(struct timer *t, int64_t delay)
{
	return rte_timer_alt_reset(lists, &t->t, ticks(delay), SINGLE, list,
				   NULL, NULL);
}

static void set_state(struct timer *t, uint8_t state)
{
	atomic_store_explicit(&t->state, state, memory_order_release);
}

static uint8_t state(struct timer *t)
{
	return atomic_load_explicit(&t->state, memory_order_acquire);
}

/* A dropped timer's turn came: now it can be set again. */
static void pick_up(struct timer *t)
{
	struct timespec now;
	int64_t again = t->again;

	if (again == 0) {
		set_state(t, IDLE);
		return;
	}
	t->again = 0;
	set_state(t, WAITS);
	clock_gettime(CLOCK_MONOTONIC, &now);
	reset(t, again - (now.tv_sec * (int64_t)SECOND + now.tv_nsec));
}

static void run(struct rte_timer *timer)
{
	struct timer *t = (struct timer *)(void *)timer;

	if (state(t) == DROPPED) {
		pick_up(t);
		return;
	}
	set_state(t, BEGUN);
	t->fn(t->arg);
}

static void *poll_lists(void *arg)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	unsigned int all[RTE_MAX_LCORE];

	for (unsigned int i = 0; i < RTE_MAX_LCORE; i++)
		all[i] = i;
	peer_enter();
	if (!registered)
		peer_die("rte_thread_register", rte_errno);
	pthread_mutex_lock(&lock);
	poller_lcore = list;
	pthread_cond_broadcast(&started);
	pthread_mutex_unlock(&lock);
	while (!stopping) {
		rte_timer_alt_manage(lists, all, lists_used, run);
		nanosleep(&pause, NULL);
	}
	peer_leave();
	return arg;
}

/* It would leave the calling thread on one CPU, and all that this creates. */
static void start_eal(void)
{
	static char lcores[32];
	static char program[] = "bench", no_huge[] = "--no-huge",
		    no_pci[] = "--no-pci", no_files[] = "--no-shconf",
		    no_telemetry[] = "--no-telemetry", m[] = "-m", mib[] = "16";
	char *args[] = {program,      lcores, no_huge, no_pci, no_files,
			no_telemetry, m,      mib,     NULL};
	cpu_set_t cpus;

	snprintf(lcores, sizeof(lcores), "--lcores=0@%d", sched_getcpu());
	pthread_getaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	rte_log_set_global_level(RTE_LOG_EMERG);
	if (rte_eal_init(sizeof(args) / sizeof(*args) - 1, args) < 0)
		peer_die("rte_eal_init", rte_errno);
	pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
}

void peer_start(const struct peer_setup *setup)
{
	int r;

	(void)setup;
	start_eal();
	r = rte_timer_subsystem_init();
	if (r == 0)
		r = rte_timer_data_alloc(&lists);
	if (r < 0)
		peer_die("rte_timer_subsystem_init", -r);
	ticks_per_s = rte_get_timer_hz();
	r = pthread_create(&poller, NULL, poll_lists, NULL);
	if (r != 0)
		peer_die("pthread_create", r);
	pthread_mutex_lock(&lock);
	while (poller_lcore == LCORE_ID_ANY)
		pthread_cond_wait(&started, &lock);
	pthread_mutex_unlock(&lock);
}

/* What is pending goes with the lists. */
void peer_stop(void)
{
	stopping = true;
	pthread_join(poller, NULL);
	rte_timer_data_dealloc(lists);
	rte_timer_subsystem_finalize();
	rte_eal_cleanup();
}

static void poll_up_to(int n)
{
	int used = lists_used;

	while (used < n && !atomic_compare_exchange_weak(&lists_used, &used, n))
		;
}

void peer_enter(void)
{
	if (rte_lcore_id() == LCORE_ID_ANY)
		registered = rte_thread_register() == 0;
	list = rte_lcore_id();
	if (list == LCORE_ID_ANY)
		list = poller_lcore;
	else
		poll_up_to((int)list + 1);
}

void peer_leave(void)
{
	if (registered)
		rte_thread_unregister();
	registered = false;
}

static bool is_poller(void)
{
	return pthread_equal(pthread_self(), poller);
}

int peer_schedule(void *timer, int64_t now, int64_t delay, peer_fn *fn,
		  void *arg)
{
	struct timer *t = timer;

	if (!t->initialised) {
		rte_timer_init(&t->t);
		t->initialised = true;
	}
	while (state(t) == DROPPED && !is_poller())
		sched_yield();
	t->fn = fn;
	t->arg = arg;
	set_state(t, WAITS);
	while (reset(t, delay) != 0) {
		if (is_poller()) {
			t->again = now + delay;
			set_state(t, DROPPED);
			break;
		}
		sched_yield();
	}
	return 0;
}

/* By a callback, while the timer is in DPDK's list of those to run now. */
static int drop(struct timer *t)
{
	bool pending = state(t) == WAITS || t->again != 0;

	t->again = 0;
	set_state(t, DROPPED);
	return pending;
}

int peer_cancel(void *timer)
{
	struct timer *t = timer;
	bool pending;

	if (!t->initialised || (state(t) == BEGUN && is_poller()))
		return 0;
	while (rte_timer_alt_stop(lists, &t->t) != 0) {
		if (is_poller())
			return drop(t);
		sched_yield();
	}
	pending = state(t) == WAITS;
	if (pending)
		set_state(t, IDLE);
	return pending;
}

int peer_reschedule(void *timer, int64_t now, int64_t delay)
{
	struct timer *t = timer;

	if (peer_cancel(t) == 0)
		return 1;
	return peer_schedule(t, now, delay, t->fn, t->arg);
}
