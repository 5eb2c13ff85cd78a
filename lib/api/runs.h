/* SPDX-License-Identifier: MIT */
/*
 * Runs: what an executor has of an instance's timers, counted.
 *
 * A run is given to the executor, is running from when its callback may begin,
 * and is called when all that its call does with the instance is done.  Each
 * CPU has its own part of the numbers that an executor's threads change.  A
 * stop closes `running`, for it waits until nothing is; a destroy closes
 * `called`, for the last run frees.  From then on the instance's mutex protects
 * them.
 *
 * Guarantees:
 *  1. Nothing begins once `running` is closed.
 *  2. The instance is not freed while a run is given and not called.
 *  3. Counting takes no lock and wakes nobody before the instance is stopped.
 *
 * Who starts and frees the instance: open, free.  Under its mutex: close_*.
 * The driver: give.  Any thread: count_*.
 */
#ifndef TT_RUNS_H
#define TT_RUNS_H

#include "os/cpu.h"
#include "os/tally.h"

struct runs_part {
	struct tally running;
	struct tally called;
} __attribute__((aligned(TT_FAR_APART)));

struct runs {
	/* Constant from runs_open to runs_free. */
	struct cpu_map cpus;
	struct runs_part *part; /* one for each of those; or NULL */
	/* Protected by the instance's mutex; once closed. */
	uint32_t running;
	uint32_t called;
	/* The driver's own; under the mutex when that is not at work. */
	uint32_t given;
};

/* False: no memory. */
bool runs_open(struct runs *r, uint32_t n);
void runs_free(struct runs *r);

void runs_close_running(struct runs *r);
void runs_close_called(struct runs *r);

static inline struct runs_part *runs_part(const struct runs *r)
{
	return &r->part[cpu_map_pick(&r->cpus)];
}

/* False: it is closed, and must be counted under the mutex, or not begin. */
static inline bool runs_count_running(struct runs *r, int32_t n)
{
	return likely(tally_add(&runs_part(r)->running, n));
}

static inline bool runs_count_called(struct runs *r)
{
	return likely(tally_add(&runs_part(r)->called, 1));
}

/* Are all called?  Once that is closed, and the driver is not at work. */
static inline bool runs_all_called(const struct runs *r)
{
	return ((r->given - r->called) & TALLY_MAX) == 0;
}

#endif
