/* SPDX-License-Identifier: MIT */
/*
 * An instance: the options, the engine, and the state of its life.
 *
 *	NEW -> RUNNING -> STOPPING -> STOPPED, or NEW -> STOPPED
 *
 * These may still use an instance that was stopped:
 *  - a driver that is in a turn;
 *  - callbacks on an executor's threads;
 *  - runs that were submitted to an executor, and that it has not called;
 *  - threads that wait for the end of all this.
 * If a callback destroys the instance, the last one of these frees it.
 */
#pragma once

#include "engine/engine.h"
#include "engine/runs.h"
#include "os/fork.h"
#include "os/thread.h"

#include <errno.h>

enum life {
	LIFE_NEW,
	LIFE_RUNNING,
	LIFE_STOPPING,
	LIFE_STOPPED,
};

/* What makes the engine take its turns. */
enum driver {
	DRIVER_NONE,    /* not started */
	DRIVER_THREAD,  /* a thread of its own */
	DRIVER_POLLED,  /* an event loop of the program */
	DRIVER_VIRTUAL, /* a test with a virtual clock */
};

struct hooks {
	timerthread_fn *on_start; /* NULL: there is none */
	timerthread_fn *on_exit;
	void *arg;
};

struct waking {
	timerthread_wake_fn *fn; /* NULL: a loop has a descriptor */
	void *ctx;
};

struct submitting {
	timerthread_submit_fn *fn; /* NULL: there is no executor */
	void *ctx;
};

/* The place of an instance on the list of all; see instances.c. */
struct instance_link {
	struct timerthread *instance; /* constant once it was added */
	/* Protected by fork_page.lock. */
	uintptr_t next;     /* the next link, negated; 0: this is the last */
	uintptr_t previous; /* the link before, or the head, negated */
	/* Of the list that it is on (see fork.h); 0: on none.  The owner's. */
	uint32_t generation;
};

/* What may be set before start, but for what is set in the engine itself. */
struct options {
	char name[THREAD_NAME_SIZE];
	uint32_t buckets;
	atom32 clock; /* a clockid_t; any thread reads it at any time */
	int64_t spin;
	size_t reserve; /* timers */
	struct hooks hooks;
	struct submitting submitting;
	struct waking waking;
	int64_t dispatch_time;
	bool is_default; /* never stopped; see default.c */
};

struct timerthread {
	/* Its header says which threads may use what of it. */
	struct engine engine;
	int64_t created; /* by CLOCK_MONOTONIC; constant */
	/* The program's; any thread.  Its loads pair with its stores. */
	atomword data;
	/* Constant once engine.started_by is set; under the mutex before. */
	enum driver driver;
	struct options options;
	/* Protected by the mutex. */
	pthread_mutex_t mutex;
	atom32 changes; /* a futex; written when something below has changed */
	enum life life;
	struct counter capped;    /* calls that failed at the cap */
	struct counter no_memory; /* calls that found no memory, or no slots */
	struct counter drained;
	struct counter cancelled; /* the largest number reported; see stats.h */
	struct counter recycled;  /* the same */
	bool turning;     /* the driver is in a turn; a thread: until it ends */
	bool joined;      /* a joiner joins the thread, or has done so */
	unsigned joiners; /* threads that wait for the end of callbacks */
	pthread_t thread;
	/* What protects these is said there. */
	struct runs runs;
	struct instance_link listed;
};

/*
 * The list's head, whose next is the first one.  The name has the library's
 * prefix: programs may have `instances`, too.
 */
INTERNAL struct instance_link timerthread_instances;

/* Does nothing if it is already on this process's list. */
INTERNAL void instances_add(struct instance_link *l, struct timerthread *tt);

/* Does nothing if it is not on this process's list. */
INTERNAL void instances_remove(struct instance_link *l);

/*
 * Was it started by this process?  Acquire: pairs with the store in start_new,
 * so that everything that is constant from then on can be read; and also the
 * generation of this process.
 */
static inline bool instance_lives(const struct timerthread *tt)
{
	uint32_t started_by = atom32_load_acquire(&tt->engine.started_by);

	return likely(started_by == fork_generation());
}

/*
 * Does it live, and may its calls take the short way?  Acquire: as
 * instance_lives.
 */
static inline bool instance_has_short_way(const struct timerthread *tt)
{
	return likely(atom32_load_acquire(&tt->engine.short_way) ==
		      fork_generation());
}

/*
 * Was it started by a parent of this process?  Acquire: as above.  So in the
 * process that starts it the answer is no, however old the value that is read.
 */
static inline bool instance_inherited(const struct timerthread *tt)
{
	uint32_t started_by = atom32_load_acquire(&tt->engine.started_by);

	return unlikely(started_by != FORK_NO_GENERATION &&
			started_by != fork_generation());
}

/*
 * Checks the arguments of a call, in this order: -EINVAL, there is no instance;
 * -ECHILD, it is inherited; -EINVAL, another argument is not valid.  Else 0.
 */
static TT_INLINE int instance_check(const struct timerthread *tt, bool valid)
{
	if (unlikely(!tt))
		return -EINVAL;
	if (instance_inherited(tt))
		return -ECHILD;
	return likely(valid) ? 0 : -EINVAL;
}

/*
 * Why instance_lives was false: -EINVAL, it was never started; -ESHUTDOWN, it
 * was stopped without having been started; -ECHILD, it is inherited.  0: it was
 * just being started, and is started now.
 */
INTERNAL int instance_why_not(struct timerthread *tt);

/* 0 if it was started; else an error, as from instance_why_not. */
static inline int instance_started(struct timerthread *tt)
{
	return instance_lives(tt) ? 0 : instance_why_not(tt);
}

/* The clock that was chosen.  Relaxed: it is only a number. */
static inline clockid_t instance_clock(const struct timerthread *tt)
{
	return (clockid_t)atom32_load(&tt->options.clock);
}

/* As instance_announced, if the program has a function that wakes its loop. */
INTERNAL int instance_wake(struct timerthread *tt, int r);

/*
 * The end of a call that may have announced something to the driver, with the
 * result r.  Calls the program's function if a loop must be woken; no lock is
 * held.  Returns r or, in a child that was made in that function, -ECHILD.
 */
static inline int instance_announced(struct timerthread *tt, int r)
{
	return likely(!tt->engine.wakeup.wake) ? r : instance_wake(tt, r);
}

/* Counts one more of what the mutex protects. */
INTERNAL void instance_count(struct timerthread *tt, struct counter *c);

/* The time, even before start.  Not if it is inherited and virtual. */
static inline int64_t instance_now(const struct timerthread *tt)
{
	return likely(instance_lives(tt)) ? watch_now(tt->engine.wakeup.watch)
					  : clock_now(instance_clock(tt));
}

/*
 * A deadline by the clock of tt, as one by CLOCK_MONOTONIC, for a wait: as both
 * clocks are now.
 */
INTERNAL int64_t instance_steady_time(const struct timerthread *tt,
				      int64_t deadline);

/*
 * Is the caller in a function of the program that tt has called: for this
 * timer, or (id is 0) for any reason?
 */
INTERNAL bool instance_inside(const struct timerthread *tt, timerthread_id id);

/*
 * Is the caller the timer thread of tt, which was started?  After its last turn
 * the destructors of its data may make calls.
 */
INTERNAL bool instance_owns_thread(const struct timerthread *tt);

/* With the mutex held, after a stop.  True: nothing runs, nor will it. */
static inline bool instance_is_quiet(const struct timerthread *tt)
{
	return !tt->turning && tt->runs.running == 0;
}

/*
 * Releases the mutex.  The caller does not use tt after that.  Frees tt if it
 * was destroyed (engine.h) and no other thread will.
 */
INTERNAL void instance_leave(struct timerthread *tt);

/*
 * For start.c, with the mutex held: begins a thread that takes turns once the
 * mutex was released.  0 or a positive errno.
 */
INTERNAL int driver_begin_thread(struct timerthread *tt,
				 const pthread_attr_t *attr);

/* A driver's end: after the last turn of a thread or a call.  Leaves tt. */
INTERNAL void driver_end(struct timerthread *tt);

/*
 * Submits the timer in s, which is handed over, to the executor.  If the
 * executor refuses it, runs it here.  False: a function of the user has
 * returned in a child of fork(2).  The driver.
 */
INTERNAL bool executor_hand_over(struct timerthread *tt, struct slot *s);
