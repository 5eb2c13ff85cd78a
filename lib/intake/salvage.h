/* SPDX-License-Identifier: MIT */
/*
 * Salvage: dead slots are taken from under their entries, if there is no other
 * slot and no memory for one.
 *
 * Usually a dead slot is freed by the thread that finds its entry (rent.h, the
 * driver), because that is cheap.  But the entry may be where no call looks; or
 * the driver may have it, and be in a long callback.  So salvage looks at the
 * slots themselves.  The entry that is left behind is stale, because the slot
 * gets another ticket.
 *
 * Guarantees:
 *  1. If there is a dead slot during the whole call, and there are as many
 *     looks as slots, bucket_salvage frees one.  Exceptions: slots that an
 *     executor has, and a few that the driver is taking at that moment.
 *  2. The lock is held for 64 looks at a time.  The next call goes on where
 *     this one has ended.  So if one slot in k is dead, freeing one takes k
 *     looks on average, and at most a pass over all slots.
 *
 * Any thread.
 */
#ifndef TT_SALVAGE_H
#define TT_SALVAGE_H

#include "intake/bucket.h"

/* This many looks take some microseconds. */
#define SALVAGE_LOOKS 1024

/*
 * Frees some dead slots.  Takes *looks looks at most, and subtracts those that
 * it took.  False: it has found none, in these or in all slots.
 */
bool bucket_salvage(struct bucket *b, uint64_t *looks);

#endif
