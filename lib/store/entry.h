/* SPDX-License-Identifier: MIT */
/*
 * An entry is a reminder of one timer.  Queues hold entries instead of the
 * timers themselves, so ordering them touches no slot.  An entry has sixteen
 * bytes; four fit in a cache line.
 *
 * A timer may have several entries, because it gets a new one when it is
 * rescheduled to an earlier time.  The ticket tells which of them counts: the
 * slot has the same ticket.  The ticket's lowest bit says whether the timer
 * repeats.  The next two bits are only ever set in a slot.  Then no entry
 * counts: the timer is handed over (expiry.h), or it is running, and a thread
 * may wait for this run (await.h).
 *
 * A slot whose tickets reach the upper half is worn: it is not used again after
 * its timer.  If that gets so many entries more that their tickets begin again,
 * they do so in that half.  So no ticket is one of an earlier timer, but an old
 * entry of this timer may seem to count: then a thread must look at the slot,
 * under the lock.
 */
#pragma once

#include <stdint.h>

#define TICKET_REPEATS     1u
#define TICKET_HANDED_OVER 2u
#define TICKET_AWAITED     4u
#define TICKET_STEP        8u
#define TICKET_WORN        (1u << 31)

/* The ticket of the timer's next entry. */
static inline uint32_t ticket_next(uint32_t ticket)
{
	return (ticket + TICKET_STEP) | (ticket & TICKET_WORN);
}

struct entry {
	int64_t deadline; /* when made: the timer's, or now if later */
	uint32_t ticket;
	uint32_t index; /* the slot's */
};
