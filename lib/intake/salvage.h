/* SPDX-License-Identifier: MIT */
/*
 * Salvage: dead slots are taken from under their entries, where there is no
 * other slot and no memory for one.
 *
 * Usually a dead slot is freed by the thread that finds its entry (rent.h, the
 * driver), because that is cheap.  But its entry may be where no call looks, or
 * the driver may have it and be in a long callback.  Here the slots themselves
 * are looked at.  The entry that is left behind is stale, as it has another
 * ticket.
 *
 * Guarantees:
 *  1. If a dead slot was there all the time, bucket_salvage frees one;
 *     except those that an executor has, and a few that the driver is just
 *     taking.
 *  2. The lock is held for SALVAGE_LOOKS looks at a time, and for a look at all
 *     that are stranded, of which there are usually none; and the next call
 *     goes on where this one has ended.  So where one slot in k is dead, to
 *     free one takes k looks on the average, and a pass over all at most.
 *
 * Any thread.
 */
#ifndef TT_SALVAGE_H
#define TT_SALVAGE_H

#include "intake/bucket.h"

/* That takes some microseconds. */
#define SALVAGE_LOOKS 1024

/* Frees some dead slots.  False: there is none. */
bool bucket_salvage(struct bucket *b);

/* A step of that.  False: it found none, among so many as there are slots. */
bool bucket_salvage_step(struct bucket *b, uint32_t *ret_slots);

#endif
