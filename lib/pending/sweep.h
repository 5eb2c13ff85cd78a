/* SPDX-License-Identifier: MIT */
/*
 * Sweeping: finding what was cancelled among what was collected.
 *
 * Nobody tells the driver that a timer is over; to learn it from the timer's
 * slot costs a look there, and a line of another CPU's cache.  So the looks are
 * a rent, paid by what is filed and by what runs, and a lower one while they
 * find nothing.  One that finds something raises the alarm: until SWEEP_ALARM
 * looks at what lies in heap and wheel have found nothing, all that is to be
 * filed is looked at, and two others for each.
 *
 * Guarantees:
 *  1. The dead stay few: each entry that is filed or has run pays for two looks
 *     at others during an alarm, for a sixteenth of one otherwise.  The looks
 *     go round, through all of heap and wheel.  (With a quarter, and a whole
 *     look for what has run, a million timers that all ran took 8 % more.)
 *  2. No call looks at more than it is asked to and a block.
 *
 * Not thread-safe; the driver owns it.
 */
#ifndef TT_SWEEP_H
#define TT_SWEEP_H

#include "intake/entry.h"
#include "pending/filed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far the looks have come.  All zero at first. */
struct sweep {
	uint32_t alarm; /* looks until it is over; 0: there is none */
	int64_t owed;   /* 1/SWEEP_SAMPLE looks; negative: in advance */
	size_t at;      /* the next position in the heap, or beyond */
	bool in_wheel;  /* but it is the wheel that is looked at now */
};

/* So many looks in a row that find nothing end an alarm. */
#define SWEEP_ALARM 1024

/* Looks that are worth a call. */
#define SWEEP_BATCH 64

/*
 * Outside an alarm one of so many that go to the wheel is looked at, and for
 * each so many that are filed or have run one other.
 */
#define SWEEP_SAMPLE 16

/* Is e of no more use?  Then frees its timer's slot, if the timer is over. */
bool sweep_drop(struct sweep *s, struct intake *in, const struct entry *e);

/*
 * The same for one that is to be filed; if its timer was rescheduled to a later
 * time, *e becomes the entry for that.
 */
bool sweep_refresh(struct sweep *s, struct intake *in, struct entry *e);

/* As if one had been found that is over. */
static inline void sweep_raise_alarm(struct sweep *s)
{
	s->alarm = SWEEP_ALARM;
}

/* Is the i-th of those that are to be filed to be looked at? */
static inline bool sweep_is_turn(const struct sweep *s, uint32_t i)
{
	return s->alarm > 0 || i % SWEEP_SAMPLE == 0;
}

/* Pays for n entries that were filed in f, or have run. */
void sweep_pay(struct sweep *s, struct filed *f, size_t n);

/*
 * Looks at about n entries of f; *ret_looked: at how many.  True: it found so
 * many that are over that another call is worth the while.
 */
bool sweep_look(struct sweep *s, struct filed *f, size_t n, size_t *ret_looked);

#endif
