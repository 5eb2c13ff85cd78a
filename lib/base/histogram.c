/* SPDX-License-Identifier: MIT */
#include "base/histogram.h"

void histogram_add_to(struct histogram_counts *c, const struct histogram *h)
{
	uint64_t longest = counter_read(&h->longest);

	c->sum = histogram_sum(c->sum, counter_read(&h->sum));
	if (longest > c->longest)
		c->longest = longest;
	for (unsigned i = 0; i < HISTOGRAM_SIZE; i++)
		c->step[i] += counter_read(&h->step[i]);
}

uint64_t histogram_below(const struct histogram_counts *c, unsigned step)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < step; i++)
		n += c->step[i];
	return n;
}

bool histogram_subtract(struct histogram_counts *c,
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

int64_t histogram_quantile(const struct histogram_counts *c, double part)
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
