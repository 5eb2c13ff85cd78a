/* SPDX-License-Identifier: MIT */
/*
 * The numbers of what an instance has done, and of what it has: those that a
 * program can ask for by timerthread_get_stat, and a few more.  A table has the
 * names that a page of metrics and a report show.
 *
 * To add a number, count it in stats.c, and put a line into the table there.
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
#pragma once

#include "api/instance.h"

/* As an enum timerthread_stat: how long the longest has been running now. */
#define STAT_CURRENT_RUN 63
#define STATS            64

/* Each enum timerthread_histogram. */
#define HISTOGRAMS 2

enum stat_kind { GAUGE, COUNTER, HISTOGRAM };

/* Seconds are counted in nanoseconds. */
enum stat_unit { NUMBER, BYTES, SECONDS };

/*
 * What must be read to know a number: what was measured; also what was counted;
 * or all that, and all slots.
 */
enum stat_source { FROM_RUNS, FROM_COUNTS, FROM_SLOTS };

struct fact {
	/* An enum timerthread_stat or, of a histogram, _histogram. */
	uint8_t which;
	uint8_t kind;
	uint8_t unit;
	uint8_t source;
	const char *name; /* of a counter: without _total; NULL: not shown */
	const char *help;
};

#define FACTS 23

INTERNAL const struct fact stat_table[FACTS];

/* All numbers, each at the place that its fact names. */
struct figures {
	uint64_t stat[STATS];
	struct histogram_counts histogram[HISTOGRAMS];
};

/*
 * Reads those that are known from this source; all others are zero, and so are
 * all if the instance does not live.
 */
INTERNAL void stats_read(struct timerthread *tt, enum stat_source source,
			 struct figures *f);

/* The position before the first one. */
#define RUNNING_BEGIN ((struct run){.since = INT64_MIN})

/*
 * Stores in *s the one that comes after *s and had begun by the time `by`, on
 * CLOCK_MONOTONIC.  False: there is none.
 */
INTERNAL bool running_next(const struct timerthread *tt, int64_t by,
			   struct run *s);
