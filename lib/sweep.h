/* SPDX-License-Identifier: MIT */
/*
 * Finding what was cancelled among what is pending.
 *
 * Nobody tells the timer thread that a timer is over; to learn it from the
 * timer's slot costs a look there, and a line of another CPU's cache.  So the
 * looks are a rent, paid by what is sorted and by what runs, and a lower one
 * while they find nothing.  One that finds something raises the alarm: until
 * SWEEP_ALARM looks at what lies in heap and wheel have found nothing, all that
 * is sorted is looked at, and two others for each.
 *
 * Guarantees:
 *  1. The dead stay few: each entry that is sorted or has run pays by two
 *     looks at others during an alarm, by a sixteenth of one else.  The looks
 *     go round, through all of heap and wheel.  (With a quarter, and a whole
 *     look for what has run, a million timers that all ran took 8 % more.)
 *  2. No call looks at more than it is asked to and a block.
 *
 * Not thread-safe; the timer thread owns it.
 */
#ifndef TT_SWEEP_H
#define TT_SWEEP_H

#include "entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pending;

struct sweep {
	uint32_t alarm; /* looks until it is over; 0: there is none */
	int64_t owed;   /* 1/SWEEP_SAMPLE looks; negative: in advance */
	size_t at;      /* the next position in the heap, or beyond */
	bool in_wheel;  /* but the wheel has its turn */
};

/* So many looks in a row that find nothing end an alarm. */
#define SWEEP_ALARM 1024

/* Looks that are worth a call. */
#define SWEEP_BATCH 64

/*
 * Outside an alarm one of so many that go to the wheel is looked at, and for
 * each so many that are sorted or have run one other.
 */
#define SWEEP_SAMPLE 16

/* Is e of no more use?  Then frees its timer's slot, if that is over. */
bool sweep_reclaim(struct pending *p, const struct entry *e);

/*
 * The same for one that is to be sorted; if its timer was moved to a later
 * time, *e becomes one for that.
 */
bool sweep_settle(struct pending *p, struct entry *e);

/* As if one had been found that is over. */
void sweep_raise_alarm(struct pending *p);

/* Is the i-th of those that are sorted to be looked at? */
static inline bool sweep_is_turn(const struct sweep *s, uint32_t i)
{
	return s->alarm > 0 || i % SWEEP_SAMPLE == 0;
}

/* Pays for n entries that were sorted, or have run. */
void sweep_pay(struct pending *p, size_t n);

/*
 * Looks at about n entries; *ret_looked: at how many.  True: it found so many
 * that are over that another call is worth the while.
 */
bool sweep_look(struct pending *p, size_t n, size_t *ret_looked);

#endif
