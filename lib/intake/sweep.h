/* SPDX-License-Identifier: MIT */
/*
 * A sweep goes through the slots of a bucket in the order of their addresses, a
 * word of 64 at a time, and frees those of timers that were cancelled.  It
 * finds what recycling (recycle.h) does not find: because the entry is behind
 * others that live, or where no call comes by, or because the driver has it.
 *
 * A dead slot is taken from under its entry: first it gets another ticket, so
 * that the entry is stale, then it is freed.  The entry of a timer that was
 * disarmed becomes stale in the same way.
 *
 * There are three reasons to sweep:
 *  - a call finds no slot;
 *  - there is no memory for one, and a call looks for a single dead slot;
 *  - the driver comes by (reclaim.h): it also counts the living, and gives back
 *    the memory of words in which there are none (store/vacancy.h).
 *
 * Guarantees:
 *  1. If there is a dead slot during the whole call, and there are as many
 *     looks as slots, sweep_until_found frees one.  Exceptions: slots that an
 *     executor has, and a few that the driver is taking at that moment.
 *  2. The lock is held for some hundreds of looks at a time, or for a page.
 *
 * Any thread: for_call, until_found.  The driver: step.
 */
#pragma once

#include "intake/bucket.h"
#include "store/vacancy.h"

/*
 * For a call that finds no slot: sweeps a few words, here and there.  If it
 * finds little, no call sweeps again before the number of slots in use has
 * grown by an eighth.  True: sweeps find dead ones, and recycling finds none.
 * Under the lock.
 */
INTERNAL bool sweep_for_call(struct bucket *b);

/* This many looks take some microseconds. */
#define SWEEP_LOOKS 1024

/*
 * Sweeps until it has freed a slot.  Takes *looks looks at most, and subtracts
 * those that it took.  False: it has found none, in these or in all slots.
 */
INTERNAL bool sweep_until_found(struct bucket *b, uint64_t *looks);

/* The driver's sweep of a bucket; all zero before its first step. */
struct sweeping {
	bool ends;       /* a window ends with it; see vacancy.h */
	uint32_t at;     /* it has seen the words before this one */
	uint64_t seen;   /* slots in use that it has seen */
	uint64_t freed;  /* those of them that it has freed */
	uint64_t queued; /* those of them whose timer has an entry, or runs */
	bool gave;       /* in this step, memory was given back */
};

/* One step.  True: there is more to see. */
INTERNAL bool sweep_step(struct bucket *b, struct sweeping *s);
