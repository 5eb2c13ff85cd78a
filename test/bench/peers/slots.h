/* SPDX-License-Identifier: MIT */
/*
 * For facilities whose timers are kernel objects with a small number, and that
 * tell one thread about an expiry by that number: timerfd.c and posix.c.
 *
 * A slot belongs to each number.  Its word says in the low two bits whether it
 * is free, being armed or pending, above them how often it was used.  The
 * number and the word when pending are the id that a workload's timer keeps,
 * so that an id from before matches no later use.
 *
 * The news of an expiry may be old: fetched by the thread, but not looked at,
 * when the timer was cancelled or moved, and its number used again.  It has no
 * count of uses in it, therefore the deadline decides: if that is still to
 * come, its own news will come too.
 */
#pragma once

#include "peer.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

enum { SLOT_FREE, SLOT_ARMING, SLOT_PENDING, SLOT_USE = 4 };

#define SLOTS_MOST (UINT32_C(1) << 24)
#define SLOT_NONE  UINT32_MAX

struct slot {
	alignas(64) _Atomic uint32_t word;
	_Atomic uint32_t next; /* 1 + the next spare one, or 0 */
	_Atomic int64_t deadline;
	_Atomic(peer_fn *) fn;
	_Atomic(void *) arg;
	timer_t timer;
};

static struct {
	struct slot *slot;
	uint32_t n;
	alignas(64) _Atomic uint64_t spare;   /* a stack: changes, 1 + number */
	alignas(64) _Atomic uint64_t running; /* the id, or 0 */
	atomic_int waiters;
	pthread_t thread; /* that runs callbacks */
	pthread_mutex_t lock;
	pthread_cond_t over;
} slots = {.lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};

static inline const char *kernel_version(void)
{
	static struct utsname name;

	uname(&name);
	return name.release;
}

/* The resource's hard limit, from now on the soft one too, less a reserve. */
static inline uint32_t raised_limit(int resource, uint32_t reserve)
{
	struct rlimit l;

	if (getrlimit((__rlimit_resource_t)resource, &l) < 0)
		peer_die("getrlimit", errno);
	l.rlim_cur = l.rlim_max;
	if (setrlimit((__rlimit_resource_t)resource, &l) < 0)
		peer_die("setrlimit", errno);
	if (l.rlim_max > SLOTS_MOST)
		return SLOTS_MOST - reserve;
	return l.rlim_max > reserve ? (uint32_t)l.rlim_max - reserve : 1;
}

/* Zero, and no memory until it is touched. */
static inline void slots_create(uint32_t n)
{
	void *p = mmap(NULL, n * sizeof(struct slot), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		peer_die("memory for slots", errno);
	slots.slot = p;
	slots.n = n;
	slots.spare = 0;
}

static inline void slots_destroy(void)
{
	munmap(slots.slot, slots.n * sizeof(struct slot));
	slots.slot = NULL;
}

static inline uint32_t slot_state(uint32_t word)
{
	return word % SLOT_USE;
}

static inline uint64_t slot_id(uint32_t i, uint32_t word)
{
	return (uint64_t)i << 32 | word;
}

/* For numbers that are used again: the last that was put back, if any. */
static inline uint32_t slot_spare(void)
{
	uint64_t old, new;

	old = atomic_load_explicit(&slots.spare, memory_order_acquire);
	do {
		uint32_t i = (uint32_t)old;

		if (i == 0)
			return SLOT_NONE;
		new = ((old >> 32) + 1) << 32 |
		      atomic_load_explicit(&slots.slot[i - 1].next,
					   memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&slots.spare, &old, new,
							memory_order_acquire,
							memory_order_acquire));
	return (uint32_t)old - 1;
}

static inline void slot_put_back(uint32_t i)
{
	uint64_t old, new;

	old = atomic_load_explicit(&slots.spare, memory_order_relaxed);
	do {
		atomic_store_explicit(&slots.slot[i].next, (uint32_t)old,
				      memory_order_relaxed);
		new = ((old >> 32) + 1) << 32 | (i + 1);
	} while (!atomic_compare_exchange_weak_explicit(&slots.spare, &old, new,
							memory_order_release,
							memory_order_relaxed));
}

/*
 * Arming: between the two calls the kernel's timer is set, and from the second
 * on the workload's timer is not touched, for it may run and be used again.
 */
static inline void slot_arm(uint64_t *timer, uint32_t i, int64_t deadline,
			    peer_fn *fn, void *arg)
{
	struct slot *s = &slots.slot[i];
	uint32_t word = atomic_load_explicit(&s->word, memory_order_relaxed);

	atomic_store_explicit(&s->fn, fn, memory_order_relaxed);
	atomic_store_explicit(&s->arg, arg, memory_order_relaxed);
	atomic_store_explicit(&s->deadline, deadline, memory_order_relaxed);
	*timer = slot_id(i, word + SLOT_PENDING);
	atomic_store_explicit(&s->word, word + SLOT_ARMING,
			      memory_order_release);
}

static inline void slot_armed(uint32_t i)
{
	struct slot *s = &slots.slot[i];
	uint32_t word = atomic_load_explicit(&s->word, memory_order_relaxed);

	atomic_store_explicit(&s->word, word + 1, memory_order_release);
}

static inline void slot_not_armed(uint32_t i)
{
	struct slot *s = &slots.slot[i];
	uint32_t word = atomic_load_explicit(&s->word, memory_order_relaxed);

	atomic_store_explicit(&s->word, word - 1, memory_order_release);
}

/* From pending to a state of the next use; false if it was not pending. */
static inline bool slot_leave(uint64_t id, uint32_t state)
{
	uint32_t word = (uint32_t)id;

	if (id == 0)
		return false;
	return atomic_compare_exchange_strong(&slots.slot[id >> 32].word, &word,
					      word - SLOT_PENDING + SLOT_USE +
						      state);
}

/* Moves a pending one; slot_armed follows. */
static inline bool slot_rearm(uint64_t *timer, int64_t deadline)
{
	uint32_t i = (uint32_t)(*timer >> 32);

	if (!slot_leave(*timer, SLOT_ARMING))
		return false;
	atomic_store_explicit(&slots.slot[i].deadline, deadline,
			      memory_order_relaxed);
	*timer = slot_id(i, (uint32_t)*timer + SLOT_USE);
	return true;
}

static inline void slots_run_over(void)
{
	atomic_store(&slots.running, 0);
	if (atomic_load(&slots.waiters) == 0)
		return;
	pthread_mutex_lock(&slots.lock);
	pthread_cond_broadcast(&slots.over);
	pthread_mutex_unlock(&slots.lock);
}

/* Until its callback is over; at once in the callback itself. */
static inline void slot_wait(uint64_t id)
{
	if (id == 0 || atomic_load(&slots.running) != id ||
	    pthread_equal(pthread_self(), slots.thread))
		return;
	pthread_mutex_lock(&slots.lock);
	atomic_fetch_add(&slots.waiters, 1);
	while (atomic_load(&slots.running) == id)
		pthread_cond_wait(&slots.over, &slots.lock);
	atomic_fetch_sub(&slots.waiters, 1);
	pthread_mutex_unlock(&slots.lock);
}

/* Is due, and now the thread's?  While one is being armed it waits. */
static inline bool slot_claim(uint32_t i, int64_t now)
{
	struct slot *s = &slots.slot[i];

	for (;;) {
		uint32_t word =
			atomic_load_explicit(&s->word, memory_order_acquire);

		if (slot_state(word) == SLOT_FREE ||
		    atomic_load_explicit(&s->deadline, memory_order_relaxed) >
			    now)
			return false;
		if (slot_state(word) == SLOT_ARMING) {
			sched_yield();
			continue;
		}
		atomic_store(&slots.running, slot_id(i, word));
		if (slot_leave(slot_id(i, word), SLOT_FREE))
			return true;
		slots_run_over();
	}
}

/*
 * What the thread does with news, having read the clock after they came.  True
 * if it ran: the number is then the caller's to put back.
 */
static inline bool slot_run(uint32_t i, int64_t now)
{
	struct slot *s = &slots.slot[i];
	peer_fn *fn;

	if (!slot_claim(i, now))
		return false;
	fn = atomic_load_explicit(&s->fn, memory_order_relaxed);
	fn(atomic_load_explicit(&s->arg, memory_order_relaxed));
	slots_run_over();
	return true;
}

static inline int64_t slots_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static inline struct itimerspec once_at(int64_t deadline)
{
	return (struct itimerspec){
		.it_value = {.tv_sec = deadline / 1000000000,
			     .tv_nsec = deadline % 1000000000}};
}
