/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/futex.h"
#include "os/lock.h"

#include <stdbool.h>

#define SPINS 64

static bool spin(struct lock *l, bool hot)
{
	for (int i = 0; i < SPINS; i++) {
		spin_relax();
		if ((hot || atom32_load(&l->held) == 0) && lock_try(l))
			return true;
	}
	return false;
}

/*
 * It also spins between two naps: when it wakes up, other threads may be busy
 * with the lock, and a single try for each nap could fail many times.
 */
static void acquire_asleep(struct lock *l)
{
	long nap = LOCK_NAP_NS;

	do {
		atom32_store(&l->slept, 1);
		/* A thread that released it before this did not see `slept`. */
		if (lock_try(l))
			return;
		futex_wait_for(&l->slept, 1, nap);
		nap = nap < LOCK_NAP_MAX_NS ? 2 * nap : nap;
	} while (!spin(l, false));
	atom32_store(&l->slept, 1);
}

TT_NOINLINE void lock_acquire_slow(struct lock *l, bool hot)
{
	if (!spin(l, hot))
		acquire_asleep(l);
}

TT_NOINLINE void lock_wake(struct lock *l)
{
	atom32_store(&l->slept, 0);
	futex_wake(&l->slept, 1);
}

void lock_acquire(struct lock *l)
{
	lock_acquire_inline(l);
}

void lock_acquire_hot(struct lock *l)
{
	if (unlikely(!lock_try(l)))
		lock_acquire_slow(l, true);
}

void lock_release(struct lock *l)
{
	lock_release_inline(l);
}
