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

static bool take_as(struct lock *l, uint32_t word)
{
	return atom32_load(&l->word) == LOCK_FREE &&
	       atom32_swap_acquire(&l->word, LOCK_FREE, word) == LOCK_FREE;
}

static bool spin(struct lock *l, uint32_t word)
{
	for (int i = 0; i < SPINS; i++) {
		relax();
		if (take_as(l, word))
			return true;
	}
	return false;
}

/*
 * Who has slept does not know whether others do, and so takes the lock as one
 * that is slept for: its release wakes the next.  Between two naps it spins
 * too: who wakes meets threads that are busy with the lock, and one try in a
 * nap could go wrong many times over.
 */
TT_NOINLINE void lock_acquire_slow(struct lock *l)
{
	long nap = LOCK_NAP_NS;

	if (spin(l, LOCK_HELD))
		return;
	do {
		atom32_swap_acquire(&l->word, LOCK_HELD, LOCK_SLEPT_FOR);
		futex_wait_for(&l->word, LOCK_SLEPT_FOR, nap);
		nap = nap < LOCK_NAP_MAX_NS ? 2 * nap : nap;
	} while (!spin(l, LOCK_SLEPT_FOR));
}

TT_NOINLINE void lock_wake(struct lock *l)
{
	futex_wake_one(&l->word);
}
