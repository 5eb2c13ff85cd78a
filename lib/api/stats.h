/* SPDX-License-Identifier: MIT */
/*
 * The numbers of what an instance has done, and of what it has.
 *
 * Calls that schedule are counted, because they have a bucket's lock anyway.
 * The thread that runs timers counts and measures the runs.  A cancel is a
 * compare-and-swap on the slot and counts nothing.  So a call that wants the
 * number of cancelled timers looks at all slots, to see how many timers live.
 * The timers that were scheduled, do not live and did not end with a run were
 * cancelled.
 *
 * The result must never be too large.  So the number of scheduled timers is
 * read first, under the lock; then the slots; then the number of timers that
 * have ended, which is counted before the slot is freed.  The result may be too
 * small while other threads use the instance.  So the number that was reported
 * is remembered, and later results are not smaller.
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
	uint64_t current_run; /* how long the longest has been running now */
	/* stats_look, from the slots; all that follows. */
	uint64_t pending;
	uint64_t running;
	uint64_t dead;
	/* The results from that; they include drained timers. */
	uint64_t cancelled;
	uint64_t recycled;
};

/* For an instance that lives. */
void stats_count(struct timerthread *tt, struct stats *s);

/* After that: looks at all slots. */
void stats_look(struct timerthread *tt, struct stats *s);

/* The measurements of its runs so far; all zero if it does not live. */
struct measured_counts {
	struct histogram_counts lateness;
	struct histogram_counts run_time;
};

void stats_measured(const struct timerthread *tt, struct measured_counts *c);

#endif
