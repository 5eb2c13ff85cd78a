/* SPDX-License-Identifier: MIT */
/*
 * A lock for sections of a few dozen instructions, and now and then of a few
 * microseconds.
 *
 * Guarantees:
 *  1. Mutual exclusion; what one holder wrote the next one sees.
 *  2. A thread that finds it held spins for a microsecond or so, then sleeps:
 *     a real-time thread gives its CPU to a holder that was preempted there.
 *  3. The release wakes one sleeper, and that one's release the next; at the
 *     latest a sleeper looks again after a nap, of LOCK_NAP_NS at first and
 *     LOCK_NAP_MAX_NS in the end.
 *  4. Taking a free lock is one compare-and-swap, releasing it a plain store.
 *
 * Why not a mutex: releasing one that may have sleepers costs a second atomic
 * read-modify-write, about a fifth of a whole schedule-and-cancel pair.  Here
 * the release stores and then looks for sleepers; a CPU may do these two in
 * the other order, x86 too, and miss one that is just lying down, or be
 * preempted between them and forget one that lay down since, hence the nap in
 * 3: without it such a sleeper would be lost for good.
 * Callers' sections are some 20 ns long, the driver's a few microseconds: a
 * holder that does not finish within the spin is the driver, or a thread that
 * was preempted.
 *
 * Sleepers wait for `slept` to change, not for `held`: a thread that says it
 * sleeps takes a microsecond to do so, in which a busy lock changes hands ten
 * times.  A wake-up that is sent in that time would meet nobody, and nobody
 * would know of the sleep that follows: with a real-time timer thread one
 * sleep in eight ended only with its nap.
 *
 * The thread that wakes a sleeper clears `slept`, and the sleeper sets it again
 * when it has the lock, because it does not know whether it was the last one.
 * A count of sleepers would stay up until the one that was woken gets a CPU,
 * and all that use the lock until then would send wake-ups for nothing: with 64
 * threads on two CPUs that took a pair from 65 to 250 ns.
 *
 * Not recursive.  Any thread; never held over a callback, an allocation or a
 * system call other than its own.
 */
#ifndef TT_LOCK_H
#define TT_LOCK_H

#include "os/atomic.h"
#include "os/base.h"

struct lock {
	atom32 held;  /* 1 while a thread is in the section */
	atom32 slept; /* the futex; 1: threads may sleep, or be about to */
};

#define LOCK_NAP_NS     1000000
#define LOCK_NAP_MAX_NS 8000000

void lock_acquire_slow(struct lock *l, bool hot);
void lock_wake(struct lock *l);

static inline void lock_init(struct lock *l)
{
	atom32_store(&l->held, 0);
	atom32_store(&l->slept, 0);
}

/* A moment ago; orders nothing. */
static inline int lock_is_held(const struct lock *l)
{
	return atom32_load(&l->held) != 0;
}

/* Acquire: pairs with the store in lock_release. */
static inline int lock_try(struct lock *l)
{
	return atom32_swap_acquire(&l->held, 0, 1) == 0;
}

static inline void lock_acquire(struct lock *l)
{
	if (unlikely(!lock_try(l)))
		lock_acquire_slow(l, false);
}

/*
 * The same, for a lock that one other CPU takes again and again.  A thread that
 * looks whether it is free, and then takes it, has the line come twice, and the
 * other takes the lock in between: so this takes without a look.  Where several
 * wait for a lock, looking is better.  Simulated, 64 CPUs that schedule and
 * cancel with timeouts of 3 to 6 ms, another timer was late by 6.4 us in the
 * 99th percentile, where the driver looked 60 us.
 */
static inline void lock_acquire_hot(struct lock *l)
{
	if (unlikely(!lock_try(l)))
		lock_acquire_slow(l, true);
}

/* Release: pairs with the compare-and-swap in lock_try. */
static inline void lock_release(struct lock *l)
{
	atom32_store_release(&l->held, 0);
	if (unlikely(atom32_load(&l->slept) != 0))
		lock_wake(l);
}

#endif
