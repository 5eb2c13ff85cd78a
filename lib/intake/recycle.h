/* SPDX-License-Identifier: MIT */
/*
 * Recycling: a call that adds an entry to a lane looks at the oldest entries
 * there, drops those that are no longer of use, and frees the slots of timers
 * that have ended.
 *
 * This is one of two ways to find the dead.  The other one is the sweep
 * (sweep.h), for what no call finds here.
 *
 * Why not something simpler: a slot that is a node of a timing wheel, which its
 * bucket unlinks, and dead slots that are reported on a stack?  That was built
 * (550 lines).  A pair of calls took 57 to 60 ns, where it takes 36 to 51 with
 * lanes and recycling, with equal timeouts and with mixed ones.  If another
 * thread cancels, a timer took 670 to 740 ns instead of 270, of which 200 to
 * 230 are the hand-over to that thread.
 *
 * All of this is done under the bucket's lock.
 */
#pragma once

#include "intake/bucket.h"

/*
 * One of so many calls of a lane looks at old entries, and drops at most so
 * many: two for each call.  (If each call looked at two, as it did, it looked
 * at one live timer in vain, and a pair took 60 instructions more.)
 */
#define RECYCLE_EVERY 4
#define RECYCLE_LOOKS (2 * RECYCLE_EVERY)

/*
 * For when it is a call's turn: looks at some old entries, and sets how many
 * calls skip this after it.
 */
INTERNAL void recycle_look(struct bucket *b, struct lane *l);

/*
 * Prefetches what the next call that looks will look at, but for the first
 * `from` entries.  If another CPU has cancelled the timers, their lines must
 * come from that CPU.  Without the prefetch, the next atomic operation here
 * would wait for the writes to these lines, that is, until the lines have
 * arrived.  Between CPUs that are far apart, this reduced the time of a pair
 * from 205 to 120 ns.
 */
INTERNAL void recycle_prefetch(struct bucket *b, struct lane *l, size_t from);

/*
 * Recycles for a call that adds to this lane.  Most timers are cancelled
 * roughly in the order in which they were scheduled.  So the oldest is the most
 * likely to be dead, the slots are used again in the order in which they lie in
 * memory, and CPUs prefetch them without help.
 */
static inline void recycle_oldest(struct bucket *b, struct lane *l)
{
	if (unlikely(l->skips == 0))
		recycle_look(b, l);
	else if (unlikely(--l->skips == RECYCLE_EVERY - 1))
		recycle_prefetch(b, l, 0);
}
