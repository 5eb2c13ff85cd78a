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
#include "os/memory.h"
#include "os/tool.h"

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
TT_PART bool runs_open(struct runs *r, uint32_t n)
{
	cpu_map_init(&r->cpus, n);
	r->running = r->called = r->given = 0;
	r->part = pages_alloc(n * sizeof(*r->part));
	return r->part != NULL;
}

TT_PART void runs_free(struct runs *r)
{
	pages_free(r->part, r->cpus.n * sizeof(*r->part));
	r->part = NULL;
}

static struct running *first_running(const struct runs_part *p)
{
	return (struct running *)atomword_load(&p->first);
}

static uint32_t close_part(struct runs_part *p)
{
	uint32_t n = 0;

	lock_acquire(&p->lock);
	p->closed = true;
	for (struct running *run = first_running(p); run; run = run->next)
		n++;
	lock_release(&p->lock);
	return n;
}

TT_PART void runs_close_running(struct runs *r)
{
	for (uint32_t i = 0; r->part && i < r->cpus.n; i++)
		r->running += close_part(&r->part[i]);
}

TT_PART void runs_close_called(struct runs *r)
{
	for (uint32_t i = 0; r->part && i < r->cpus.n; i++)
		r->called += tally_close(&r->part[i].called);
}

/* Under the lock. */
static void link_first(struct runs_part *p, struct running *run)
{
	run->previous = NULL;
	run->next = first_running(p);
	if (run->next)
		run->next->previous = run;
	atomword_store(&p->first, (uintptr_t)run);
}

/* False: the lists are closed, and the run must not begin. */
TT_PART bool runs_begin(struct runs *r, struct running *run)
{
	struct runs_part *p = &r->part[cpu_map_pick(&r->cpus)];
	bool open;

	*run = (struct running){.part = p};
	tool_hide(run, sizeof(*run));
	lock_acquire(&p->lock);
	open = !p->closed;
	if (likely(open))
		link_first(p, run);
	lock_release(&p->lock);
	return open;
}

static void unlink_it(struct runs_part *p, struct running *run)
{
	if (run->next)
		run->next->previous = run->previous;
	if (run->previous)
		run->previous->next = run->next;
	else
		atomword_store(&p->first, (uintptr_t)run->next);
}

/* False: the lists are closed, and it must be counted under the mutex. */
TT_PART bool runs_end(struct running *run)
{
	struct runs_part *p = run->part;
	bool open;

	lock_acquire(&p->lock);
	if (run->timing.ran)
		measure_count(&p->measured, &run->timing);
	unlink_it(p, run);
	open = !p->closed;
	lock_release(&p->lock);
	return open;
}

/* False: the counts are closed, and it must be counted under the mutex. */
static inline bool runs_count_called(struct runs *r)
{
	struct runs_part *part = &r->part[cpu_map_pick(&r->cpus)];

	return likely(tally_add(&part->called, 1));
}

static bool find_in(struct runs_part *p, uintptr_t who, timerthread_id id)
{
	struct running *run;

	lock_acquire(&p->lock);
	run = first_running(p);
	while (run && !inside_is(&run->inside, who, id))
		run = run->next;
	lock_release(&p->lock);
	return run != NULL;
}

/*
 * Is a run of this timer (0: of any) running in this task or thread?  If a list
 * was empty a moment ago, the caller is not on it.
 */
TT_PART bool runs_find(const struct runs *r, uintptr_t who, timerthread_id id)
{
	for (uint32_t i = 0; r->part && i < r->cpus.n; i++) {
		struct runs_part *p = &r->part[i];

		if (atomword_load(&p->first) != 0 && find_in(p, who, id))
			return true;
	}
	return false;
}

/* Did a begin before b? */
static bool is_before(const struct run *a, const struct run *b)
{
	int64_t x = a->since, y = b->since;

	return x != y ? x < y : a->id < b->id;
}

/*
 * A run that may be running: if it comes after *after and before *best, in the
 * order of when runs began, then of their ids, it becomes *best.
 */
TT_PART void runs_next_of(const struct inside *in, const struct run *after,
			  struct run *best)
{
	struct run s;

	if (inside_look(in, &s) && is_before(after, &s) && is_before(&s, best))
		*best = s;
}

static void next_in(struct runs_part *p, const struct run *after,
		    struct run *best)
{
	lock_acquire(&p->lock);
	for (struct running *run = first_running(p); run; run = run->next)
		runs_next_of(&run->inside, after, best);
	lock_release(&p->lock);
}

/* The same for all that are running: so they are found one after the other. */
TT_PART void runs_next(const struct runs *r, const struct run *after,
		       struct run *best)
{
	for (uint32_t i = 0; r->part && i < r->cpus.n; i++)
		next_in(&r->part[i], after, best);
}
