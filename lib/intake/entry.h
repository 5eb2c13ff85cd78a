/* SPDX-License-Identifier: MIT */
/*
 * A reminder of one timer: what queues hold instead of the timer itself, so
 * that ordering them touches no slot.  Sixteen bytes, four to a cache line.
 *
 * A timer may have several, because one that is rescheduled to an earlier time
 * gets a new one.  The ticket tells the one that counts: the slot has the same.
 * Its lowest bit says whether the timer repeats.  The bit above that is set in
 * a slot alone, so that no entry counts: the timer is handed over (handover.h).
 *
 * A hole is left of an entry that is of no more use where it cannot be taken
 * out.  No slot has its index.
 */
#ifndef TT_ENTRY_H
#define TT_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#define TICKET_REPEATS     1u
#define TICKET_HANDED_OVER 2u
#define TICKET_STEP        4u

struct entry {
	int64_t deadline; /* the timer's then, or the time then if later */
	uint32_t ticket;
	uint32_t index; /* the slot's; 0: a hole */
};

static inline bool entry_is_hole(const struct entry *e)
{
	return e->index == 0;
}

#endif
