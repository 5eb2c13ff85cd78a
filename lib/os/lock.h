/* SPDX-License-Identifier: MIT */
/*
 * A lock for sections of a few dozen instructions, and sometimes of a few
 * microseconds.
 *
 * Guarantees:
 *  1. Mutual exclusion; a holder sees everything that earlier holders wrote.
 *  2. A thread that finds the lock held spins for about a microsecond, then
 *     sleeps.  So a real-time thread gives its CPU to a holder that was
 *     preempted there.
 *  3. The release wakes one sleeper, and that sleeper's release wakes the next.
 *     A sleeper that no release wakes looks again after a nap, of LOCK_NAP_NS
 *     at first and of LOCK_NAP_MAX_NS in the end.  After a nap that ended by
 *     itself, the next is twice as long.  So a wake-up that is missed costs
 *     LOCK_NAP_NS, or about as much as the naps before it; if many threads
 *     wait, it may cost LOCK_NAP_MAX_NS.
 *  4. Taking a free lock is one compare-and-swap, releasing it a plain store.
 *
 * Why not a mutex: releasing one that may have sleepers costs a second atomic
 * read-modify-write, about a fifth of a whole schedule-and-cancel pair.  Here,
 * the release stores and then looks for sleepers.  A CPU, even x86, may do
 * these two in the other order, and miss a thread that is just going to sleep.
 * Or the releasing thread is preempted between the two, and forgets a thread
 * that has gone to sleep since.  Therefore the nap in 3: without it, such a
 * sleeper would be lost for good.
 *
 * Why not restartable sequences (rseq(2)), which could spare the
 * compare-and-swap?  With none, and nothing in its place, a pair took 50 ns
 * instead of 53.  That is too little for assembly code for each machine, and
 * for a driver that would have to interrupt the other CPUs.
 *
 * The sections of callers are about 20 ns long, those of the driver a few
 * microseconds.  So a holder that does not finish within the spin is the
 * driver, or a thread that was preempted.
 *
 * Sleepers wait for `slept` to change, not for `held`.  A thread needs a
 * microsecond from announcing its sleep to sleeping, and in that time a busy
 * lock changes hands ten times.  If threads slept on `held`, a wake-up sent in
 * that time would find no sleeper, and no thread would know of the sleep that
 * follows: with a real-time timer thread, one sleep in eight ended only with
 * its nap.
 *
 * The thread that wakes a sleeper clears `slept`.  The sleeper sets it again
 * when it has the lock, because it does not know whether it was the last one.
 * A count of sleepers would not go down until the woken thread gets a CPU, and
 * until then all threads that use the lock would send useless wake-ups.  With
 * 64 threads on two CPUs, that made a pair cost 250 ns instead of 65.
 *
 * Short naps do harm where many threads wait: with 400 threads on two CPUs, and
 * naps of at most 8 ms instead of 64, a pair cost 76 to 90 ns instead of 67 to
 * 73.
 *
 * A lock of zeros is free.  It is not recursive.  Any thread may take it.  It
 * is never held during a callback, an allocation, or a system call other than
 * its own.
 */
#pragma once

#include "base/atomic.h"
#include "base/base.h"

struct lock {
	atom32 held;  /* 1 while a thread is in the section */
	atom32 slept; /* the futex; 1: threads may sleep, or be about to */
};

#define LOCK_NAP_NS     1000000
#define LOCK_NAP_MAX_NS 64000000

INTERNAL void lock_acquire_slow(struct lock *l, bool hot);
INTERNAL void lock_wake(struct lock *l);

/* Was it held a moment ago?  Relaxed: orders nothing. */
static inline int lock_is_held(const struct lock *l)
{
	return atom32_load(&l->held) != 0;
}

/* Is its holder a thread that was preempted?  Spins as guarantee 2 says. */
INTERNAL bool lock_is_stuck(const struct lock *l);

/* Acquire: pairs with the store in lock_release. */
static inline int lock_try(struct lock *l)
{
	return atom32_swap_acquire(&l->held, 0, 1) == 0;
}

INTERNAL void lock_acquire(struct lock *l);
INTERNAL void lock_release(struct lock *l);

/*
 * The same for calls that schedule or reschedule.  (If all callers had this
 * code, the library would have 4 KB more.)  Release: pairs with the
 * compare-and-swap in lock_try.
 */
static inline void lock_acquire_inline(struct lock *l)
{
	if (unlikely(!lock_try(l)))
		lock_acquire_slow(l, false);
}

static inline void lock_release_inline(struct lock *l)
{
	atom32_store_release(&l->held, 0);
	if (unlikely(atom32_load(&l->slept) != 0))
		lock_wake(l);
}

/*
 * As lock_acquire, for a lock that one other CPU takes again and again.  A
 * thread that looks whether the lock is free, and then takes it, must fetch the
 * cache line twice, and the other CPU takes the lock in between.  So this tries
 * to take the lock without looking.  If several threads wait for a lock,
 * looking is better.  Simulated with 64 CPUs that schedule and cancel with
 * timeouts of 3 to 6 ms: the 99th percentile of another timer's lateness was
 * 6.4 us with this, and 60 us if the driver looked.
 */
INTERNAL void lock_acquire_hot(struct lock *l);
