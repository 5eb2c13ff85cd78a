/* SPDX-License-Identifier: MIT */
/*
 * How often durations of each size were seen, from nanoseconds to minutes.
 *
 * A duration is counted in a step.  An octave, from a power of two to the next,
 * has eight steps of equal width; below 64 ns a step is 8 ns wide.  This is
 * known as a log-linear histogram (Gil Tene's HdrHistogram is one).
 *
 * Guarantees:
 *  1. The value that stands for a step differs from each duration in it by less
 *     than 6 % of that; below 64 ns, by 4 ns.
 *  2. To count one is to find the highest bit and to add to two numbers.
 *  3. A reader gets, for each step, the number that was counted by some moment
 *     in the call, while others are counted.
 *
 * count: one thread at a time.  add_to: any thread.  The rest: the owner
 * of the counts.
 */
#ifndef TT_HISTOGRAM_H
#define TT_HISTOGRAM_H

#include "os/base.h"
#include "os/counter.h"

#define HISTOGRAM_STEPS_LOG2 3
#define HISTOGRAM_STEPS      (1u << HISTOGRAM_STEPS_LOG2) /* in an octave */

/* The octaves are from 64 ns to nine minutes; what is longer is in the last. */
#define HISTOGRAM_FIRST_LOG2 6
#define HISTOGRAM_LAST_LOG2  38
#define HISTOGRAM_OCTAVES    (HISTOGRAM_LAST_LOG2 - HISTOGRAM_FIRST_LOG2 + 1)

/* And what is shorter has as many steps as an octave. */
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

/* A sum that grows no further than it can, for one of few long ones would. */
static inline uint64_t histogram_sum(uint64_t sum, uint64_t ns)
{
	return likely(ns <= UINT64_MAX - sum) ? sum + ns : UINT64_MAX;
}

/* Counts one.  A negative one, which a clock that was set gives, is none. */
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

/* What one or several have counted. */
struct histogram_counts {
	uint64_t sum;
	uint64_t longest;
	uint64_t step[HISTOGRAM_SIZE];
};

void histogram_add_to(struct histogram_counts *c, const struct histogram *h);

/* How many are in the steps below this one. */
uint64_t histogram_below(const struct histogram_counts *c, unsigned step);

static inline uint64_t histogram_number(const struct histogram_counts *c)
{
	return histogram_below(c, HISTOGRAM_SIZE);
}

/* c becomes what was counted after before.  False: that counted more. */
bool histogram_subtract(struct histogram_counts *c,
			const struct histogram_counts *before);

/*
 * What a part of all, from 0 to 1, is no longer than.  There must be one.  0 is
 * the shortest, 1 the longest.
 */
int64_t histogram_quantile(const struct histogram_counts *c, double part);

#endif
