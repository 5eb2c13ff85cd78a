/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "futex.h"
#include "lock.h"

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

/*
 * Between two naps it spins too: who wakes meets threads that are busy with
 * the lock, and one try in a nap could go wrong many times over.
 */
TT_NOINLINE void lock_acquire_slow(struct lock *l)
{
	if (spin(l))
		return;
	atom32_add(&l->sleepers, 1);
	do
		futex_wait_for(&l->held, 1, LOCK_NAP_NS);
	while (!lock_try(l) && !spin(l));
	atom32_add(&l->sleepers, (uint32_t)-1);
}

TT_NOINLINE void lock_wake(struct lock *l)
{
	futex_wake_one(&l->held);
}
