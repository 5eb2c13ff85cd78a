/* SPDX-License-Identifier: MIT */
/*
 * libtimerthread: timers for multi-threaded programs.
 *
 * Any thread can schedule and cancel timers.  Both calls are meant to cost
 * almost nothing, because most timers guard an operation that ends long before
 * they expire.
 *
 * The driver of an instance runs its timers when they expire.  There are three
 * drivers:
 *
 *  - a thread of the library, called the timer thread (timerthread_start);
 *  - an event loop of the program (timerthread_start_polled,
 *    timerthread_dispatch);
 *  - a test that advances a virtual clock (timerthread_start_virtual,
 *    timerthread_advance).
 *
 * The driver's thread is the thread on which the driver works: the timer
 * thread, or the thread that is in timerthread_dispatch or timerthread_advance.
 *
 * A timer expires when its deadline comes.  To run a timer is to call its
 * callback.  A timer is pending from the call that schedules or arms it until
 * its callback begins, or it is cancelled or disarmed.  A timer that will run
 * again is pending again when its callback has returned.
 *
 * These rules hold for every function:
 *
 *  - Time is a signed 64-bit number of nanoseconds on the instance's clock.
 *    That is CLOCK_MONOTONIC, unless timerthread_set_clock or
 *    timerthread_start_virtual chose another one.  Sums saturate at
 *    TIMERTHREAD_NEVER.
 *  - A deadline that has passed means "as soon as possible"; negative deadlines
 *    are allowed.  Such a deadline counts as the time of the call, and does not
 *    wait for the slack.  So a timer that is scheduled in this way again and
 *    again does not run before other timers that expire meanwhile.  (There are
 *    exceptions: CLOCK_REALTIME, for example, and a virtual clock; see
 *    timerthread-reference(7), DEADLINES.)
 *  - An int function returns 0 or a documented positive value on success, and
 *    a negative errno value on failure.  errno itself is left alone.
 *  - Other results are stored through arguments whose names begin with ret_.
 *    They are written on success only.  A call that fails changes nothing; the
 *    exceptions are in timerthread(7), ERRORS: timerthread_stop_until,
 *    for example, has stopped tt when it gives up.
 *  - Any thread may call any function, and so may callbacks, unless the
 *    function's comment says otherwise.  A signal handler may call none.
 *  - If several errors apply, the first of these is returned: -EINVAL, because
 *    there is no instance; -ECHILD; -EINVAL, because another argument is not
 *    valid; an error about the state of the instance (-EINVAL,
 *    -ESHUTDOWN, -EBUSY); the rest.
 *  - In a child of fork(2), an instance that was started before the fork has no
 *    driver.  (A fork in on_start is one after the start, too.)  There, each
 *    call on it returns -ECHILD immediately.  Exceptions: timerthread_destroy,
 *    which frees it, timerthread_now, and timerthread_get_data.  The child may
 *    use and start an instance that was created but not started before the
 *    fork, if no thread was using it at that moment.  On Linux, from 4.14 on,
 *    the same holds in a child of _Fork(3) or clone(2) that has memory of its
 *    own; but if its parent had several threads, it must not create, start or
 *    destroy an instance, which needs malloc(3) or free(3).
 *
 * "On Linux" tells of a library that uses calls of Linux, "with POSIX alone" of
 * one that does not; see timerthread-system(7), PLATFORMS.
 *
 * timerthread-tutorial(7) is where to begin, timerthread(7) has the rules, and
 * each function has a page in section 3.
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
 * An id names one timer of one instance, from the call that schedules it.  An
 * instance never uses an id again for another timer.  0 names no timer.
 */
typedef uint64_t timerthread_id;

/*
 * The library calls these functions of the program:
 *
 *     function            runs on                        may call
 *
 *     callback            the driver's thread, or the    any function
 *                         thread that calls run(arg)
 *     on_start, on_exit   the timer thread               any function
 *     submit              the driver's thread            any function
 *     slow hook           the callback's thread          any function
 *     match, visit        the caller's thread            any function but
 *                                                        destroy of tt
 *     wake                a thread that is in a call     none on tt
 *                         on tt
 *     task_id             any thread that calls the      none of the library
 *                         library; the timer thread
 *
 * (visit: of timerthread_cancel_matching, timerthread_cancel_all and
 * timerthread_visit_running.)  These rules hold for all of them:
 *
 *  - It must return.  If a C++ exception leaves it, the process ends by
 *    std::terminate where the exception was thrown, as if the function were
 *    noexcept.  (On 32-bit Arm, one that is caught further out is not noticed.)
 *    If its thread exits or is cancelled in it, the process is aborted, with a
 *    message on standard error, if the library notices: always on a timer
 *    thread, elsewhere as timerthread-reference(7) says.  If the library does
 *    not notice, or if longjmp(3) leaves the function, the behavior is
 *    undefined.
 *  - Its thread cannot be cancelled in it, whatever the thread's own setting,
 *    unless the function permits that (pthread_setcancelstate(3)); then it must
 *    forbid it again before it returns.  A
 *    cancellation that is pending takes effect later, at the thread's next
 *    cancellation point after the call of the library has returned.  No call of
 *    the library is a cancellation point.  Exception: after
 *    timerthread_set_task_id, callback, submit and slow hook find a thread of
 *    the program as it is, because they may leave it: do not cancel it there.
 *  - It may change errno, which is as before when the call of the library
 *    returns.
 *  - The library holds no lock meanwhile.
 *  - If it forks, and returns in the child, the call that ran it returns
 *    -ECHILD there at once; run(arg) just returns, and timerthread_destroy
 *    frees tt.  On the timer thread, the child must call _exit(2) or execve(2);
 *    if the function returns there, the thread ends.  task_id must not fork.
 */

/*
 * A timer's callback.  Callbacks run on the driver's thread, one at a time.  On
 * the timer thread all signals are blocked except SIGSEGV, SIGBUS, SIGFPE,
 * SIGILL, SIGTRAP, SIGSYS, SIGABRT and SIGPROF, so that crash reporters and
 * profilers work there.  On a thread of the program, the program chooses which
 * signals are blocked.  With an executor, see timerthread_set_executor.
 */
typedef void timerthread_fn(void *arg);

/*
 * Submits a timer to an executor.  To accept the timer, it returns 0, and the
 * executor calls run(arg) exactly once, on any thread, now or later.  To refuse
 * the timer, it returns a negative value, and run(arg) must not be called.
 */
typedef int timerthread_submit_fn(void *ctx, timerthread_fn *run, void *arg);

/*
 * Returns a value that names the executor's task in which the caller is.  Two
 * tasks that exist at the same time have different values.  0: the caller is in
 * no task, only on its thread.
 */
typedef uintptr_t timerthread_task_id_fn(void *ctx);

/*
 * timerthread_cancel_all and timerthread_cancel_matching call this for each
 * timer that they take back, with the timer's id, function and argument, and
 * with the ctx that was given to them.
 */
typedef void timerthread_visit_fn(timerthread_id id, timerthread_fn *fn,
				  void *arg, void *ctx);

/*
 * Says whether a timer, by its id, function and argument, is one of those that
 * timerthread_cancel_matching looks for: nonzero, it is.  ctx is as it was
 * given.  It may be called for a timer whose callback has begun meanwhile, or
 * whose cancel has just returned 0 on another thread.  So the argument may have
 * been freed: use only its address, unless the program knows that it still
 * exists.
 */
typedef int timerthread_match_fn(timerthread_id id, timerthread_fn *fn,
				 void *arg, void *ctx);

/* Wakes the loop that calls timerthread_dispatch; see timerthread_set_wake. */
typedef void timerthread_wake_fn(void *ctx);

/*
 * Reports a callback that has run for too long (timerthread_set_slow_hook), or
 * is running for too long (timerthread_visit_running): the timer's id, function
 * and argument, the run time in nanoseconds, and ctx as it was given.  The
 * argument belongs to the callback, which may have freed it.  So use only its
 * address, unless the program knows that it still exists.
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
 * release; for 1.2.3 it is 1002003.  timerthread_version returns the version of
 * the library that is running.
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
 * Sets the name of the instance, for metrics and reports, and of its timer
 * thread; ps(1) and debuggers show that, if the library can set it.  It has 1
 * to 15 bytes, on every system, and is copied.  The default is "timerthread".
 * If metrics of several instances are read, give each a name of its own: see
 * timerthread_format_metrics.
 * -EINVAL: tt or name is NULL, or name is too short or too long.  -EBUSY: after
 * start or stop.
 */
int timerthread_set_name(struct timerthread *tt, const char *name);

/*
 * Sets the number of buckets, 1 to 1024.  Calls that schedule use the bucket of
 * their CPU (with POSIX alone: of their thread).  If there are more buckets
 * than CPUs, the last one is for timers that repeat at least once a second.
 * The default is one bucket for each configured CPU, and one more, so that
 * calls on different CPUs mostly use different buckets.  Fewer buckets save
 * some memory on large machines.
 * -EINVAL: tt is NULL or n is out of range.  -EBUSY: after start or stop.
 */
int timerthread_set_buckets(struct timerthread *tt, unsigned n);

/*
 * Sets the clock of the deadlines: CLOCK_MONOTONIC (the default);
 * CLOCK_BOOTTIME, which not every system has, and which goes on while the
 * system is suspended; or CLOCK_REALTIME.  If the wall clock is stepped, timers
 * of a CLOCK_REALTIME instance follow it.  If a step takes the clock past the
 * deadline of a timer, that timer runs immediately.  Any other timer waits
 * until the clock shows its deadline.
 * -EINVAL: tt is NULL or clock is another one.  -EBUSY: after start or stop.
 */
int timerthread_set_clock(struct timerthread *tt, clockid_t clock);

/*
 * Allows timers to run up to ns nanoseconds late, never early.  Then the driver
 * wakes up only once for all timers that expire within that time.  A periodic
 * timer whose period is not longer than ns skips runs again and again.  The
 * default is 0.
 * Even then, if more than one timer has run since a timer thread last slept, it
 * rests for 20 microseconds, as a sleep and a wake-up cost more than several
 * timers do: it does not wake up for timers that it has already taken out of
 * their buckets, so these may run so late.  The slack is included in this, not
 * added.  Other drivers do not rest.
 * -EINVAL: tt is NULL or ns is negative.  -EBUSY: after start or stop.
 */
int timerthread_set_slack(struct timerthread *tt, int64_t ns);

/*
 * Makes the timer thread wake up ns nanoseconds before a deadline and watch the
 * clock from then on.  If the kernel is late by no more than ns, the timer runs
 * within about a microsecond of its deadline; a sleep would end 5 to 100
 * microseconds late.  This uses a CPU for up to ns nanoseconds at each wake-up,
 * but not for timers that were cancelled by then.  The slack is subtracted from
 * ns, and there is no rest.  The default is 0.  Other drivers do not spin.
 * -EINVAL: tt is NULL, or ns is negative or more than 200000.  -EBUSY: after
 * start or stop.
 */
int timerthread_set_spin(struct timerthread *tt, int64_t ns);

/*
 * Sets a cap: how many timers there may be at one time.  A call that would
 * schedule one more fails with -EAGAIN.  A timer counts from the call that
 * schedules it until a cancel of it has returned 0, or timerthread_cancel_all
 * or timerthread_cancel_matching has taken it back, or its callback has
 * returned for the last time.  The cap is exact, however many threads schedule
 * and cancel at the same time.  It adds one atomic operation to each schedule
 * and each cancel, and now and then a lock.
 * 0, the default: no cap.
 * -EINVAL: tt is NULL.  -EBUSY: after start or stop.
 */
int timerthread_set_max_timers(struct timerthread *tt, size_t n);

/*
 * Sets a reserve: start allocates the memory for n timers, and touches it.  As
 * long as no more than n timers have existed at one time, no call on tt
 * allocates memory or fails with -ENOMEM, on any CPU.  If no more than n timers
 * can exist, because the cap is n, no memory is ever allocated after start.
 * There are four exceptions: timerthread_take_snapshot;
 * timerthread_format_metrics of several instances; with
 * timerthread_set_task_id, each run allocates a few bytes, but works without
 * them; and with POSIX alone, the C library may allocate when a thread waits
 * for a lock.  Once there were more than n timers, memory is allocated as
 * without a reserve.
 * The same after n * 2^28 timers in all, as an id never names a second timer; a
 * timer counts once more whenever it is armed, or rescheduled to an earlier
 * time.
 * A timer exists as long as it counts for timerthread_set_max_timers.  But a
 * timer that was submitted to an executor exists until run(arg) has returned,
 * even if it was cancelled before.  So with an executor, n must be greater than
 * the cap, by the number of cancelled timers that the executor may hold.
 * The reserve needs about 220 bytes for each timer, up to 200 KiB for each
 * bucket, and 200 KiB.  On NUMA machines the memory is near the CPU that calls
 * start.
 * 0, the default: no reserve.
 * -EINVAL: tt is NULL, or n is over 2^30.  -EBUSY: after start or stop.
 */
int timerthread_set_reserve(struct timerthread *tt, size_t n);

/*
 * Sets two functions that the timer thread calls: on_start(arg) before the
 * first callback that runs on it, and on_exit(arg) after the last one, before
 * it ends.  Either may be NULL.  Other drivers do not call them.
 * -EINVAL: tt is NULL.  -EBUSY: after start or stop.
 */
int timerthread_set_thread_hooks(struct timerthread *tt,
				 timerthread_fn *on_start,
				 timerthread_fn *on_exit, void *arg);

/*
 * Sets an executor.  Then, for each timer that expires, the driver calls
 * submit(ctx, run, arg) instead of the callback.  The callback runs in
 * run(arg), on the thread that calls run(arg).  The driver submits timers on
 * its thread, one at a time; timers that have expired together are submitted in
 * the order of their deadlines.  As many callbacks may run at the same time as
 * the executor has threads, with the signals blocked that those threads have
 * blocked.  But the callback of one timer never runs twice at the same time.
 * If submit refuses, the callback runs on the driver's thread.  NULL, the
 * default: no executor.
 *
 * A timer stays pending until its callback begins in run(arg).  Until then
 * it can be cancelled and rescheduled like any other.  If it was rescheduled to
 * a time that has not come when run(arg) is called, that call does not run it;
 * the timer is submitted again at that time.  Once stop has returned 0,
 * run(arg) begins no callback.  run(arg) must be called exactly once for each
 * timer that was accepted.  It may be called after destroy (but not in a child
 * of fork(2) that has destroyed tt): the last such call frees the instance.
 * -EINVAL: tt is NULL.  -EBUSY: after start or stop.
 */
int timerthread_set_executor(struct timerthread *tt,
			     timerthread_submit_fn *submit, void *ctx);

/*
 * For an executor whose tasks are not threads: coroutines, fibers and the like,
 * which may block on one thread and continue on another.  task_id(ctx) names
 * the task that calls it.  Then a callback may change its thread, and calls
 * that behave differently in a callback, such as timerthread_stop and
 * timerthread_cancel_wait, recognize it there too.  This also holds for a
 * callback that timerthread_dispatch or timerthread_advance runs in such a
 * task.
 * task_id must not block.  It may be called at any time until tt is destroyed;
 * if a callback does that, until the driver and the other callbacks have ended.
 * timerthread_get_current and timerthread_get_overrun may call it
 * as long as a thread exists on which a callback of tt has begun.
 * NULL, the default: the library recognizes a caller by its thread.  Then a
 * callback must not change its thread.  If one does, these calls may wait for
 * their caller forever, and the first callback that ends on another thread
 * than it began on is reported on standard error.
 * A task that waits in a call of the library, or for a lock, keeps its thread.
 * -EINVAL: tt is NULL.  -EBUSY: after start or stop.
 */
int timerthread_set_task_id(struct timerthread *tt,
			    timerthread_task_id_fn *task_id, void *ctx);

/*
 * Limits the time of timerthread_dispatch: when ns nanoseconds have passed
 * since it began, it begins no other callback, and looks for no other timer,
 * also if no callback has run.  Each call gets on by some steps at least, and
 * recycles cancelled timers by a few more.  What is left is due at once: the
 * descriptor is readable again, or timerthread_get_next_deadline says now.  So
 * the loop can do some of its other work in between.  The next call first runs
 * what was due before the limit was reached, and only then what came later.
 * Other drivers ignore the limit.
 * 0, the default: no limit.
 * -EINVAL: tt is NULL or ns is negative.  -EBUSY: after start or stop.
 */
int timerthread_set_dispatch_time(struct timerthread *tt, int64_t ns);

/*
 * For a loop that cannot watch a descriptor: it sleeps on a condition variable,
 * for example.  If wake is not NULL, timerthread_start_polled makes no
 * descriptor.  Instead wake(ctx) is called when the loop must call
 * timerthread_get_next_deadline again: a timer is due earlier than the loop was
 * told, memory is to be recycled or given back, or tt was stopped.  It is
 * called at the end of the call that made it necessary, or of one that another
 * thread makes meanwhile.  Normally it is called once between two calls of
 * timerthread_get_next_deadline or timerthread_dispatch.  But it counts as
 * called only when it has returned: while a thread is held up in it, others
 * that schedule or stop may call it, too, so that no timer waits for that
 * thread.  So it may run on several threads at the same time; and if a callback
 * destroys tt, until the other callbacks have ended.  Only the loop may call
 * these two: each also cancels a call of wake that has not been made yet.
 * wake must only wake the loop.  It may take locks, but none that a thread
 * holds while it calls a function on tt.
 * -EINVAL: tt is NULL.  -EBUSY: after start or stop.
 */
int timerthread_set_wake(struct timerthread *tt, timerthread_wake_fn *wake,
			 void *ctx);

/*
 * Stores a pointer of the program's in tt, and returns it; the library does not
 * use it.  It is NULL at first.  Any thread, at any time, also before start.
 * -EINVAL: tt is NULL; timerthread_get_data then returns NULL.
 */
int timerthread_set_data(struct timerthread *tt, void *data);
void *timerthread_get_data(const struct timerthread *tt);

/*
 * Starts tt with a timer thread as its driver.  When this has returned, timers
 * can be scheduled.  attr is as for pthread_create(3), NULL for the defaults,
 * and must ask for a joinable thread.  Unless attr says otherwise, the thread
 * inherits the scheduling policy, the priority, the nice value and the CPUs of
 * the caller.  The policy and the priority in attr are ignored unless it also
 * asks for PTHREAD_EXPLICIT_SCHED (pthread_attr_setinheritsched(3)).
 * -EINVAL: tt is NULL, or attr asks for a detached thread (even if tt was
 * started or stopped before), or pthread_create found attr invalid.
 * -EBUSY: started before.  -ESHUTDOWN: stopped before.  -ENOMEM.  -EAGAIN,
 * -EPERM: pthread_create(3) failed with that.  -ENOSYS: the system, or a filter
 * of system calls, refuses what the library needs; on Linux that is futex(2),
 * with 64-bit times.  On Linux, with CLOCK_BOOTTIME, also -EMFILE, -ENFILE: no
 * descriptor is free; -ENOSYS: timerfd_create(2) or fcntl(2) was refused.
 */
int timerthread_start(struct timerthread *tt, const pthread_attr_t *attr);

/*
 * Starts tt with an event loop of the program as its driver.  *ret_fd is a file
 * descriptor that becomes readable when timerthread_dispatch should be called:
 * a timer has expired, or a timer was scheduled that is earlier than all
 * others, or there is other work for the driver, or tt was stopped.  After a
 * stop it stays readable.  Watch it with poll(2), with what a system has in its
 * place, such as epoll(7), level- or edge-triggered, or with anything that is
 * built on them.  It is non-blocking, is closed on execve(2), and is not 0, 1
 * or 2.  It belongs to tt, stays open until tt is destroyed, and must not be
 * read or closed.
 * Timers run, or are submitted, only in timerthread_dispatch.  Scheduling or
 * rescheduling a timer seldom makes a system call: mostly only if the timer
 * becomes the earliest of all, or to allocate memory.
 * After timerthread_set_wake there is no descriptor, and ret_fd must be NULL.
 * -EINVAL: tt is NULL, or ret_fd is NULL without timerthread_set_wake, or not
 * NULL with it.  -EBUSY: started before.  -ESHUTDOWN: stopped before.
 * -ENOMEM.  -EMFILE, -ENFILE: no descriptor is free.
 * -ENOSYS: the system, or a filter of system calls, refuses what the library
 * needs; on Linux that is timerfd_create(2), fcntl(2) or futex(2).  -EAGAIN:
 * with POSIX alone, the thread that watches the time could not be created.
 */
int timerthread_start_polled(struct timerthread *tt, int *ret_fd);

/*
 * Runs the timers that had expired when this was called (all of them, unless
 * timerthread_set_dispatch_time has set a limit), in the order of their
 * deadlines, on the calling thread.  Returns their number (INT_MAX: that many
 * or more).  A timer that is scheduled meanwhile waits for the next call,
 * however early its deadline is, and the descriptor becomes readable for it.
 * So callbacks that schedule more timers cannot keep an event loop from the
 * rest of its work.  Any thread may call this, at any time; after
 * timerthread_set_wake only the loop's.
 * -EINVAL: tt is NULL, was only created, or has another driver.
 * -EBUSY: another thread is in this call, or the caller is a callback of tt.
 * -ESHUTDOWN: tt was stopped.
 */
int timerthread_dispatch(struct timerthread *tt);

/*
 * Starts tt on a virtual clock, with a test as its driver.  The clock shows
 * now; the clock that timerthread_set_clock chose is not used.  Timers run, or
 * are submitted, only in timerthread_advance.
 * -EINVAL: tt is NULL.  -EBUSY: started before.  -ESHUTDOWN: stopped before.
 * -ENOMEM.  -ENOSYS: as timerthread_start.
 */
int timerthread_start_virtual(struct timerthread *tt, int64_t now);

/*
 * Advances the virtual clock by ns nanoseconds, 0 or more, and runs the timers
 * that expire, on the calling thread, in the order of their deadlines.  Returns
 * the number of runs (INT_MAX: that many or more).  While a callback runs, the
 * clock shows the deadline of its timer, or the time that it showed before if
 * that was later.  Timers that callbacks schedule run too, if they expire by
 * the time to which this call advances the clock.  On one thread, without an
 * executor, the same calls always give the same runs.
 * -EINVAL: tt is NULL, was only created, or has another driver, or ns is
 * negative.  -EBUSY: another thread is in this call, or the caller is a
 * callback of tt.  -ESHUTDOWN: tt was stopped.
 */
int timerthread_advance(struct timerthread *tt, int64_t ns);

/*
 * Stops the driver: it runs no more timers, and a timer thread ends.  This call
 * waits for the callbacks that are running.  Timers whose callbacks have not
 * begun by then never run.
 * Returns 0 when no callback is running any more, even if tt was stopped before
 * or was never started.  Returns 1 if it was called from a callback of tt, from
 * the submit function of its executor, or from a thread hook: then the driver
 * stops when that function has returned.  It also returns 1 in a destructor of
 * the timer thread's data (pthread_key_create(3), thread_local).  The caller
 * must not hold a lock that a callback of tt takes.
 * -EINVAL: tt is NULL.  -EPERM: tt is the default instance.
 */
int timerthread_stop(struct timerthread *tt);

/*
 * As timerthread_stop, but does not wait longer than until the deadline, as
 * timerthread_now(tt) counts.  (On a virtual clock: as long in real time as the
 * deadline is away when this is called.)  If tt's clock is set meanwhile, or
 * Linux suspended, this waits on for what was left.  Waited for without a limit
 * are the destructors of the timer thread's data; a start of tt that is going
 * on in another thread, which may take seconds with a large reserve; the
 * function of timerthread_set_wake; and, on a virtual clock, mostly for
 * microseconds, a thread in timerthread_get_next_deadline.
 * -ETIMEDOUT: callbacks are still running, or the timer thread has not ended
 * yet.  tt counts as stopped: on each thread, no callback begins but one that
 * was about to.  This or timerthread_stop may be called again.  Destroy waits
 * for the callbacks.
 */
int timerthread_stop_until(struct timerthread *tt, int64_t deadline);

/*
 * Stops tt, discards its timers and frees it.  If tt is NULL, or the default
 * instance, nothing happens.  This waits for callbacks that are running, which
 * may use tt until they return, for threads that are in timerthread_dispatch or
 * timerthread_advance, and for threads that wait for a callback in
 * timerthread_stop, timerthread_stop_until, timerthread_cancel_wait,
 * timerthread_cancel_wait_until or timerthread_disarm_wait.  No other call on
 * tt may be running, and none may follow.
 * A callback of tt may destroy tt.  Then this returns immediately, and from
 * then on no callback may use tt.  The memory is freed when all callbacks of
 * tt, and the calls that run them, have returned.  No other call on tt may be
 * running, except those of threads that dispatch, advance or wait, as above;
 * the call that scheduled the timer of this callback must have returned.  The
 * same holds in a destructor of the timer thread's data.
 */
void timerthread_destroy(struct timerthread *tt);

/*
 * Stores the default instance, which all parts of the process may share.  The
 * first call creates it and starts it, with default options and a timer thread.
 * It is never stopped.  A child of fork(2) gets a default instance of its own.
 * Whichever thread makes that call, and as far as the system permits, the timer
 * thread has the policy SCHED_OTHER and, on Linux, the CPUs and the nice value
 * of the process's main thread.
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
 * buckets, 2,000 million for each if there are one or two.
 */
int timerthread_schedule(struct timerthread *tt, int64_t deadline,
			 timerthread_fn *fn, void *arg, timerthread_id *ret_id);

/*
 * Schedules a timer that calls fn(arg) delay nanoseconds from now, or as soon
 * as possible if delay is 0 or less.  Same as timerthread_schedule with the
 * deadline timerthread_now(tt) + delay.
 */
int timerthread_schedule_after(struct timerthread *tt, int64_t delay,
			       timerthread_fn *fn, void *arg,
			       timerthread_id *ret_id);

/*
 * Schedules a periodic timer.  It calls fn(arg) at the absolute time `first`,
 * and then every period nanoseconds, until it is cancelled.  Each deadline is
 * the previous one plus the period, however late the callback ran, so the timer
 * does not drift.  If further deadlines have already passed when a run begins,
 * they are skipped (the policy of the Go runtime).
 * Errors as timerthread_schedule, and -EINVAL: period is 0 or negative.
 */
int timerthread_schedule_every(struct timerthread *tt, int64_t first,
			       int64_t period, timerthread_fn *fn, void *arg,
			       timerthread_id *ret_id);

/*
 * Same as timerthread_schedule_every with first = timerthread_now(tt) + delay.
 */
int timerthread_schedule_every_after(struct timerthread *tt, int64_t delay,
				     int64_t period, timerthread_fn *fn,
				     void *arg, timerthread_id *ret_id);

/*
 * Makes a timer that is not armed: it has an id, a function and an argument,
 * but no deadline.  timerthread_reschedule arms it, from any thread, as often
 * as one likes.  After each run, and after timerthread_disarm, it is unarmed
 * again.  It exists until it is cancelled or taken back, and counts for
 * timerthread_set_max_timers until then.  Unarmed, it needs memory, and hardly
 * anything else.
 * Errors as timerthread_schedule, and -EINVAL: ret_id is NULL.
 */
int timerthread_prepare(struct timerthread *tt, timerthread_fn *fn, void *arg,
			timerthread_id *ret_id);

/*
 * Returns a round time from deadline to deadline + slack: the one that can be
 * divided by the largest power of two.  Timers that may be late, and are
 * scheduled for such times, often get the same one, and then expire together,
 * with one wake-up.  That is for single timers, and for the default instance,
 * what timerthread_set_slack is for an instance.  If slack is 0 or less, or
 * deadline is TIMERTHREAD_NEVER, returns deadline.
 */
int64_t timerthread_round(int64_t deadline, int64_t slack);

/*
 * Changes the deadline of a pending timer, or arms one that is not armed.  The
 * timer keeps its id.  If the new deadline is later, the call only stores it.
 * For a periodic timer this changes the next run, even while the callback is
 * running, and the timer continues from there.  The callback of a timer that
 * does not repeat can reschedule its own timer: then the timer runs again.
 * Once such a callback has begun, no other caller can reschedule the timer
 * until the callback has done so.
 * A timer from timerthread_prepare can be rescheduled at any time, by any
 * thread.  If its callback is running, it runs again after that.  If a run is
 * about to begin, 0 does not tell whether that run was moved, or begins now and
 * another one follows.
 * -ENOENT: the timer has ended, or its callback has begun (see above), or it
 * was cancelled while its callback was running, or tt never gave this id.
 * -EINVAL: tt is NULL, or was not started.  -ESHUTDOWN: tt was stopped.
 */
int timerthread_reschedule(struct timerthread *tt, timerthread_id id,
			   int64_t deadline);

/*
 * Same as timerthread_reschedule with the deadline timerthread_now(tt) + delay;
 * delay is in nanoseconds.
 */
int timerthread_reschedule_after(struct timerthread *tt, timerthread_id id,
				 int64_t delay);

/*
 * Takes the next run of a timer back; the timer stays, with its id, to be
 * rescheduled or cancelled.  Returns 0 if it was pending: that run will not
 * happen.
 * Returns 1 if its callback is running now, on another thread or because it is
 * the caller: the timer is not armed after that run.  (A timer that neither is
 * from timerthread_prepare nor repeats ends with that run, unless the callback
 * reschedules it.)  After stop, timers can still be disarmed.
 * -ENOENT: it is unarmed (everything that its callback wrote is visible to
 * the caller), or it has ended, or tt never gave this id.  -EINVAL: tt is NULL.
 */
int timerthread_disarm(struct timerthread *tt, timerthread_id id);

/*
 * As timerthread_disarm.  But if that returns 1, this waits until the callback
 * has returned, and then returns 1.  It waits for no later run, even if others
 * arm the timer again meanwhile.  The caller must not hold a lock that the
 * callback takes.
 * -EDEADLK: called from the callback of that timer; nothing was disarmed.
 */
int timerthread_disarm_wait(struct timerthread *tt, timerthread_id id);

/*
 * Cancels a timer.  Returns 0 if the timer will not run: the library does not
 * call fn any more, and no other cancel of it returns 0.  (The library never
 * reads what arg points to.  A timerthread_cancel_matching that is going on may
 * still give both values to its match function.)  So for a timer that runs
 * once, the caller that gets 0 owns what arg points to; if no caller gets 0,
 * the callback owns it when it runs.  (The callback of a timer that is
 * periodic, from timerthread_prepare, or rescheduled by its own callback does
 * not know which run is its last.  There, the caller that cancels the timer
 * owns it: see timerthread_cancel_wait.)
 * Returns 1 if the callback of the timer is running now, on another thread or
 * because it is the caller; the timer will not run again after that.
 * After stop, timers that are pending or unarmed can still be cancelled.
 * -ENOENT: the timer has run (everything that its callback wrote is visible to
 * the caller), or it was cancelled, or tt never gave this id.
 * -EINVAL: tt is NULL.
 */
int timerthread_cancel(struct timerthread *tt, timerthread_id id);

/*
 * As timerthread_cancel.  If that returns 0, this also stores the timer's
 * argument in *ret_arg.  For callers that know only the id.
 * -EINVAL: tt or ret_arg is NULL.
 */
int timerthread_cancel_take(struct timerthread *tt, timerthread_id id,
			    void **ret_arg);

/*
 * As timerthread_cancel.  But if that returns 1, this waits until the callback
 * has returned, and then returns 1.  So after 0, 1 or -ENOENT the callback is
 * not running and will not run, and everything that it wrote is visible.  The
 * caller must not hold a lock that the callback takes.
 * If only one thread cancels a timer whose callback does not know which run is
 * its last (see timerthread_cancel), that thread owns what arg points to, after
 * 0 and after 1; and after -ENOENT, if the callback never frees it.
 * -EDEADLK: called from the callback of that timer; nothing was cancelled.
 */
int timerthread_cancel_wait(struct timerthread *tt, timerthread_id id);

/*
 * As timerthread_cancel_wait, but does not wait longer than until the deadline,
 * as timerthread_now(tt) counts.  (On a virtual clock: as long in real time as
 * the deadline is away when this is called.)  If tt's clock is set meanwhile,
 * or Linux suspended, this waits on for what was left.
 * -ETIMEDOUT: the timer is cancelled, and its callback is still running; until
 * it has returned, it may use what arg points to.  This, or another function
 * that cancels, may be called again to find out whether it has.
 */
int timerthread_cancel_wait_until(struct timerthread *tt, timerthread_id id,
				  int64_t deadline);

/*
 * Stores the deadline of a pending timer.  If the timer's callback is running,
 * and the timer is periodic or was armed again meanwhile, stores the deadline
 * of the next run.  The value is the deadline that was asked for, even if it
 * had already passed then.
 * -ENOENT: the timer is not pending, and if its callback is running, no next
 * run is set; or tt was not started.  -EINVAL: tt or ret_deadline is NULL.
 */
int timerthread_get_deadline(struct timerthread *tt, timerthread_id id,
			     int64_t *ret_deadline);

/*
 * For a part of a process (a plugin, a tenant, a big session) that ends:
 * cancels each timer for which match returns nonzero, waits for those of them
 * whose callbacks are running, and calls visit for each that will not run, on
 * the calling thread.  Returns how many those are (INT_MAX: that many or more).
 * visit may be NULL.  When this has returned, no callback of a matching timer
 * that was scheduled before the call is running, or will run.  Exception: the
 * callback that makes this call.  A timer that is scheduled meanwhile may be
 * found or not.
 * No other call on tt waits while match or visit runs; at times one waits for
 * some microseconds.  The caller must not hold a lock that a callback of a
 * matching timer takes.
 * If match always returns 0, this shows all timers and takes none.
 * -EINVAL: tt or match is NULL.
 */
int timerthread_cancel_matching(struct timerthread *tt,
				timerthread_match_fn *match,
				timerthread_visit_fn *visit, void *ctx);

/*
 * Takes back all timers that are pending or unarmed: cancels each and calls
 * visit for it, on the calling thread.  Returns their number (INT_MAX: that
 * many or more).
 * A timer that is scheduled meanwhile may be visited or not.  A timer whose
 * callback is running is not taken back; if it repeats, is from
 * timerthread_prepare or is rescheduled by its callback, it goes on.  No other
 * call on tt waits while visit runs; at times one waits for some microseconds.
 * After a stop that returned 0, these are all timers that will never run.
 * -EINVAL: tt or visit is NULL.  -EPERM: tt is the default instance, which
 * other parts of the process share.
 */
int timerthread_cancel_all(struct timerthread *tt, timerthread_visit_fn *visit,
			   void *ctx);

/*
 * Stores the time by which the driver must work next; never a time before now.
 * No pending timer has an earlier deadline, except timers whose deadline has
 * passed and timers that an executor has.  The slack is not added.
 * TIMERTHREAD_NEVER: no timer is pending, or only timers with that deadline.
 * While the driver is working, even in its callbacks, the time is now.
 * On a virtual clock it is the deadline of the first pending timer.  On other
 * clocks it may be too early, for four reasons: it is the deadline of a timer
 * that was cancelled or rescheduled since; it is the time of the driver's own
 * work with memory; it is rounded down, by an eighth at most of the time that
 * was left when the library looked last; or, if there are tens of thousands of
 * timers, it is when the driver looks for the first, by 0.14 seconds.  After
 * the driver has worked at that time, this stores a later one.  After
 * timerthread_set_wake, only the loop's thread may call this.
 * -EINVAL: tt or ret_deadline is NULL, or tt was not started.  -ESHUTDOWN: tt
 * was stopped.
 */
int timerthread_get_next_deadline(struct timerthread *tt,
				  int64_t *ret_deadline);

/*
 * In a callback: stores the instance and the id of the timer that is running.
 * Either pointer may be NULL.  If one callback is called in another, the inner
 * one counts.
 * -ENOENT: the caller is not in a callback, or is in a child of fork(2) that
 * was made in one, or is a task that has changed its thread since the callback
 * began, or for which there was no memory.
 */
int timerthread_get_current(struct timerthread **ret_tt,
			    timerthread_id *ret_id);

/*
 * In a callback: stores how many deadlines of the periodic timer that is
 * running were skipped just before this run, because they had passed when it
 * began (as timer_getoverrun(2) does).  Stores 0 if the timer is not periodic.
 * -EINVAL: ret_n is NULL.  -ENOENT: as timerthread_get_current.
 */
int timerthread_get_overrun(uint64_t *ret_n);

/*
 * Numbers about an instance.  Later releases may add others; a constant never
 * changes its meaning.
 */
enum timerthread_stat {
	/* Timers now: pending; those whose callback is running; cancelled ones
	 * whose memory has not been recycled; those that are not armed. */
	TIMERTHREAD_STAT_PENDING = 0,
	TIMERTHREAD_STAT_RUNNING = 1,
	TIMERTHREAD_STAT_DEAD = 2,
	TIMERTHREAD_STAT_UNARMED = 3,
	/* Timers since the start: scheduled; cancelled, that is, by a call that
	 * returned 0, by timerthread_cancel_all or timerthread_cancel_matching;
	 * of these, the ones taken back by timerthread_cancel_all; and those
	 * whose memory was recycled. */
	TIMERTHREAD_STAT_SCHEDULED = 10,
	TIMERTHREAD_STAT_CANCELLED = 11,
	TIMERTHREAD_STAT_DRAINED = 12,
	TIMERTHREAD_STAT_RECYCLED = 13,
	/* Callbacks that have returned, since the start. */
	TIMERTHREAD_STAT_FIRED = 20,
	/* Calls since the start: that rescheduled a timer; that failed to
	 * schedule one because of timerthread_set_max_timers; that failed
	 * because there was no memory, or no id. */
	TIMERTHREAD_STAT_RESCHEDULED = 21,
	TIMERTHREAD_STAT_CAPPED = 22,
	TIMERTHREAD_STAT_NO_MEMORY = 23,
	/* Sleeps of the driver that have ended, since the start (of a loop: its
	 * dispatches); and of these, the ones that ended because a timer was
	 * scheduled or rescheduled that is earlier than all others. */
	TIMERTHREAD_STAT_WAKEUPS = 30,
	TIMERTHREAD_STAT_EARLY_WAKEUPS = 31,
	/* Timers that there is memory for now; and bytes that the instance has,
	 * in use or free, without the allocator's own overhead and a few
	 * kilobytes for each bucket. */
	TIMERTHREAD_STAT_SLOTS = 40,
	TIMERTHREAD_STAT_BYTES = 41,
	/* Nanoseconds since the start: the run time of all callbacks that have
	 * returned; the longest of them; and how long the driver was awake. */
	TIMERTHREAD_STAT_RUN_TIME = 50,
	TIMERTHREAD_STAT_LONGEST_RUN = 51,
	TIMERTHREAD_STAT_AWAKE_TIME = 52,
	/* The greatest lateness of a callback: nanoseconds from its deadline
	 * to its beginning. */
	TIMERTHREAD_STAT_LARGEST_LATENESS = 53
};

/*
 * Stores one of these numbers.  Before start all are 0.  Any thread may call
 * this at any time, even after stop.  While nothing happens the numbers are
 * exact; otherwise they may belong to slightly different moments.  Those "since
 * the start" never get smaller.
 * A cancel counts nothing.  So for PENDING, RUNNING, DEAD, UNARMED, CANCELLED
 * and RECYCLED this looks at the memory of all timers, which needs some
 * milliseconds for a million, but holds no lock meanwhile.
 * -EINVAL: tt or ret_value is NULL, or there is no such stat.
 */
int timerthread_get_stat(struct timerthread *tt, enum timerthread_stat which,
			 uint64_t *ret_value);

/* The histograms of an instance; they count callbacks that have returned. */
enum timerthread_histogram {
	/* From the deadline to the beginning of the callback. */
	TIMERTHREAD_HISTOGRAM_LATENESS = 0,
	/* From there to its return. */
	TIMERTHREAD_HISTOGRAM_RUN_TIME = 1
};

/* The histograms of an instance as they were at one moment. */
struct timerthread_snapshot;

/*
 * Takes a snapshot.  timerthread_free_snapshot frees it, even after
 * timerthread_destroy.  Any thread may call this at any time, even before start
 * and after stop.
 * -EINVAL: tt or ret_snapshot is NULL.  -ENOMEM.
 */
int timerthread_take_snapshot(struct timerthread *tt,
			      struct timerthread_snapshot **ret_snapshot);

/* Frees a snapshot.  Does nothing if snapshot is NULL. */
void timerthread_free_snapshot(struct timerthread_snapshot *snapshot);

/*
 * Stores a duration in nanoseconds that this part of the callbacks did not
 * exceed.  part is 0.5 for the median, 0.99, or 1 for the longest.  The
 * callbacks are those that were counted between the two snapshots or, if before
 * is NULL, all since the start.  The error is less than 6 % for durations from
 * 64 ns to nine minutes, and at most 4 ns for shorter ones.  Longer ones are
 * stored as nine minutes.
 * -EINVAL: snapshot or ret_value is NULL, there is no such histogram, part is
 * not from 0 to 1, or before is of another instance or later than snapshot.
 * -ENOENT: nothing was counted.
 */
int timerthread_get_quantile(const struct timerthread_snapshot *snapshot,
			     const struct timerthread_snapshot *before,
			     enum timerthread_histogram which, double part,
			     int64_t *ret_value);

/*
 * For a watchdog: calls visit for each callback that has been running for more
 * than threshold nanoseconds, on the caller's thread, the longest one first.
 * The callback may return meanwhile.  Returns the number of these calls.  Any
 * thread may call this, even while a callback hangs: this never waits for one.
 * -EINVAL: tt or visit is NULL, or threshold is negative.
 */
int timerthread_visit_running(struct timerthread *tt, int64_t threshold,
			      timerthread_slow_fn *visit, void *ctx);

/*
 * Sets a function that is called after each callback that ran for more than
 * threshold nanoseconds, on the callback's thread.  The timer is still running
 * then: timerthread_cancel_wait waits for the hook, and calls that the hook
 * makes behave as in the callback.  Once a callback has destroyed tt, no call
 * begins, but on an executor one may just have.  hook NULL, the default: none.
 * -EINVAL: tt is NULL, or threshold is negative.  -EBUSY: after start or stop.
 */
int timerthread_set_slow_hook(struct timerthread *tt, int64_t threshold,
			      timerthread_slow_fn *hook, void *ctx);

/* The formats of metrics. */
enum timerthread_format {
	/* OpenMetrics 1.0.0: TYPE, UNIT and HELP, and "# EOF" at the end. */
	TIMERTHREAD_FORMAT_OPENMETRICS = 0,
	/* The text format of Prometheus, 0.0.4: TYPE and HELP. */
	TIMERTHREAD_FORMAT_PROMETHEUS = 1
};

/*
 * Writes the numbers and histograms of n instances as one text, for Prometheus
 * and others: what is said about a metric once, then its samples of each
 * instance, with the instance's name as the label "name".  Returns the length
 * of the text without the zero byte at its end.  If that is size or more, buf
 * holds as much as fits.  buf may be NULL if size is 0.  16 KiB for each
 * instance are enough in this release.  The text gets longer when its numbers
 * do.  As timerthread_get_stat this looks at each timer that there is memory
 * for.
 * If an instance has the name of one before it, its label has also "/" and its
 * position, from 1 on: "name/2".  If an instance before it ends, that label
 * changes, and a reader takes its numbers for those of another one.
 * If n is 0, instances may be NULL, and there are no metrics.  If n is more
 * than 1, this allocates memory until it returns.
 * -EINVAL: instances is NULL and n is not 0, an instance is NULL, there is no
 * such format, or buf is NULL and size is not 0.  -ECHILD: one of them was
 * started before a fork.  -ENOMEM: n is more than 1.
 */
int timerthread_format_metrics(struct timerthread *const *instances, size_t n,
			       enum timerthread_format format, char *buf,
			       size_t size);

/*
 * Writes a readable report to a file descriptor: options, numbers, what is
 * running now, the buckets, and the nearest deadlines.  The report is for
 * people; its form may change with each release.  Other calls may go on
 * meanwhile; timers are looked at 64 at a time under the lock of their bucket.
 * Do not unload a shared library with a callback of tt meanwhile.  Returns the
 * length of the report.
 * -EINVAL: tt is NULL.  Or what write(2) has failed with, and then a part may
 * have been written.
 */
int timerthread_dump(struct timerthread *tt, int fd);

/*
 * Time.
 */

/*
 * Returns the time on the instance's clock, in nanoseconds, even before start
 * and after stop.  Any thread may call this.  It reports no errors, because any
 * number may be the time: a virtual clock may show a negative one.  If tt is
 * NULL, returns the time on CLOCK_MONOTONIC.  In a child of fork(2) a virtual
 * clock of the parent stands still.
 */
int64_t timerthread_now(const struct timerthread *tt);

/*
 * Converts the members of a struct timespec, which is a time or a timeout, to
 * nanoseconds.  Returns the nearest value that fits.  Both members may be any
 * number, even negative.
 */
int64_t timerthread_from_timespec(int64_t tv_sec, int64_t tv_nsec);

/*
 * Information.
 */

/*
 * Stores the timer thread, for example to set its affinity or scheduling.  The
 * result is valid until tt is stopped.
 * -EINVAL: tt or ret_thread is NULL, or tt was not started, or has no timer
 * thread.  -ESHUTDOWN: tt was stopped.
 */
int timerthread_get_pthread(struct timerthread *tt, pthread_t *ret_thread);

/* Returns the version of the library that is running, for example "1.0.0". */
const char *timerthread_version(void);

#ifdef __cplusplus
}
#endif

#endif
