/* SPDX-License-Identifier: MIT */
/*
 * Runs: what an executor has of an instance's timers.
 *
 * A run is given to the executor, is running from when its callback may begin,
 * and is called when all that its call does with the instance is done.  Those
 * that are running are on lists, so that a task can find its own; the others
 * are counted.  Each CPU has its own part of this.  A stop closes the lists,
 * because it waits until nothing is running.  A destroy closes the counts,
 * because the last run frees the instance.  From then on the instance's mutex
 * protects the numbers.
 *
 * Guarantees:
 *  1. Nothing begins once the lists are closed.
 *  2. The instance is not freed while a run is given and not called.
 *  3. To begin and to end takes a lock that other CPUs seldom take, and wakes
 *     nobody before the instance is stopped.
 *
 * The thread that starts or frees the instance: open, free.  Under its mutex:
 * close_*.  The driver: give.  Any thread: begin, end, find, next,
 * count_called.
 */
#ifndef TT_RUNS_H
#define TT_RUNS_H

#include "engine/inside.h"
#include "engine/measure.h"
#include "os/cpu.h"
#include "os/lock.h"
#include "os/tally.h"

struct runs_part;

/* One that is running, on the stack of the thread that runs it. */
struct running {
	struct inside inside;
	struct runs_part *part; /* that has it on its list */
	/* Written by the thread that runs it: what is counted at the end. */
	bool ran;
	int64_t due; /* when its timer was */
	struct timing timing;
	/* Protected by that part's lock. */
	struct running *next;
	struct running *previous; /* NULL: it is the first */
};

struct runs_part {
	struct lock lock;
	/* Protected by the lock. */
	bool closed;
	/* Written under the lock.  A thread on the list finds it not 0. */
	union {
		atomword first;                /* one that is running, or 0 */
		struct running *first_running; /* the same, for debuggers */
	};
	struct tally called;
	/* Runs that were begun here; written under the lock. */
	struct measured *measured;
} __attribute__((aligned(TT_FAR_APART)));

struct runs {
	/* Constant from runs_open to runs_free. */
	struct cpu_map cpus;
	struct runs_part *part;    /* one for each of those; or NULL */
	struct measured *measured; /* and one of these */
	/* Protected by the instance's mutex; once closed. */
	uint32_t running;
	uint32_t called;
	/* The driver's own; under the mutex when that is not at work. */
	uint32_t given;
};

/* False: no memory, and then it is as after runs_free. */
bool runs_open(struct runs *r, uint32_t n);
void runs_free(struct runs *r);

void runs_close_running(struct runs *r);
void runs_close_called(struct runs *r);

/* False: they are closed, and it must not begin. */
bool runs_begin(struct runs *r, struct running *run);

/* False: they are closed, and it must be counted under the mutex. */
bool runs_end(struct running *run);

/* Is one of them, for this timer or (0) any, running in this task or thread? */
bool runs_find(const struct runs *r, uintptr_t who, timerthread_id id);

/* False: as runs_end. */
static inline bool runs_count_called(struct runs *r)
{
	struct runs_part *part = &r->part[cpu_map_pick(&r->cpus)];

	return likely(tally_add(&part->called, 1));
}

/*
 * Those that are running, one after the other: by when they began, then by
 * their ids.  If one of them comes after *after and before *best it becomes
 * *best.  runs_next_of: the same for one that may be.
 */
void runs_next(const struct runs *r, const struct sighting *after,
	       struct sighting *best);
void runs_next_of(const struct inside *in, const struct sighting *after,
		  struct sighting *best);

/* Are all called?  Once that is closed, and the driver is not at work. */
static inline bool runs_all_called(const struct runs *r)
{
	return ((r->given - r->called) & TALLY_MAX) == 0;
}

#endif
