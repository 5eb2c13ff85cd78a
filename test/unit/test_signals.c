/* SPDX-License-Identifier: MIT */
/*
 * Signals on the timer thread: faults and profilers get there, others do not.
 */
#include "config.h"

#include "child.h"
#include "fixture.h"
#include "mask.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define S INT64_C(1000000000)

enum { REPORTED = 42 };

static _Atomic(pthread_t) timer_thread;

/* As a crash reporter does, which then ends the process. */
static void report_crash(int sig)
{
	bool here = pthread_equal(pthread_self(), timer_thread);

	_exit(sig == SIGSEGV && here ? REPORTED : EXIT_FAILURE);
}

static void fault(void *page)
{
	timer_thread = pthread_self();
	*(volatile char *)page = 1;
}

static void crash_in_a_callback(void)
{
	struct sigaction act = {.sa_handler = report_crash};
	void *page =
		mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	sigaction(SIGSEGV, &act, NULL);
	NEED(timerthread_create(&tt) == 0);
	NEED(timerthread_start(tt, NULL) == 0);
	timerthread_schedule(tt, 0, fault, page, NULL);
	for (;;)
		pause();
}

START_TEST(a_crash_in_a_callback_is_reported)
{
	pid_t pid = fork_child(crash_in_a_callback);
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), REPORTED);
}
END_TEST

static atomic_int handled[SIGNALS];

static void handle(int sig)
{
	handled[sig] = pthread_equal(pthread_self(), timer_thread) ? 1 : -1;
}

/* raise(3) returns when the handler has, unless the signal is blocked. */
static void raise_all(void *arg)
{
	timer_thread = pthread_self();
	for (int i = 0; i < NEVER_BLOCKED; i++)
		raise(never_blocked[i]);
	raise(SIGTERM);
	raise(SIGUSR1);
	raise(SIGCHLD);
	raise(SIGRTMIN);
	sem_post(arg);
}

START_TEST(handlers_of_faults_alone_run_on_the_thread)
{
	struct sigaction act = {.sa_handler = handle};

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &act, NULL);
	setup();
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	timerthread_schedule(tt, 0, raise_all, &ran, NULL);
	wait_for(&ran);
	for (int i = 0; i < NEVER_BLOCKED; i++)
		ck_assert_int_eq(handled[never_blocked[i]], 1);
	ck_assert_int_eq(handled[SIGTERM], 0);
	ck_assert_int_eq(handled[SIGUSR1], 0);
	ck_assert_int_eq(handled[SIGCHLD], 0);
	ck_assert_int_eq(handled[SIGRTMIN], 0);
	timerthread_destroy(tt);
}
END_TEST

enum { SAMPLES = 10 };

static volatile sig_atomic_t samples;

static void sample(int sig)
{
	(void)sig;
	samples += pthread_equal(pthread_self(), timer_thread);
}

static int64_t thread_cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * S + t.tv_nsec;
}

/* A second of this has some 250 samples. */
static void burn(void *arg)
{
	timer_thread = pthread_self();
	while (samples < SAMPLES && thread_cpu() < 10 * S)
		;
	sem_post(arg);
}

START_TEST(a_profiler_sees_the_thread)
{
	struct sigaction act = {.sa_handler = sample, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, 1000}, {0, 1000}};
	struct itimerval off = {{0, 0}, {0, 0}};

	sigaction(SIGPROF, &act, NULL);
	setup();
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	timerthread_schedule(tt, 0, burn, &ran, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
	wait_for(&ran);
	setitimer(ITIMER_PROF, &off, NULL);
	ck_assert_int_ge(samples, SAMPLES);
	timerthread_destroy(tt);
}
END_TEST

static void count(void *n)
{
	++*(int *)n;
}

static void count_and_post(void *n)
{
	++*(int *)n;
	sem_post(&ran);
}

/* A handler that runs while the thread sleeps ends no sleep for good. */
START_TEST(interrupted_sleeps_go_on)
{
	const clockid_t clock[] = {CLOCK_MONOTONIC, CLOCK_REALTIME,
				   CLOCK_BOOTTIME};
	struct sigaction act = {.sa_handler = handle};
	int n;

	sigaction(SIGPROF, &act, NULL);
	for (unsigned i = 0; i < 3; i++) {
		pthread_t thread;
		int64_t now;

		n = 0;
		setup();
		ck_assert_int_eq(timerthread_set_clock(tt, clock[i]), 0);
		ck_assert_int_eq(timerthread_start(tt, NULL), 0);
		ck_assert_int_eq(timerthread_get_pthread(tt, &thread), 0);
		timer_thread = thread;
		now = timerthread_now(tt);
		timerthread_schedule(tt, now + 60 * S, count, &n, NULL);
		timerthread_schedule(tt, now + S / 50, count_and_post, &n,
				     NULL);
		while (sem_trywait(&ran) != 0) {
			handled[SIGPROF] = 0;
			pthread_kill(timer_thread, SIGPROF);
			while (handled[SIGPROF] == 0)
				sched_yield();
		}
		ck_assert_int_ge(timerthread_now(tt), now + S / 50);
		timerthread_destroy(tt);
		ck_assert_int_eq(n, 1);
	}
}
END_TEST

/* A start leaves the caller's mask as it was, also one that fails. */
START_TEST(the_mask_of_the_caller_stays)
{
	sigset_t before, after;
	pthread_attr_t attr;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	setup();
	pthread_attr_init(&attr);
	/* More than there is room for, if addresses have 64 bits. */
	ck_assert_int_eq(pthread_attr_setstacksize(&attr, SIZE_MAX / 4), 0);
	if (sizeof(size_t) > 4)
		ck_assert_int_lt(timerthread_start(tt, &attr), 0);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int i = 1; i < SIGRTMIN; i++)
		ck_assert_int_eq(sigismember(&after, i),
				 sigismember(&before, i));
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int i = 1; i < SIGRTMIN; i++)
		ck_assert_int_eq(sigismember(&after, i),
				 sigismember(&before, i));
	end();
}
END_TEST

static atomic_bool right;

static void look_at_mask(void *arg)
{
	atomic_store(&right, mask_is_right());
	sem_post(arg);
}

/* Its thread takes over nothing of what its creator blocks, or does not. */
START_TEST(the_mask_of_the_creator_does_not_matter)
{
	sigset_t set, before;

	sigfillset(&set);
	for (int blocks = 0; blocks < 2; blocks++) {
		pthread_sigmask(blocks ? SIG_BLOCK : SIG_UNBLOCK, &set,
				&before);
		atomic_store(&right, false);
		setup();
		ck_assert_int_eq(timerthread_start(tt, NULL), 0);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		timerthread_schedule(tt, 0, look_at_mask, &ran, NULL);
		wait_for(&ran);
		ck_assert(atomic_load(&right));
		timerthread_destroy(tt);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_crash_in_a_callback_is_reported,
		handlers_of_faults_alone_run_on_the_thread,
		a_profiler_sees_the_thread,
		interrupted_sleeps_go_on,
		the_mask_of_the_caller_stays,
		the_mask_of_the_creator_does_not_matter,
	};

	return RUN_TESTS("signals", tests);
}
