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
	/* Below the first octave, steps are as wide as in it. */
	uint64_t first = UINT64_C(1) << HISTOGRAM_FIRST_LOG2;
	unsigned log2 = 63 - (unsigned)__builtin_clzll(ns | first);

	if (unlikely(log2 > HISTOGRAM_LAST_LOG2))
		return HISTOGRAM_SIZE - 1;
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

TT_PART void histogram_add_to(struct histogram_counts *c,
			      const struct histogram *h)
{
	uint64_t longest = counter_read(&h->longest);

	c->sum = histogram_sum(c->sum, counter_read(&h->sum));
	if (longest > c->longest)
		c->longest = longest;
	for (unsigned i = 0; i < HISTOGRAM_SIZE; i++)
		c->step[i] += counter_read(&h->step[i]);
}

/* How many durations are in the steps below this one. */
TT_PART uint64_t histogram_below(const struct histogram_counts *c,
				 unsigned step)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < step; i++)
		n += c->step[i];
	return n;
}

static inline uint64_t histogram_number(const struct histogram_counts *c)
{
	return histogram_below(c, HISTOGRAM_SIZE);
}

/* Subtracts the earlier counts `before`.  False: in a step they are higher. */
TT_PART bool histogram_subtract(struct histogram_counts *c,
				const struct histogram_counts *before)
{
	for (unsigned i = 0; i < HISTOGRAM_SIZE; i++) {
		if (before->step[i] > c->step[i])
			return false;
		c->step[i] -= before->step[i];
	}
	c->sum -= before->sum;
	return true;
}

/*
 * The value that stands for a step from a to b is 2ab / (a + b).  It differs
 * from a by (b - a) / (b + a) of a, and from b by that part of b.  This part is
 * a seventeenth at most.
 */
static uint64_t middle_of(unsigned step)
{
	unsigned octave = step >> HISTOGRAM_STEPS_LOG2;
	uint64_t in_octave = step & (HISTOGRAM_STEPS - 1);
	uint64_t a = HISTOGRAM_STEPS + in_octave; /* in widths; b is a + 1 */
	uint64_t width = UINT64_C(1)
			 << (HISTOGRAM_FIRST_LOG2 - HISTOGRAM_STEPS_LOG2);

	if (octave == 0)
		return in_octave * width + width / 2;
	width <<= octave - 1;
	return a * width + width * a / (2 * a + 1);
}

/* Which of n durations, from the shortest one, which is 1, it is. */
static uint64_t rank_of(uint64_t n, double part)
{
	double rank = part * (double)n;
	uint64_t below = rank >= (double)n ? n : (uint64_t)rank;

	below += (double)below < rank;
	return below == 0 ? 1 : below < n ? below : n;
}

/*
 * A quantile: this part of all durations, from 0 to 1, is no longer than the
 * result.  0 asks for the shortest, 1 for the longest.  There must be at least
 * one duration.
 */
TT_PART int64_t histogram_quantile(const struct histogram_counts *c,
				   double part)
{
	uint64_t rank = rank_of(histogram_number(c), part);
	uint64_t middle;
	unsigned i = 0;

	while (rank > c->step[i])
		rank -= c->step[i++];
	middle = middle_of(i);
	/* It may be older than the steps, and then is in an earlier step. */
	if (histogram_step(c->longest) == i && c->longest < middle)
		middle = c->longest;
	return (int64_t)middle;
}
