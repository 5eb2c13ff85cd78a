/* SPDX-License-Identifier: MIT */
#include "os/lock.h"
#include "os/futex.h"

#define SPINS 64

bool lock_is_stuck(const struct lock *l)
{
	for (int i = 0; i < SPINS; i++) {
		if (!lock_is_held(l))
			return false;
		spin_relax();
	}
	return true;
}

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
TT_NOINLINE void lock_acquire_slow(struct lock *l, bool hot)
{
	long nap = LOCK_NAP_NS;

	if (spin(l, hot))
		return;
	do {
		atom32_store(&l->slept, 1);
		/* A thread that released it before this did not see `slept`. */
		if (lock_try(l))
			return;
		futex_wait_for(&l->slept, 1, nap);
		/* If nobody has cleared it, the nap mostly ended by itself. */
		if (atom32_load(&l->slept) != 0 && nap < LOCK_NAP_MAX_NS)
			nap *= 2;
	} while (!spin(l, false));
	atom32_store(&l->slept, 1);
}

TT_NOINLINE void lock_wake(struct lock *l)
{
	atom32_store(&l->slept, 0);
	futex_wake(&l->slept, 1);
}

TT_NOINLINE void lock_acquire(struct lock *l)
{
	lock_acquire_inline(l);
}

TT_NOINLINE void lock_acquire_hot(struct lock *l)
{
	if (unlikely(!lock_try(l)))
		lock_acquire_slow(l, true);
}

TT_NOINLINE void lock_release(struct lock *l)
{
	lock_release_inline(l);
}
