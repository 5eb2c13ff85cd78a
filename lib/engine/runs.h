/* SPDX-License-Identifier: MIT */
/*
 * Runs: the timers of an instance that an executor has.
 *
 * A run goes through three stages:
 *  - given: the driver gives it to the executor;
 *  - running: its callback may have begun;
 *  - called: the executor's call has done everything with the instance.
 *
 * Runs that are running are on lists, so that a task can find its own.  Runs
 * that were given or called are counted.  Each CPU has its own part of this.  A
 * stop closes the lists, because it waits until nothing is running.  A destroy
 * closes the counts, because the last run frees the instance.  From then on,
 * the instance's mutex protects the numbers.
 *
 * Guarantees:
 *  1. No run begins once the lists are closed.
 *  2. The instance is not freed while a run is given and not called.
 *  3. The beginning and the end of a run take a lock that other CPUs seldom
 *     take, and wake no thread before the instance is stopped.
 *
 * The thread that starts or frees the instance: open, free.  Under its mutex:
 * close_*.  The driver counts in `given`.  Any thread: begin, end, find, next,
 * count_called.
 */
#pragma once

#include "base/tally.h"
#include "engine/inside.h"
#include "os/cpu.h"

struct runs_part;

/* A run that is running; on the stack of the thread that runs it. */
struct running {
	struct inside inside;
	struct runs_part *part; /* the part whose list it is on */
	/* Written by the thread that runs it, and counted at the end. */
	struct timing timing;
	/* Protected by that part's lock. */
	struct running *next;
	struct running *previous; /* NULL: this is the first */
};

struct runs_part {
	struct lock lock;
	/* Protected by the lock. */
	bool closed;
	/* Written under the lock.  A thread on the list never reads 0. */
	union {
		atomword first;                /* the first that runs, or 0 */
		struct running *first_running; /* the same, for debuggers */
	};
	struct tally called;
	/* For the runs that began here; written under the lock. */
	struct measured measured;
} __attribute__((aligned(TT_FAR_APART)));

struct runs {
	/* Constant from runs_open to runs_free. */
	struct cpu_map cpus;
	struct runs_part *part; /* one for each of the cpus; or NULL */
	/* Used once closed; protected by the instance's mutex. */
	uint32_t running;
	uint32_t called;
	/* The driver's own; under the mutex while it is not in a turn. */
	uint32_t given;
};

/* False: no memory, and then r is as after runs_free. */
INTERNAL bool runs_open(struct runs *r, uint32_t n);
INTERNAL void runs_free(struct runs *r);

INTERNAL void runs_close_running(struct runs *r);
INTERNAL void runs_close_called(struct runs *r);

/* False: the lists are closed, and the run must not begin. */
INTERNAL bool runs_begin(struct runs *r, struct running *run);

/* False: the lists are closed, and it must be counted under the mutex. */
INTERNAL bool runs_end(struct running *run);

/* Is a run of this timer (0: of any) running in this task or thread? */
INTERNAL bool runs_find(const struct runs *r, uintptr_t who, timerthread_id id);

/* False: the counts are closed, and it must be counted under the mutex. */
static inline bool runs_count_called(struct runs *r)
{
	struct runs_part *part = &r->part[cpu_map_pick(&r->cpus)];

	return likely(tally_add(&part->called, 1));
}

/*
 * Finds the runs that are running one after the other, in the order of when
 * they began, then of their ids.  If one of them comes after *after and before
 * *best, it becomes *best.  runs_next_of: the same for one that may be running.
 */
INTERNAL void runs_next(const struct runs *r, const struct run *after,
			struct run *best);
INTERNAL void runs_next_of(const struct inside *in, const struct run *after,
			   struct run *best);
