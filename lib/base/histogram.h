/* SPDX-License-Identifier: MIT */
/*
 * How often durations of each size were seen, from nanoseconds to minutes.
 *
 * Each duration is counted in one step.  An octave, from a power of two to the
 * next, has eight steps of equal width; below 64 ns, a step is 8 ns wide.  This
 * is known as a log-linear histogram (Gil Tene's HdrHistogram is one).
 *
 * Guarantees:
 *  1. The value that stands for a step differs from each duration in the step
 *     by less than 6 % of the duration; below 64 ns, by at most 4 ns.
 *  2. Counting a duration needs its highest bit and two additions.
 *  3. While durations are being counted, a reader gets for each step a number
 *     that was right at some moment during the call.
 *
 * count: one thread at a time.  add_to: any thread.  The rest: the owner
 * of the counts.
 */
#pragma once

#include "base/base.h"
#include "base/word64.h"

#define HISTOGRAM_STEPS_LOG2 3
#define HISTOGRAM_STEPS      (1u << HISTOGRAM_STEPS_LOG2) /* in an octave */

/* From 64 ns to nine minutes.  Longer durations are in the last step. */
#define HISTOGRAM_FIRST_LOG2 6
#define HISTOGRAM_LAST_LOG2  38
#define HISTOGRAM_OCTAVES    (HISTOGRAM_LAST_LOG2 - HISTOGRAM_FIRST_LOG2 + 1)

/* Durations below the first octave have as many steps as an octave. */
#define HISTOGRAM_SIZE ((HISTOGRAM_OCTAVES + 1) << HISTOGRAM_STEPS_LOG2)

struct histogram {
	struct counter sum;
	struct counter longest;
	struct counter step[HISTOGRAM_SIZE];
};

/* The step of a duration, which is not negative. */
static inline unsigned histogram_step(uint64_t ns)
{
	unsigned log2;

	if (ns < 1u << HISTOGRAM_FIRST_LOG2)
		return (unsigned)(ns >> (HISTOGRAM_FIRST_LOG2 -
					 HISTOGRAM_STEPS_LOG2));
	if (unlikely(ns >> (HISTOGRAM_LAST_LOG2 + 1)))
		return HISTOGRAM_SIZE - 1;
	log2 = 63 - (unsigned)__builtin_clzll(ns);
	return ((log2 - HISTOGRAM_FIRST_LOG2) << HISTOGRAM_STEPS_LOG2) +
	       (unsigned)(ns >> (log2 - HISTOGRAM_STEPS_LOG2));
}

/* Adds, and saturates: a few very long durations could overflow the sum. */
static inline uint64_t histogram_sum(uint64_t sum, uint64_t ns)
{
	return likely(ns <= UINT64_MAX - sum) ? sum + ns : UINT64_MAX;
}

/* Counts a negative duration as 0: it can occur if the clock was set. */
static inline void histogram_count(struct histogram *h, int64_t duration)
{
	uint64_t ns = duration > 0 ? (uint64_t)duration : 0;
	uint64_t longest = counter_read(&h->longest);
	uint64_t sum = counter_read(&h->sum);

	counter_add(&h->step[histogram_step(ns)], 1);
	counter_add(&h->sum, histogram_sum(sum, ns) - sum);
	if (unlikely(ns > longest))
		counter_add(&h->longest, ns - longest);
}

/* What one or several histograms have counted. */
struct histogram_counts {
	uint64_t sum;
	uint64_t longest;
	uint64_t step[HISTOGRAM_SIZE];
};

INTERNAL void histogram_add_to(struct histogram_counts *c,
			       const struct histogram *h);

/* How many durations are in the steps below this one. */
INTERNAL uint64_t histogram_below(const struct histogram_counts *c,
				  unsigned step);

static inline uint64_t histogram_number(const struct histogram_counts *c)
{
	return histogram_below(c, HISTOGRAM_SIZE);
}

/* Subtracts the earlier counts `before`.  False: in a step they are higher. */
INTERNAL bool histogram_subtract(struct histogram_counts *c,
				 const struct histogram_counts *before);

/*
 * A quantile: this part of all durations, from 0 to 1, is no longer than the
 * result.  0 asks for the shortest, 1 for the longest.  There must be at least
 * one duration.
 */
INTERNAL int64_t histogram_quantile(const struct histogram_counts *c,
				    double part);
