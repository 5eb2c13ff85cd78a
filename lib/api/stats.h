/* SPDX-License-Identifier: MIT */
/*
 * What an instance has done and has.
 *
 * Calls that schedule count, as they have a bucket's lock anyway; the thread
 * that runs timers counts and measures the runs.  A cancel is a
 * compare-and-swap on the slot and counts nothing: a call that wants the number
 * looks at all slots and sees how many timers live.  Those that were scheduled,
 * do not live and did not end with a run were cancelled.
 *
 * So that these never seem to be too many, first the number of those that were
 * scheduled is read, under the lock, then the slots, then the number of those
 * that have ended: that is counted before the slot is freed.  They may seem to
 * be too few while other threads are at work.  So the number that was given is
 * remembered, and does not get smaller.
 *
 * Any thread.
 */
#ifndef TT_STATS_H
#define TT_STATS_H

#include "api/instance.h"
#include "os/histogram.h"

/* All zero before they are counted. */
struct stats {
	/* stats_count. */
	uint64_t scheduled;
	uint64_t rescheduled;
	uint64_t drained;
	uint64_t fired;
	uint64_t capped;
	uint64_t no_memory;
	uint64_t wakeups;
	uint64_t early_wakeups;
	uint64_t slots; /* that there is memory for */
	uint64_t bytes;
	uint64_t run_time;
	uint64_t longest_run;
	uint64_t awake_time;
	uint64_t largest_lateness;
	uint64_t current_run; /* of the longest one that is running now */
	/* stats_look: as the slots are. */
	uint64_t pending;
	uint64_t running;
	uint64_t dead;
	/* What follows from that; those that were drained among them. */
	uint64_t cancelled;
	uint64_t recycled;
};

/* For an instance that lives. */
void stats_count(struct timerthread *tt, struct stats *s);

/* After that: looks at all slots. */
void stats_look(struct timerthread *tt, struct stats *s);

/* What was measured of its runs by now; also of one that does not live. */
struct measured_counts {
	struct histogram_counts lateness;
	struct histogram_counts run_time;
};

void stats_measured(const struct timerthread *tt, struct measured_counts *c);

#endif
