/* SPDX-License-Identifier: MIT */
/*
 * libtimerthread: timers for multi-threaded programs.
 *
 * Any thread schedules and cancels timers; one dedicated thread runs the
 * callbacks of those that expire.  Scheduling and cancelling are meant to
 * cost almost nothing, because most timers guard an operation that finishes
 * long before they expire.
 *
 * Rules that hold for every function here:
 *
 *  - Time is a signed 64-bit count of nanoseconds on the instance's clock,
 *    CLOCK_MONOTONIC.  A deadline in the past, negative ones included, means
 *    "as soon as possible".  Sums saturate at TIMERTHREAD_NEVER.
 *  - An int function returns 0 or a documented positive value on success and
 *    a negative errno value on failure.  errno itself is left alone.
 *  - What a function hands out goes through its ret_ arguments, which are
 *    written on success only.  A call that fails changes nothing.
 *  - Unless said otherwise a function may be called from any thread, from
 *    callbacks included, and never from a signal handler.
 *  - A child of fork(2) has no timer thread: it must not use instances that
 *    were started before the fork.
 *
 * timerthread(7) is the overview; each function has a page in section 3.
 */
#ifndef TIMERTHREAD_H
#define TIMERTHREAD_H

#include <pthread.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One timer thread and its timers. */
struct timerthread;

/*
 * Names one timer of one instance, from its schedule call on; never reused
 * for another timer of that instance.  0 names no timer.
 */
typedef uint64_t timerthread_id;

/*
 * A timer's callback.  Runs on the timer thread, one at a time, with all
 * signals blocked.  It must return normally: leaving it by longjmp(3),
 * pthread_exit(3), thread cancellation or a C++ exception is undefined.
 */
typedef void timerthread_fn(void *arg);

/* The deadline of a timer that only waits to be cancelled. */
#define TIMERTHREAD_NEVER INT64_C(0x7fffffffffffffff)

/*
 * Life: create, set options, start, stop, destroy.
 */

/*
 * Makes an instance with default options and no thread yet.
 * -EINVAL: ret_tt is NULL.  -ENOMEM.
 */
int timerthread_create(struct timerthread **ret_tt);

/*
 * Names the timer thread, as shown by ps(1) and debuggers: 1 to 15 bytes
 * (Linux keeps no more), copied.  The default is "timerthread".
 * -EINVAL: tt or name is NULL, or name is too short or long.  -EBUSY: after
 * start or stop.
 */
int timerthread_set_name(struct timerthread *tt, const char *name);

/*
 * Sets into how many buckets schedule calls are spread, 1 to 1024.  The
 * default, one a configured CPU, keeps each CPU's calls to itself; fewer
 * save some memory on large machines.
 * -EINVAL: tt is NULL or n out of range.  -EBUSY: after start or stop.
 */
int timerthread_set_buckets(struct timerthread *tt, unsigned n);

/*
 * Starts the timer thread; from its return on, timers can be scheduled.
 * attr is as for pthread_create(3), NULL for the defaults, and must ask for
 * a joinable thread.
 * -EINVAL: tt is NULL, attr asks for a detached thread (at any time in the
 * life of tt), or pthread_create found attr invalid.  -EBUSY: started before.
 * -ESHUTDOWN: stopped before.  -ENOMEM.  -EAGAIN, -EPERM: as
 * pthread_create(3) said.  -ENOSYS, or what a system call filter says: the
 * kernel refuses futex(2), with 64-bit times, to this process.
 */
int timerthread_start(struct timerthread *tt, const pthread_attr_t *attr);

/*
 * Ends the timer thread.  A callback that is running is waited for; what has
 * not run by then never will.  Returns 0 when the thread is over, also if it
 * was over before or had never been started; 1 when called from a callback
 * of tt: the thread then ends once that callback returns.  The caller must
 * not hold a lock that a callback of tt takes.
 * -EINVAL: tt is NULL.
 */
int timerthread_stop(struct timerthread *tt);

/*
 * Stops tt, discards its timers and frees it; NULL is fine.  No other call on
 * tt may be running or follow; where a callback destroys tt, that includes
 * the call that scheduled it.  From a callback of tt, the memory is freed
 * once that callback has returned.
 */
void timerthread_destroy(struct timerthread *tt);

/*
 * Timers.
 */

/*
 * Schedules fn(arg) for the absolute time deadline; never runs it earlier.
 * *ret_id, where ret_id is not NULL, is written before fn can run.
 * -EINVAL: tt or fn is NULL, or tt was not started.  -ESHUTDOWN: tt was
 * stopped.  -ENOMEM: no memory for one more timer.  -EAGAIN: the bucket of the
 * calling CPU holds all the timers that ids can name in it: over 4 million
 * where there are 1024 buckets, 2 thousand million where there are one or two.
 */
int timerthread_schedule(struct timerthread *tt, int64_t deadline,
			 timerthread_fn *fn, void *arg, timerthread_id *ret_id);

/*
 * Schedules fn(arg) for delay nanoseconds from now.  As timerthread_schedule
 * with the deadline timerthread_now(tt) + delay.
 */
int timerthread_schedule_after(struct timerthread *tt, int64_t delay,
			       timerthread_fn *fn, void *arg,
			       timerthread_id *ret_id);

/*
 * Cancels a timer.  Returns 0 when it will not run: the library will not
 * touch its fn and arg again, and no other cancel of it returns 0.  So whoever
 * gets the 0 owns what arg refers to; without one, the callback does.  Returns
 * 1 when its callback is running now, on another thread or as the caller.
 * After stop, what has not run can still be cancelled.
 * -ENOENT: there is no such timer, or no more: it has run (what its callback
 * wrote is visible to the caller), was cancelled, or the id was never given.
 * -EINVAL: tt is NULL.
 */
int timerthread_cancel(struct timerthread *tt, timerthread_id id);

/*
 * The time on the instance's clock, in nanoseconds.  -EINVAL: tt is NULL.
 */
int64_t timerthread_now(const struct timerthread *tt);

/*
 * Looking in.
 */

/*
 * The timer thread, for example to set its affinity or scheduling.  Valid
 * until the thread is stopped.
 * -EINVAL: tt or ret_thread is NULL, or tt was not started.  -ESHUTDOWN: tt
 * was stopped.
 */
int timerthread_get_pthread(struct timerthread *tt, pthread_t *ret_thread);

/* The version of the library that is running, for example "1.0.0". */
const char *timerthread_version(void);

#ifdef __cplusplus
}
#endif

#endif
