/* SPDX-License-Identifier: MIT */
/*
 * libtimerthread: timers for multi-threaded programs.
 *
 * Any thread schedules and cancels timers.  Scheduling and cancelling are meant
 * to cost almost nothing, because most timers guard an operation that finishes
 * long before they expire.
 *
 * The driver of an instance is what runs its timers when they expire.  There
 * are three drivers:
 *
 *  - a thread of its own, called the timer thread (timerthread_start);
 *  - an event loop of the program (timerthread_start_polled,
 *    timerthread_dispatch);
 *  - a test that advances a virtual clock (timerthread_start_virtual,
 *    timerthread_advance).
 *
 * The driver's thread is the thread on which the driver is working: the timer
 * thread, or the thread that is in timerthread_dispatch or timerthread_advance.
 *
 * A timer expires when its deadline comes.  To run a timer is to call its
 * callback.  A timer is pending from the call that schedules it until its
 * callback begins or it is cancelled.  A timer that runs again is pending again
 * when its callback has returned.
 *
 * Rules that hold for every function here:
 *
 *  - Time is a signed 64-bit count of nanoseconds on the instance's clock,
 *    CLOCK_MONOTONIC unless timerthread_set_clock or timerthread_start_virtual
 *    chose another.  A deadline in the past, also a negative one, means "as
 *    soon as possible": it counts as the time of the call, less the slack, so
 *    that a timer which is scheduled so again and again does not run before
 *    others that expire meanwhile.  (Not on CLOCK_REALTIME and on a virtual
 *    clock; see timerthread(7).)  Sums saturate at TIMERTHREAD_NEVER.
 *  - An int function returns 0 or a documented positive value on success and
 *    a negative errno value on failure.  errno itself is left alone.
 *  - Results other than the return value are stored through arguments whose
 *    names begin with ret_.  These are written on success only.  A call that
 *    fails changes nothing.
 *  - Unless said otherwise a function may be called from any thread, also from
 *    callbacks, but never from a signal handler.
 *  - Where several errors apply, this is their order: -EINVAL, there is no
 *    instance; -ECHILD; -EINVAL, another argument is not valid; what the state
 *    of the instance forbids (-EINVAL, -EBUSY, -ESHUTDOWN); the rest.
 *  - In a child of fork(2), an instance that was started before the fork has no
 *    driver.  There, each call on it returns -ECHILD at once, except
 *    timerthread_destroy, which frees it, and timerthread_now.  An instance
 *    that was created but not started before the fork, and that no thread was
 *    using at that moment, may be used and started in the child.
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

/* An instance: timers, and the driver that runs them. */
struct timerthread;

/*
 * An id names one timer of one instance, from the call that schedules it on.
 * It is never used again for another timer of that instance.  0 names no timer.
 */
typedef uint64_t timerthread_id;

/*
 * A timer's callback.  Callbacks run on the driver's thread, one at a time.  On
 * the timer thread all signals are blocked but SIGSEGV, SIGBUS, SIGFPE, SIGILL,
 * SIGTRAP, SIGSYS, SIGABRT and SIGPROF, so that crash reporters and profilers
 * work there; on a thread of the program those that the program has blocked
 * there.  With an executor callbacks run as timerthread_set_executor says.
 *
 * A callback must return.  A C++ exception that it lets out ends the process by
 * std::terminate where it was thrown, as if the callback were noexcept; if its
 * thread exits or is cancelled within it, the process is aborted, with a
 * message on standard error.  If it is left by longjmp(3) the behaviour is
 * undefined.  The timer thread itself cannot be cancelled.  The same holds for
 * the other functions that the library calls, except those of
 * timerthread_drain and timerthread_visit_running.
 */
typedef void timerthread_fn(void *arg);

/*
 * Submits a timer to an executor.  To accept the timer, it returns 0, and the
 * executor calls run(arg) exactly once, on any thread, now or later.  To refuse
 * the timer, it returns a negative value, and run(arg) is not called.
 */
typedef int timerthread_submit_fn(void *ctx, timerthread_fn *run, void *arg);

/*
 * Gives a value that names the task of an executor in which the caller is: two
 * tasks that exist at the same time have different values.  0: it is in none,
 * but simply on its thread.
 */
typedef uintptr_t timerthread_task_id_fn(void *ctx);

/*
 * timerthread_drain calls this for a timer, with the timer's id, function and
 * argument, and with ctx as it was given to timerthread_drain.
 */
typedef void timerthread_visit_fn(timerthread_id id, timerthread_fn *fn,
				  void *arg, void *ctx);

/*
 * Tells of a callback that has run, or that runs, for longer than it should:
 * the timer's id, function and argument, how long that was in nanoseconds, and
 * ctx as it was given.  The argument is the callback's own: unless the program
 * knows better it may be freed by now, and is good for its address alone.
 */
typedef void timerthread_slow_fn(timerthread_id id, timerthread_fn *fn,
				 void *arg, int64_t run_time, void *ctx);

/* The deadline of a timer that only waits to be cancelled or rescheduled. */
#define TIMERTHREAD_NEVER INT64_C(0x7fffffffffffffff)

/* Nanoseconds, to be multiplied: 30 * TIMERTHREAD_SEC. */
#define TIMERTHREAD_USEC INT64_C(1000)
#define TIMERTHREAD_MSEC INT64_C(1000000)
#define TIMERTHREAD_SEC  INT64_C(1000000000)

/*
 * The version of this header, for #if.  TIMERTHREAD_VERSION grows with each
 * release; that of 1.2.3 is 1002003.  See timerthread_version for the library
 * that is running.
 */
#define TIMERTHREAD_VERSION_MAJOR 1
#define TIMERTHREAD_VERSION_MINOR 0
#define TIMERTHREAD_VERSION_PATCH 0
#define TIMERTHREAD_VERSION                                                    \
	(TIMERTHREAD_VERSION_MAJOR * 1000000 +                                 \
	 TIMERTHREAD_VERSION_MINOR * 1000 + TIMERTHREAD_VERSION_PATCH)

/*
 * Life: create, set options, start, stop, destroy.
 */

/*
 * Creates an instance, with default options and no driver yet.
 * -EINVAL: ret_tt is NULL.  -ENOMEM.
 */
int timerthread_create(struct timerthread **ret_tt);

/*
 * Sets the name of the timer thread, which ps(1) and debuggers show.  The name
 * has 1 to 15 bytes (Linux keeps no more) and is copied.  The default is
 * "timerthread".
 * -EINVAL: tt or name is NULL, or name is too short or too long.  -EBUSY: after
 * start or stop.
 */
int timerthread_set_thread_name(struct timerthread *tt, const char *name);

/*
 * Sets over how many buckets the calls that schedule are spread, 1 to 1024.
 * The default is one bucket for each configured CPU, so that calls on different
 * CPUs use different buckets.  Fewer buckets save some memory on large
 * machines.
 * -EINVAL: tt is NULL or n is out of range.  -EBUSY: after start or stop.
 */
int timerthread_set_buckets(struct timerthread *tt, unsigned n);

/*
 * Sets the clock that deadlines are on: CLOCK_MONOTONIC (the default),
 * CLOCK_BOOTTIME, which goes on while the system is suspended, or
 * CLOCK_REALTIME.  When the wall clock is stepped, timers of a CLOCK_REALTIME
 * instance follow it: a timer whose deadline has passed by the step runs at
 * once; any other waits until the clock shows its deadline.
 * -EINVAL: tt is NULL or clock is another one.  -EBUSY: after start or stop.
 */
int timerthread_set_clock(struct timerthread *tt, clockid_t clock);

/*
 * Lets timers run up to ns nanoseconds late, never early, so that the driver
 * wakes up only once for all timers that expire within that time.  The default
 * is 0.  With a slack of two and a half ticks of the kernel (10 ms, at 250
 * ticks a second) or more, timerthread_schedule_after and _reschedule_after
 * read the kernel's coarse clock, which takes a tenth of the time: the deadline
 * is then later, by up to the slack, or eight ticks if they are less.
 * -EINVAL: tt is NULL or ns is negative.  -EBUSY: after start or stop.
 */
int timerthread_set_slack(struct timerthread *tt, int64_t ns);

/*
 * Sets how long the timer thread rests after a burst: where more than one timer
 * has run since it last slept, it does not wake up within the next ns
 * nanoseconds for timers that it has taken out of their buckets, and these run
 * that much late at most.  The slack is part of it, not added.  To sleep and to
 * wake up costs more than several timers do: where half a million expire in a
 * second the default, 20 microseconds, takes a third less of a CPU than 0, with
 * which no timer waits for others.  Other drivers do not rest.
 * -EINVAL: tt is NULL or ns is negative.  -EBUSY: after start or stop.
 */
int timerthread_set_rest(struct timerthread *tt, int64_t ns);

/*
 * Has the timer thread wake up ns nanoseconds before a deadline and watch the
 * clock from there, so that the timer runs within about a microsecond of it: a
 * sleep ends 5 to 100 microseconds late.  That takes a CPU for as long, at each
 * wake-up; but not for timers that were cancelled by then.  The slack is taken
 * off, and there is no rest.  The default is 0.  Other drivers do not spin.
 * -EINVAL: tt is NULL, or ns is negative or more than 200000.  -EBUSY: after
 * start or stop.
 */
int timerthread_set_spin(struct timerthread *tt, int64_t ns);

/*
 * Sets a cap: how many timers there may be at one time.  A call that would
 * schedule one more fails with -EAGAIN.  A timer counts from the call that
 * schedules it until a cancel of it has returned 0, or timerthread_drain has
 * taken it back, or its callback has returned for the last time.  The cap is
 * exact, however many threads schedule and cancel at the same time.  With it
 * each schedule and each cancel costs one more atomic operation.
 * 0, the default: no cap.
 * -EINVAL: tt is NULL.  -EBUSY: after start or stop.
 */
int timerthread_set_max_timers(struct timerthread *tt, size_t n);

/*
 * Sets a reserve: start takes the memory for n timers, and touches it.  As long
 * as no more than n timers have existed at a time, no call on tt takes memory
 * and none fails with -ENOMEM, whichever CPUs it is made on (except
 * timerthread_take_snapshot).  So if no more can exist, with a cap of n, no
 * memory is ever taken after start.  Once there were more, memory is taken as
 * without a reserve.
 * A timer exists as long as it counts for timerthread_set_max_timers.  But one
 * that was submitted to an executor exists until run(arg) has returned, also if
 * it was cancelled before: n must be greater than a cap by so many.
 * This takes about 150 bytes for each timer, 70 KiB for each bucket, and 200
 * KiB; near the CPU that calls start, where that matters.
 * 0, the default: no reserve.
 * -EINVAL: tt is NULL, or n is over 2^30.  -EBUSY: after start or stop.
 */
int timerthread_set_reserve(struct timerthread *tt, size_t n);

/*
 * The timer thread then calls on_start(arg) before the first callback that runs
 * on it, and on_exit(arg) after the last one, before it ends.  Either may be
 * NULL.  The rules for callbacks hold for these functions too.  Other drivers
 * do not call them.
 * -EINVAL: tt is NULL.  -EBUSY: after start or stop.
 */
int timerthread_set_thread_hooks(struct timerthread *tt,
				 timerthread_fn *on_start,
				 timerthread_fn *on_exit, void *arg);

/*
 * Sets an executor.  For each timer that expires, the driver then calls
 * submit(ctx, run, arg) instead of the callback.  The callback runs within
 * run(arg), on the thread that calls run(arg).  Timers are submitted on the
 * driver's thread, one at a time, those that have expired together in the order
 * of their deadlines.  As many callbacks may run at a time as the executor has
 * threads, with the signals blocked that those threads have blocked; but the
 * callback of one timer never runs twice at a time.  If submit refuses, the
 * callback runs on the driver's thread.  NULL, the default: no executor.
 *
 * A timer stays pending until its callback begins within run(arg).  Until then
 * it can be cancelled and rescheduled as any other.  If it was rescheduled to a
 * time that has not come when run(arg) is called, that call does not run it;
 * the timer is submitted again when that time has come.  After stop, run(arg)
 * begins no callback.  run(arg) may be called after destroy: the memory of the
 * instance is freed with the last such call that is outstanding.  So for each
 * timer that was accepted run(arg) must be called, and must not be called
 * twice.
 * -EINVAL: tt is NULL.  -EBUSY: after start or stop.
 */
int timerthread_set_executor(struct timerthread *tt,
			     timerthread_submit_fn *submit, void *ctx);

/*
 * For an executor whose tasks are not threads: coroutines, fibers or the like,
 * which may block in one thread and go on in another.  task_id(ctx) names the
 * task that calls it.  Then a callback may change its thread, and the calls
 * that are special in a callback, as timerthread_stop or
 * timerthread_cancel_wait, know it there too.  This holds as well for a
 * callback that timerthread_dispatch or timerthread_advance runs in such a
 * task.  task_id must not block, must make no call of the library, and may be
 * called on any thread that calls the library, at any time until tt is
 * destroyed; and by timerthread_get_current and timerthread_get_overrun as long
 * as a thread exists on which a callback of tt has begun.
 * NULL, the default: the library knows a caller by its thread.  Then a callback
 * must not change its thread.  If one does, these calls may wait for their
 * caller for ever; and the first callback that ends on another thread than it
 * began on is reported on standard error.
 * A task that waits in a call of the library, or for a lock, keeps its thread.
 * -EINVAL: tt is NULL.  -EBUSY: after start or stop.
 */
int timerthread_set_task_id(struct timerthread *tt,
			    timerthread_task_id_fn *task_id, void *ctx);

/*
 * Starts tt with a timer thread as its driver.  Once this has returned, timers
 * can be scheduled.  attr is as for pthread_create(3), NULL for the defaults,
 * and must ask for a joinable thread.
 * -EINVAL: tt is NULL, attr asks for a detached thread (also where tt was
 * started or stopped before), or pthread_create found attr invalid.
 * -EBUSY: started before.  -ESHUTDOWN: stopped before.  -ENOMEM.  -EAGAIN,
 * -EPERM: pthread_create(3) failed with that.  -ENOSYS: the kernel, or a filter
 * of system calls, refuses futex(2), with 64-bit times, to this process.  With
 * CLOCK_BOOTTIME also -EMFILE, -ENFILE: timerfd_create(2) failed with that;
 * -ENOSYS: it was refused.
 */
int timerthread_start(struct timerthread *tt, const pthread_attr_t *attr);

/*
 * Starts tt with an event loop of the program as its driver.  *ret_fd is a file
 * descriptor that becomes readable when timerthread_dispatch should be called:
 * when a timer has expired, or one was scheduled that is earlier than all, or
 * tt was stopped: then it stays readable.
 * It can be watched with poll(2), with epoll(7), level- or edge-triggered, and
 * with whatever is built on them.  It is non-blocking and is closed on
 * execve(2).  It belongs to tt, stays open until tt is destroyed, and must not
 * be read or closed.
 * Timers are run, or submitted, only in timerthread_dispatch.  To schedule or
 * reschedule a timer takes a system call only if that makes it the earliest of
 * all, or to get memory.
 * -EINVAL: tt or ret_fd is NULL.  -EBUSY: started before.  -ESHUTDOWN: stopped
 * before.  -ENOMEM.  -EMFILE, -ENFILE: timerfd_create(2) failed with that.
 * -ENOSYS: the kernel, or a filter of system calls, refuses timerfd_create(2)
 * or futex(2).
 */
int timerthread_start_polled(struct timerthread *tt, int *ret_fd);

/*
 * Runs the timers that had expired when it was called, in the order of their
 * deadlines, on the calling thread.  Returns how many timers that were
 * (INT_MAX: that many or more).  A timer that is scheduled meanwhile waits for
 * the next call, however early its deadline is, and the descriptor becomes
 * readable for it: so callbacks that schedule more timers cannot keep an event
 * loop from the rest of its work.  This may be called at any time, from any
 * thread.
 * -EINVAL: tt is NULL, was not started, or has another driver.
 * -EBUSY: another thread is in this call, or the caller is a callback of tt.
 * -ESHUTDOWN: tt was stopped.
 */
int timerthread_dispatch(struct timerthread *tt);

/*
 * Starts tt on a virtual clock, with a test as its driver.  The clock shows
 * now, whatever timerthread_set_clock chose.  Timers are run, or submitted,
 * only in timerthread_advance.
 * -EINVAL: tt is NULL.  -EBUSY: started before.  -ESHUTDOWN: stopped before.
 * -ENOMEM.  -ENOSYS: as timerthread_start.
 */
int timerthread_start_virtual(struct timerthread *tt, int64_t now);

/*
 * Advances the virtual clock by ns nanoseconds, 0 or more, and runs the timers
 * that expire, on the calling thread, in the order of their deadlines.  Returns
 * how many timers ran (INT_MAX: that many or more); one that ran several times
 * counts as often.  While a callback runs, the clock shows the deadline of its
 * timer, or what it showed before if that was later.  Timers that callbacks
 * schedule run too if they expire by the time to which this call advances the
 * clock.  The same calls give the same runs each time.
 * -EINVAL: tt is NULL, was not started, or has another driver, or ns is
 * negative.  -EBUSY: another thread is in this call, or the caller is a
 * callback of tt.  -ESHUTDOWN: tt was stopped.
 */
int timerthread_advance(struct timerthread *tt, int64_t ns);

/*
 * Stops the driver: it runs no more timers, and a timer thread ends.  This call
 * waits for the callbacks that are running; timers that have not begun to run
 * by then never will.  Returns 0 when no callback runs any more, also if tt was
 * stopped before or was never started.  Returns 1 when called from a callback
 * of tt, from the submit function of its executor, or from a thread hook: the
 * driver stops once that has returned.  The caller must not hold a lock that a
 * callback of tt takes.
 * -EINVAL: tt is NULL.  -EPERM: tt is the default instance.
 */
int timerthread_stop(struct timerthread *tt);

/*
 * Stops tt, discards its timers and frees it.  If tt is NULL, or the default
 * instance, nothing happens.  This waits for a
 * timerthread_dispatch or timerthread_advance that is at work, and for threads
 * that wait in timerthread_stop or timerthread_cancel_wait for a callback to
 * end.  No other call on tt may be running or follow.  Where a callback of tt
 * destroys tt, that includes the call that scheduled the timer of this
 * callback.  Then this returns at once, and the memory is freed once all
 * callbacks of tt, and the calls that run them, have returned.
 */
void timerthread_destroy(struct timerthread *tt);

/*
 * Gives the default instance, which all of the process may share.  The first
 * call creates it and starts it, with default options and a timer thread.  It
 * is never stopped.  A child of fork(2) gets a default instance of its own.
 * -EINVAL: ret_tt is NULL.  Else as timerthread_create and timerthread_start.
 * After a failure the next call tries again.
 */
int timerthread_default(struct timerthread **ret_tt);

/*
 * Timers.
 */

/*
 * Schedules a timer that calls fn(arg) at the absolute time deadline, or later;
 * never earlier.  If ret_id is not NULL, *ret_id is written before fn can run.
 * -EINVAL: tt or fn is NULL, or tt was not started.  -ESHUTDOWN: tt was
 * stopped.  -ENOMEM: no memory for one more timer, and no room in the bucket of
 * another CPU.  -EAGAIN: the cap of timerthread_set_max_timers is reached, or
 * there are as many timers as ids can name: over 4 million for each of 1024
 * buckets, 2,000 million where there are one or two.
 */
int timerthread_schedule(struct timerthread *tt, int64_t deadline,
			 timerthread_fn *fn, void *arg, timerthread_id *ret_id);

/*
 * Schedules a timer that calls fn(arg) delay nanoseconds from now, 0 or less:
 * as soon as possible.  As timerthread_schedule with the deadline
 * timerthread_now(tt) + delay, or a little later: see timerthread_set_slack.
 */
int timerthread_schedule_after(struct timerthread *tt, int64_t delay,
			       timerthread_fn *fn, void *arg,
			       timerthread_id *ret_id);

/*
 * Schedules a periodic timer: it calls fn(arg) at the absolute time first, and
 * then every period nanoseconds, until it is cancelled.  Each deadline is the
 * one before plus the period, however late the callback ran, so that the timer
 * does not drift.  Deadlines that had passed already when a run began are
 * skipped (the policy of the Go runtime).
 * Errors as timerthread_schedule, and -EINVAL: period is 0 or negative.
 */
int timerthread_schedule_every(struct timerthread *tt, int64_t first,
			       int64_t period, timerthread_fn *fn, void *arg,
			       timerthread_id *ret_id);

/*
 * Gives a pending timer another deadline.  The timer keeps its id.  If the new
 * deadline is a later one, this only stores it.  Of a periodic timer this
 * reschedules the next run, also while its callback is running, and the timer
 * goes on from there.  A timer that does not repeat can be rescheduled by its
 * own callback: then it runs again.  Once that callback has begun, no other
 * caller can reschedule the timer until the callback has done so.
 * -ENOENT: the timer is over, or its callback has begun (see above), or it was
 * cancelled while its callback was running, or the id was never given.
 * -EINVAL: tt is NULL, or was not started.  -ESHUTDOWN: tt was stopped.
 */
int timerthread_reschedule(struct timerthread *tt, timerthread_id id,
			   int64_t deadline);

/*
 * Gives a pending timer the deadline delay nanoseconds from now: as
 * timerthread_reschedule with the deadline timerthread_now(tt) + delay, or a
 * little later: see timerthread_set_slack.
 */
int timerthread_reschedule_after(struct timerthread *tt, timerthread_id id,
				 int64_t delay);

/*
 * Cancels a timer.  Returns 0 when the timer will not run: the library will not
 * touch its fn and arg again, and no other cancel of it returns 0.  So of a
 * timer that runs once, whoever gets 0 owns what arg refers to; if nobody gets
 * 0, the callback owns it.  (The callback of a periodic timer does not know
 * which run is its last.  There whoever cancels the timer owns it: see
 * timerthread_cancel_wait.)
 * Returns 1 when the callback of the timer is running now, on another thread or
 * because it is the caller; the timer will not run again after that.  After
 * stop, timers that have not run can still be cancelled.
 * -ENOENT: there is no such timer, or no more: it has run (what its callback
 * wrote is visible to the caller), it was cancelled, or the id was never given.
 * -EINVAL: tt is NULL.
 */
int timerthread_cancel(struct timerthread *tt, timerthread_id id);

/*
 * As timerthread_cancel; where that returns 0 this also stores the timer's
 * argument in *ret_arg.  For callers that know only the id.
 * -EINVAL: tt or ret_arg is NULL.
 */
int timerthread_cancel_take(struct timerthread *tt, timerthread_id id,
			    void **ret_arg);

/*
 * As timerthread_cancel, but where that returns 1 this waits until the callback
 * has returned, and then returns 1.  So once it has returned 0, 1 or -ENOENT
 * the callback does not run, and what it wrote is visible.  The caller must not
 * hold a lock that the callback takes.
 * Of a periodic timer that one thread alone cancels, this thread owns what arg
 * refers to after 0 and after 1.
 * -EDEADLK: called from the callback of that timer; nothing was cancelled.
 */
int timerthread_cancel_wait(struct timerthread *tt, timerthread_id id);

/*
 * Gives the deadline of a pending timer.  Of a timer whose callback is running,
 * and that is periodic or was rescheduled by this callback, it gives the
 * deadline of the next run.  It gives what the caller scheduled, also if that
 * had passed then.
 * -ENOENT: the timer is not pending, and will not run again after a run that
 * may be going on; or tt was not started.  -EINVAL: tt or ret_deadline is NULL.
 */
int timerthread_get_deadline(struct timerthread *tt, timerthread_id id,
			     int64_t *ret_deadline);

/*
 * Takes back all timers that are pending: cancels each and calls visit for it,
 * on the calling thread.  Returns how many there were (INT_MAX: that many or
 * more).  A timer that is scheduled meanwhile may be visited or not.  A
 * periodic timer whose callback is running is not pending, and goes on.  No
 * other call on tt waits for this one.
 * After a stop that returned 0 these are all timers that will never run.
 * -EINVAL: tt or visit is NULL.  -EPERM: tt is the default instance, whose
 * timers are not the caller's alone.
 */
int timerthread_drain(struct timerthread *tt, timerthread_visit_fn *visit,
		      void *ctx);

/*
 * Gives the time by which the driver must be at work next, which is not before
 * now: no timer that is pending, and not with an executor, has a deadline
 * before it, unless that has passed.  The slack is not in it.
 * TIMERTHREAD_NEVER: there is no such timer, or none but with that deadline.
 * While the driver is at work, also for its callbacks, it is now.
 * On a virtual clock it is the deadline of the first timer that is pending.
 * Elsewhere it may be earlier: the deadline of a timer that was cancelled or
 * rescheduled since, or, where that is more than two seconds away, up to a
 * sixteenth of the time until then too early.  Once the driver has been at work
 * at that time, this gives a later one.
 * -EINVAL: tt or ret_deadline is NULL, or tt was not started.  -ESHUTDOWN: tt
 * was stopped.
 */
int timerthread_get_next_deadline(struct timerthread *tt,
				  int64_t *ret_deadline);

/*
 * In a callback: gives the instance and the id of the timer that is running.
 * Either pointer may be NULL.  Where one callback is called within another, the
 * inner one counts.
 * -ENOENT: the caller is not in a callback, or in a child of fork(2) that was
 * made in one, or is a task that has changed its thread since the callback
 * began.
 */
int timerthread_get_current(struct timerthread **ret_tt,
			    timerthread_id *ret_id);

/*
 * In a callback: gives how many deadlines of the periodic timer that is running
 * were skipped just before this run, for they had passed when it began (as
 * timer_getoverrun(2) does).  0, if it is not periodic.
 * -EINVAL: ret_n is NULL.  -ENOENT: as timerthread_get_current.
 */
int timerthread_get_overrun(uint64_t *ret_n);

/*
 * What an instance has done and has.  Later releases may add others; a number
 * never gets another meaning.
 */
enum timerthread_stat {
	/* Timers now: waiting for their callback; those whose callback is
	 * running; cancelled ones whose memory has not been recycled. */
	TIMERTHREAD_STAT_PENDING = 0,
	TIMERTHREAD_STAT_RUNNING = 1,
	TIMERTHREAD_STAT_DEAD = 2,
	/* Timers since the start: scheduled; cancelled, that is, by a call that
	 * returned 0, or taken back by timerthread_drain; of these the latter;
	 * and those whose memory was recycled. */
	TIMERTHREAD_STAT_SCHEDULED = 10,
	TIMERTHREAD_STAT_CANCELLED = 11,
	TIMERTHREAD_STAT_DRAINED = 12,
	TIMERTHREAD_STAT_RECYCLED = 13,
	/* Callbacks that have returned, since the start. */
	TIMERTHREAD_STAT_FIRED = 20,
	/* Calls since the start: that rescheduled a timer; that scheduled none
	 * because of timerthread_set_max_timers, or because there was no
	 * memory. */
	TIMERTHREAD_STAT_RESCHEDULED = 21,
	TIMERTHREAD_STAT_CAPPED = 22,
	TIMERTHREAD_STAT_NO_MEMORY = 23,
	/* Sleeps of the driver that have ended, since the start; and of these,
	 * because a timer was scheduled that is earlier than all others. */
	TIMERTHREAD_STAT_WAKEUPS = 30,
	TIMERTHREAD_STAT_EARLY_WAKEUPS = 31,
	/* Timers that there is memory for now; and bytes that the instance has
	 * taken, without what the allocator adds, and a few kilobytes for each
	 * bucket. */
	TIMERTHREAD_STAT_SLOTS = 40,
	TIMERTHREAD_STAT_BYTES = 41,
	/* Nanoseconds since the start: callbacks have run, those that have
	 * returned; the longest of them; and the driver was awake. */
	TIMERTHREAD_STAT_RUN_TIME = 50,
	TIMERTHREAD_STAT_LONGEST_RUN = 51,
	TIMERTHREAD_STAT_AWAKE_TIME = 52,
	/* The greatest lateness of a callback: nanoseconds from its deadline
	 * to its beginning. */
	TIMERTHREAD_STAT_LARGEST_LATENESS = 53
};

/*
 * Gives one of these.  Before start all are 0.  Any thread, at any time, also
 * after stop; no other call on tt waits for this one.  While nothing happens
 * the numbers are exact; else they may be of slightly different moments.  Those
 * "since the start" never get smaller.
 * No call counts what it cancels.  So for PENDING, RUNNING, DEAD, CANCELLED and
 * RECYCLED this looks at each timer that there is memory for: some milliseconds
 * for a million.
 * -EINVAL: tt or ret_value is NULL, or there is no such stat.
 */
int timerthread_get_stat(struct timerthread *tt, enum timerthread_stat which,
			 uint64_t *ret_value);

/* What there is a histogram of, of all callbacks that have returned. */
enum timerthread_histogram {
	/* From the deadline to the beginning of the callback. */
	TIMERTHREAD_HISTOGRAM_LATENESS = 0,
	/* From there to its return. */
	TIMERTHREAD_HISTOGRAM_RUN_TIME = 1
};

/* What the histograms of an instance had counted at a moment. */
struct timerthread_snapshot;

/*
 * Takes a snapshot, which timerthread_free_snapshot frees; that may be after
 * timerthread_destroy.  Any thread, at any time, also before start and after
 * stop.
 * -EINVAL: tt or ret_snapshot is NULL.  -ENOMEM.
 */
int timerthread_take_snapshot(struct timerthread *tt,
			      struct timerthread_snapshot **ret_snapshot);

/* Frees a snapshot.  Does nothing if snapshot is NULL. */
void timerthread_free_snapshot(struct timerthread_snapshot *snapshot);

/*
 * Gives a duration in nanoseconds that this part of what was counted is no
 * longer than: 0.5 for the median, 0.99, 1 for the longest.  Counted is what
 * came between the two snapshots, or, if before is NULL, since the start.
 * Durations from 64 ns to nine minutes are given with an error of less than
 * 6 %, shorter ones to 4 ns, longer ones as nine minutes.
 * -EINVAL: snapshot or ret_value is NULL, there is no such histogram, part is
 * not from 0 to 1, or before is of another instance or later than snapshot.
 * -ENOENT: nothing was counted.
 */
int timerthread_get_quantile(const struct timerthread_snapshot *snapshot,
			     const struct timerthread_snapshot *before,
			     enum timerthread_histogram which, double part,
			     int64_t *ret_value);

/*
 * Tells which timer's callback is running now, and since when, on the
 * instance's clock; where an executor runs several, the one that has been
 * running the longest.  ret_id and ret_since may be NULL.  Any thread, also
 * while that callback hangs: no call waits for a callback here.
 * -EINVAL: tt is NULL.  -ENOENT: none is running.
 */
int timerthread_get_running(struct timerthread *tt, timerthread_id *ret_id,
			    int64_t *ret_since);

/*
 * For a watchdog: calls visit for each callback that has been running for more
 * than threshold nanoseconds, on the caller's thread, the longest one first.
 * The callback may return meanwhile.  No lock is held, and visit may call any
 * function but timerthread_destroy.  Returns how many it was called for.
 * -EINVAL: tt or visit is NULL, or threshold is negative.
 */
int timerthread_visit_running(struct timerthread *tt, int64_t threshold,
			      timerthread_slow_fn *visit, void *ctx);

/*
 * Has hook called for each callback that ran for more than threshold
 * nanoseconds, when it has returned, on its thread.  The timer is still
 * running: a cancel waits for the hook, and what the hook calls is as if the
 * callback called it.  hook NULL: none, the default.
 * -EINVAL: tt is NULL, or threshold is negative.  -EBUSY: after start or stop.
 */
int timerthread_set_slow_hook(struct timerthread *tt, int64_t threshold,
			      timerthread_slow_fn *hook, void *ctx);

/*
 * Writes what get_stat and the histograms tell as OpenMetrics text, for
 * Prometheus and others, with HELP, TYPE and UNIT lines, the instance's name as
 * the label "name", and "# EOF" as its last line.  Returns the length of the
 * text, without the zero byte at its end; if that is size or more, buf has as
 * much as fits.  buf may be NULL if size is 0.  16 KiB are enough in
 * this release; the text gets longer with its numbers.  As timerthread_get_stat
 * it looks at each timer that there is memory for.
 * -EINVAL: tt is NULL, or buf is, and size is not 0.
 */
int timerthread_format_metrics(struct timerthread *tt, char *buf, size_t size);

/*
 * Writes a readable report to a file descriptor: options, numbers, what runs
 * now, the buckets, and the nearest deadlines.  For people; its form may change
 * with each release.  Safe while everything else goes on; timers are looked at
 * 64 at a time under the lock of their bucket.  No shared library with a
 * callback of tt may be unloaded meanwhile.  Returns its length.
 * -EINVAL: tt is NULL.  Or what write(2) has failed with, and then a part may
 * have been written.
 */
int timerthread_dump(struct timerthread *tt, int fd);

/*
 * Time.
 */

/*
 * The time on the instance's clock, in nanoseconds; before start and after
 * stop, too, and from any thread.  Any number may be the time, for a virtual
 * clock may show a negative one; so this reports no errors.  If tt is NULL it
 * is the time on CLOCK_MONOTONIC.  In a child of fork(2) a virtual clock of the
 * parent stands still.
 */
int64_t timerthread_now(const struct timerthread *tt);

/*
 * The members of a struct timespec as a time or a time span in nanoseconds, or
 * the nearest that there is.  Both may be any number, also negative.
 */
int64_t timerthread_from_timespec(int64_t tv_sec, int64_t tv_nsec);

/*
 * Information.
 */

/*
 * Gives the timer thread, for example to set its affinity or scheduling.  The
 * result is valid until tt is stopped.
 * -EINVAL: tt or ret_thread is NULL, or tt was not started, or has no timer
 * thread.  -ESHUTDOWN: tt was stopped.
 */
int timerthread_get_pthread(struct timerthread *tt, pthread_t *ret_thread);

/* The version of the library that is running, for example "1.0.0". */
const char *timerthread_version(void);

#ifdef __cplusplus
}
#endif

#endif
