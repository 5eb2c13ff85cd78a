/* SPDX-License-Identifier: MIT */
/*
 * A timer facility as the workloads see it.  Each adapter, a file named after
 * its facility, defines what is declared here, and is linked with the
 * workloads into a program of its own.
 *
 *  1. A workload owns the memory of its timers, peer.timer_size bytes each,
 *     zero at first, aligned for any type.  An adapter keeps there what a user
 *     of the facility would keep in a request: an id, or the whole timer.
 *  2. A timer is scheduled, and from then on pending until its callback begins
 *     or peer_cancel returns.  It may be scheduled again, by any thread, once
 *     peer_cancel has returned (whatever it said), and in its callback.
 *  3. Any thread between peer_enter and peer_leave calls, callbacks too.  No
 *     two threads call for the same timer at a time.
 *  4. An adapter does what a good user of the facility would do, and is as
 *     fast as the facility's design allows: nothing is slow on purpose.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void peer_fn(void *arg);

struct peer_info {
	const char *name;  /* of the program: "libevent-common" */
	const char *clock; /* that deadlines are on: "monotonic" */
	/* Nanoseconds that a delay is rounded to; 1: it is not. */
	int64_t resolution;
	size_t timer_size; /* bytes in a workload's timer */
	/* Pending at a time, and where that is known at run time only. */
	size_t timers_most; /* 0: no limit */
	const size_t *timers_limit;
	bool cancel_tells;   /* peer_cancel knows whether the callback ran */
	bool callbacks_wait; /* the callbacks of one instance never overlap */
	const char *notes;   /* what it lacks, or does not promise */
};

extern const struct peer_info peer;

/* What a workload is going to do, for facilities that want to know. */
struct peer_setup {
	int threads;     /* that call, at most */
	size_t timers;   /* pending at a time, at most */
	int64_t timeout; /* in nanoseconds, if nearly all have the same; or 0 */
};

/* The version of the facility, as it says itself. */
const char *peer_version(void);

/* One instance, with its thread if it has one.  What fails ends the program. */
void peer_start(const struct peer_setup *setup);

/* Without a callback from then on.  What is pending is dropped. */
void peer_stop(void);

/* Around the calls of each thread. */
void peer_enter(void);
void peer_leave(void);

/*
 * fn(arg) is to run delay nanoseconds after now, which the caller has just read
 * from CLOCK_MONOTONIC: once a turn of the loop, so that it costs each the
 * same, also those that take a delay and read a clock themselves.
 * 0, or a negative errno if there is no room for one more.
 */
int peer_schedule(void *timer, int64_t now, int64_t delay, peer_fn *fn,
		  void *arg);

/*
 * 1: it will not run.  0: it has begun to run, and from another thread than the
 * callback's, it is over.  Where !peer.cancel_tells always 1.
 */
int peer_cancel(void *timer);

/*
 * Moves a pending timer, by the facility's own call where it has one, else by
 * peer_cancel and peer_schedule.  0; 1 if it was not pending any more.
 */
int peer_reschedule(void *timer, int64_t now, int64_t delay);

/*
 * A timer that is made once, and then armed and disarmed.  arm returns as
 * peer_schedule does, and disarm as peer_cancel.  An adapter of a facility that
 * has no such timers leaves these out; arm and disarm are then those two.
 */
void peer_add(void *timer, peer_fn *fn, void *arg);
int peer_arm(void *timer, int64_t now, int64_t delay, peer_fn *fn, void *arg);
int peer_disarm(void *timer);
void peer_remove(void *timer);

/* For adapters. */
__attribute__((noreturn)) void peer_die(const char *what, int error);

#ifdef __cplusplus
}
#endif
