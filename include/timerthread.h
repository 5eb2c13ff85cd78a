/* SPDX-License-Identifier: MIT */
/*
 * libtimerthread: timers for multi-threaded programs.
 *
 * Any thread schedules and cancels timers; one dedicated thread, or the event
 * loop of the program, runs the callbacks of those that expire.  Scheduling
 * and cancelling are meant to cost almost nothing, because most timers guard
 * an operation that finishes long before they expire.
 *
 * Rules that hold for every function here:
 *
 *  - Time is a signed 64-bit count of nanoseconds on the instance's clock,
 *    CLOCK_MONOTONIC unless timerthread_set_clock chose another.  A deadline
 *    in the past, negative ones included, means "as soon as possible".  Sums
 *    saturate at TIMERTHREAD_NEVER.
 *  - An int function returns 0 or a documented positive value on success and
 *    a negative errno value on failure.  errno itself is left alone.
 *  - What a function hands out goes through its ret_ arguments, which are
 *    written on success only.  A call that fails changes nothing.
 *  - Unless said otherwise a function may be called from any thread, from
 *    callbacks included, and never from a signal handler.
 *  - A child of fork(2) has no timer thread.  There, each call on an instance
 *    that was started before the fork returns -ECHILD at once, except
 *    timerthread_destroy, which frees it.  An instance that was created but
 *    not started, and that no thread was using at that moment, may be used and
 *    started in the child.
 *
 * timerthread(7) is the overview; each function has a page in section 3.
 */
#ifndef TIMERTHREAD_H
#define TIMERTHREAD_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One timer thread, or what stands in for it, and its timers. */
struct timerthread;

/*
 * Names one timer of one instance, from its schedule call on; never reused
 * for another timer of that instance.  0 names no timer.
 */
typedef uint64_t timerthread_id;

/*
 * A timer's callback.  Runs on the timer thread, one at a time, with all
 * signals blocked; where another driver than the thread or an executor was
 * chosen, as that says.  It must return normally: leaving it by longjmp(3),
 * pthread_exit(3), thread cancellation or a C++ exception is undefined.
 */
typedef void timerthread_fn(void *arg);

/*
 * An executor: has run(arg) called, once, on any thread, now or later, and
 * returns 0; or returns a negative value and does not call it.
 */
typedef int timerthread_submit_fn(void *ctx, timerthread_fn *run, void *arg);

/*
 * What timerthread_drain hands a timer to: the timer's id, function and
 * argument, and ctx as it was given.
 */
typedef void timerthread_visit_fn(timerthread_id id, timerthread_fn *fn,
				  void *arg, void *ctx);

/* The deadline of a timer that only waits to be cancelled or rescheduled. */
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
 * Sets the clock that deadlines are on: CLOCK_MONOTONIC (the default),
 * CLOCK_BOOTTIME, which goes on while the system is suspended, or
 * CLOCK_REALTIME.  When the wall clock is stepped, timers of a CLOCK_REALTIME
 * instance follow it: what became due runs at once, what moved away waits.
 * -EINVAL: tt is NULL or clock is another one.  -EBUSY: after start or stop.
 */
int timerthread_set_clock(struct timerthread *tt, clockid_t clock);

/*
 * Lets timers fire up to ns nanoseconds late, never early, so that one wake-up
 * of the thread serves all that come due within that time.  The default is 0.
 * -EINVAL: tt is NULL or ns negative.  -EBUSY: after start or stop.
 */
int timerthread_set_slack(struct timerthread *tt, int64_t ns);

/*
 * Sets how many timers there may be at one time; one more gets -EAGAIN.  A
 * timer counts from its schedule call until a cancel of it returned 0 or its
 * last callback returned.  The cap is exact, whatever races there are, and
 * costs a counter that all CPUs share.  0, the default: no cap.
 * -EINVAL: tt is NULL.  -EBUSY: after start or stop.
 */
int timerthread_set_max_timers(struct timerthread *tt, size_t n);

/*
 * Has the timer thread call on_start(arg) before any timer's callback that
 * runs on it, and on_exit(arg) after the last one, before it ends.  Either may
 * be NULL.  The rules for callbacks hold for them too.
 * -EINVAL: tt is NULL.  -EBUSY: after start or stop.
 */
int timerthread_set_thread_hooks(struct timerthread *tt,
				 timerthread_fn *on_start,
				 timerthread_fn *on_exit, void *arg);

/*
 * Has submit(ctx, run, arg) called for each timer that expires, instead of
 * its callback: the callback runs within run(arg), on whatever thread calls
 * that.  Timers are submitted in the order of their deadlines, by the timer
 * thread or what stands in for it, one at a time.  Callbacks then run as many
 * at a time, and with the signals blocked, that the executor's threads have;
 * that of one timer never runs twice at a time.  If submit refuses, or memory
 * is short, the callback runs on the thread that called submit, or would have.
 * NULL, the default: no executor.
 *
 * A timer stays pending until its callback begins within run(arg).  Until then
 * it can be cancelled and moved as any other; if it is moved to a time that has
 * not come when run(arg) is called, it is submitted again then.  After stop,
 * run(arg) begins no callback.  It may be called after destroy: the memory of
 * the instance is freed with the last one that is outstanding, so that none
 * may be left out, nor be called twice.
 * -EINVAL: tt is NULL.  -EBUSY: after start or stop.
 */
int timerthread_set_executor(struct timerthread *tt,
			     timerthread_submit_fn *submit, void *ctx);

/*
 * Starts the timer thread; from its return on, timers can be scheduled.
 * attr is as for pthread_create(3), NULL for the defaults, and must ask for
 * a joinable thread.
 * -EINVAL: tt is NULL, attr asks for a detached thread (at any time in the
 * life of tt), or pthread_create found attr invalid.  -EBUSY: started before.
 * -ESHUTDOWN: stopped before.  -ENOMEM.  -EAGAIN, -EPERM: as
 * pthread_create(3) said.  -ENOSYS: the kernel, or a filter of system calls,
 * refuses futex(2), with 64-bit times, to this process.  With CLOCK_BOOTTIME
 * also -EMFILE, -ENFILE: as timerfd_create(2) said.
 */
int timerthread_start(struct timerthread *tt, const pthread_attr_t *attr);

/*
 * Starts tt without a thread of its own: for an event loop.  *ret_fd is a file
 * descriptor that becomes readable when timerthread_dispatch is to be called;
 * for poll(2), epoll(7), level- or edge-triggered, and whatever is built on
 * them.  It is non-blocking and closed on execve(2), belongs to tt, stays open
 * until tt is destroyed, and must not be read or closed.
 * Nothing runs but in timerthread_dispatch.  Scheduling and moving a timer
 * takes a system call only if that makes it the earliest of all, or once in
 * thousands of times.
 * -EINVAL: tt or ret_fd is NULL.  -EBUSY: started before.  -ESHUTDOWN: stopped
 * before.  -ENOMEM.  -EMFILE, -ENFILE: as timerfd_create(2) said.  -ENOSYS: the
 * kernel, or a filter of system calls, refuses that call or futex(2).
 */
int timerthread_start_polled(struct timerthread *tt, int *ret_fd);

/*
 * Runs what was due when it was called, in the order of deadlines, on the
 * calling thread, and returns how many timers that were (INT_MAX: that many or
 * more).  What is scheduled meanwhile waits for the next call, however early it
 * is due, and the descriptor becomes readable for that: callbacks that schedule
 * more cannot keep an event loop from the rest of its work.  It may be called
 * at any time, from any thread.
 * -EINVAL: tt is NULL, or was started in another way, or not yet.
 * -EBUSY: another thread is in it, or the caller is a callback of tt.
 * -ESHUTDOWN: tt was stopped.
 */
int timerthread_dispatch(struct timerthread *tt);

/*
 * Starts tt without a thread of its own, on a virtual clock that shows now,
 * whatever timerthread_set_clock said: for tests.  Nothing runs but in
 * timerthread_advance.
 * -EINVAL: tt is NULL.  -EBUSY: started before.  -ESHUTDOWN: stopped before.
 * -ENOMEM.  -ENOSYS: as timerthread_start.
 */
int timerthread_start_manual(struct timerthread *tt, int64_t now);

/*
 * Moves the virtual clock ns nanoseconds on, 0 or more, and runs what comes
 * due, on the calling thread, in the order of deadlines; returns how many
 * timers ran (INT_MAX: that many or more).  While a callback runs, the clock
 * shows its deadline, or what it showed before if that was later.  Timers
 * that callbacks schedule run too if they are due by the time that the call
 * moves to.  The same calls give the same runs each time.
 * -EINVAL: tt is NULL, or was started in another way, or not yet, or ns is
 * negative.  -EBUSY: another thread is in it, or the caller is a callback
 * of tt.  -ESHUTDOWN: tt was stopped.
 */
int timerthread_advance(struct timerthread *tt, int64_t ns);

/*
 * Ends the timer thread, or what stands in for it.  Callbacks that are running
 * are waited for; what has not run by then never will.  Returns 0 when no
 * callback runs any more, also if it was stopped before or had never been
 * started; 1 when called from a callback of tt, the functions of an executor
 * and thread hooks included: it takes effect once that has returned.  The
 * caller must not hold a lock that a callback of tt takes.
 * -EINVAL: tt is NULL.  -EPERM: tt is the default instance.
 */
int timerthread_stop(struct timerthread *tt);

/*
 * Stops tt, discards its timers and frees it; NULL is fine, and on the default
 * instance it does nothing.  Threads that are in timerthread_dispatch or
 * timerthread_advance, or wait in timerthread_stop or timerthread_cancel_wait
 * for a callback's end, are waited for.  No other call on tt may be running or
 * follow; where a callback destroys tt, that includes the call that scheduled
 * it.  From a callback of tt, the memory is freed once all its callbacks, and
 * the calls that run them, have returned.
 */
void timerthread_destroy(struct timerthread *tt);

/*
 * The instance that all of the process may share: made and started by the
 * first call, with default options, and never stopped.  A child of fork(2)
 * gets one of its own.
 * -EINVAL: ret_tt is NULL.  Else as timerthread_create and timerthread_start;
 * after a failure the next call tries again.
 */
int timerthread_default(struct timerthread **ret_tt);

/*
 * Timers.
 */

/*
 * Schedules fn(arg) for the absolute time deadline; never runs it earlier.
 * *ret_id, where ret_id is not NULL, is written before fn can run.
 * -EINVAL: tt or fn is NULL, or tt was not started.  -ESHUTDOWN: tt was
 * stopped.  -ENOMEM: no memory for one more timer.  -EAGAIN: there are as many
 * timers as timerthread_set_max_timers allows, or the bucket of the
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
 * Schedules fn(arg) for the absolute time first and then every period
 * nanoseconds, until it is cancelled.  Each deadline is the one before plus the
 * period, however late the callback ran, so that nothing drifts; those that
 * had passed when a run began are skipped (the policy of the Go runtime).
 * Errors as timerthread_schedule, and -EINVAL: period is 0 or negative.
 */
int timerthread_schedule_every(struct timerthread *tt, int64_t first,
			       int64_t period, timerthread_fn *fn, void *arg,
			       timerthread_id *ret_id);

/*
 * Moves a pending timer to another deadline; it keeps its id.  To a later
 * time this only stores the deadline.  A periodic timer has its next run moved,
 * also while its callback is running, and goes on from there.  A timer that
 * does not repeat can be armed again from its own callback, and from nowhere
 * else once that has begun.
 * -ENOENT: the timer is over, or its callback has begun (see above), or it was
 * cancelled while running, or the id was never given.  Once its callback has
 * armed it again it can be moved from everywhere.  -EINVAL: tt is NULL, or
 * was not started.  -ESHUTDOWN: tt was stopped.  -ENOMEM: no memory to move it
 * to an earlier time; it stays where it was.
 */
int timerthread_reschedule(struct timerthread *tt, timerthread_id id,
			   int64_t deadline);

/*
 * Cancels a timer.  Returns 0 when it will not run: the library will not
 * touch its fn and arg again, and no other cancel of it returns 0.  So whoever
 * gets the 0 owns what arg refers to; without one, the callback does.  Returns
 * 1 when its callback is running now, on another thread or as the caller; it
 * will not run again after that.  After stop, what has not run can still be
 * cancelled.
 * -ENOENT: there is no such timer, or no more: it has run (what its callback
 * wrote is visible to the caller), was cancelled, or the id was never given.
 * -EINVAL: tt is NULL.
 */
int timerthread_cancel(struct timerthread *tt, timerthread_id id);

/*
 * As timerthread_cancel, but where that returns 1 this waits until the callback
 * is over, and then returns 1.  So once it has returned 0, 1 or -ENOENT the
 * callback does not run, and what it wrote is visible.  The caller must not
 * hold a lock that the callback takes.
 * -EDEADLK: called from that callback; nothing was cancelled.
 */
int timerthread_cancel_wait(struct timerthread *tt, timerthread_id id);

/*
 * The deadline of a pending timer; of a periodic one that is running, that of
 * its next run.
 * -ENOENT: as timerthread_reschedule.  -EINVAL: tt or ret_deadline is NULL.
 */
int timerthread_get_deadline(struct timerthread *tt, timerthread_id id,
			     int64_t *ret_deadline);

/*
 * After stop: hands every timer that will never run to visit, once, and
 * returns how many there were (INT_MAX: that many or more).  Each counts as
 * cancelled from just before its visit on.
 * -EINVAL: tt or visit is NULL.  -EBUSY: tt was not stopped, or one of its
 * callbacks is running still.
 */
int timerthread_drain(struct timerthread *tt, timerthread_visit_fn *visit,
		      void *ctx);

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
 * -EINVAL: tt or ret_thread is NULL, or tt was not started, or has no thread
 * of its own.  -ESHUTDOWN: tt was stopped.
 */
int timerthread_get_pthread(struct timerthread *tt, pthread_t *ret_thread);

/* The version of the library that is running, for example "1.0.0". */
const char *timerthread_version(void);

#ifdef __cplusplus
}
#endif

#endif
