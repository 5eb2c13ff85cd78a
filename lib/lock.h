/* SPDX-License-Identifier: MIT */
/*
 * A lock for sections of a few dozen instructions.
 *
 * Guarantees:
 *  1. Mutual exclusion; what one holder wrote the next one sees.
 *  2. A thread that finds it held spins for a microsecond or so, then sleeps:
 *     a real-time thread gives its CPU to a holder that was preempted there.
 *  3. The release wakes one sleeper, and that one's release the next; at the
 *     latest a sleeper looks again after a nap of LOCK_NAP_NS, and twice as
 *     long each time.
 *  4. Taking a free lock is one compare-and-swap, releasing it a plain store.
 *
 * Why not a mutex: releasing one that may have sleepers costs a second atomic
 * read-modify-write, about a fifth of a whole schedule-and-cancel pair.  Here
 * the release looks for sleepers and then stores: one that lies down between
 * the two is missed, hence the nap in 3.  The section is some 20 ns long, so
 * whoever meets a holder that does not finish within the spin has met one that
 * was preempted.
 *
 * That there are sleepers is said in the lock's own word and forgotten with
 * the release (Drepper, "Futexes Are Tricky").  A count of them would hold
 * until the one that was woken gets a CPU, and all that use the lock meanwhile
 * would send wake-ups for nothing: with 64 threads on two CPUs that took a pair
 * from 65 to 250 ns.
 *
 * Not recursive.  Any thread; never held over a callback, an allocation or a
 * system call other than its own.
 */
#ifndef TT_LOCK_H
#define TT_LOCK_H

#include "atomic.h"
#include "base.h"

enum { LOCK_FREE, LOCK_HELD, LOCK_SLEPT_FOR /* held, maybe sleepers */ };

struct lock {
	atom32 word; /* and the futex */
};

#define LOCK_NAP_NS     1000000
#define LOCK_NAP_MAX_NS 64000000

void lock_acquire_slow(struct lock *l);
void lock_wake(struct lock *l);

static inline void lock_init(struct lock *l)
{
	atom32_store(&l->word, LOCK_FREE);
}

/* A moment ago; orders nothing. */
static inline int lock_is_held(const struct lock *l)
{
	return atom32_load(&l->word) != LOCK_FREE;
}

/* Acquire: pairs with the store in lock_release. */
static inline int lock_try(struct lock *l)
{
	return atom32_swap_acquire(&l->word, LOCK_FREE, LOCK_HELD) == LOCK_FREE;
}

static inline void lock_acquire(struct lock *l)
{
	if (unlikely(!lock_try(l)))
		lock_acquire_slow(l);
}

/* Release: pairs with the compare-and-swap of who takes it next. */
static inline void lock_release(struct lock *l)
{
	uint32_t was = atom32_load(&l->word);

	atom32_store_release(&l->word, LOCK_FREE);
	if (unlikely(was == LOCK_SLEPT_FOR))
		lock_wake(l);
}

#endif
