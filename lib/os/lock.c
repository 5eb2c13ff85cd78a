/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/futex.h"
#include "os/lock.h"

#include <stdbool.h>

#define SPINS 64

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
	__asm__ volatile("yield");
#endif
}

static bool spin(struct lock *l)
{
	for (int i = 0; i < SPINS; i++) {
		relax();
		if (atom32_load(&l->held) == 0 && lock_try(l))
			return true;
	}
	return false;
}

static bool spin_hot(struct lock *l)
{
	for (int i = 0; i < SPINS; i++) {
		relax();
		if (lock_try(l))
			return true;
	}
	return false;
}

/*
 * Between two naps it spins too: who wakes meets threads that are busy with
 * the lock, and one try in a nap could go wrong many times over.
 */
static void acquire_asleep(struct lock *l)
{
	long nap = LOCK_NAP_NS;

	do {
		atom32_store(&l->slept, 1);
		/* Who released it before that did not see it. */
		if (lock_try(l))
			return;
		futex_wait_for(&l->slept, 1, nap);
		nap = nap < LOCK_NAP_MAX_NS ? 2 * nap : nap;
	} while (!spin(l));
	atom32_store(&l->slept, 1);
}

TT_NOINLINE void lock_acquire_slow(struct lock *l)
{
	if (!spin(l))
		acquire_asleep(l);
}

TT_NOINLINE void lock_acquire_hot_slow(struct lock *l)
{
	if (!spin_hot(l))
		acquire_asleep(l);
}

TT_NOINLINE void lock_wake(struct lock *l)
{
	atom32_store(&l->slept, 0);
	futex_wake_one(&l->slept);
}
