/* SPDX-License-Identifier: MIT */
/*
 * Callbacks that are left in another way than by returning.
 */
#include "config.h"

#include "child.h"
#include "fixture.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

static int said[2]; /* a pipe: what the child has on standard error */

/* Where the driver is not a timer thread, this must unwind the stack. */
static bool is_noticed(void)
{
#if defined(__GLIBC__) && !defined(__ARM_EABI__)
	return true;
#else
	return driver_tested() == ON_THREAD;
#endif
}

static void run_it(timerthread_fn *fn)
{
	timerthread_schedule(tt, 0, fn, NULL, NULL);
	for (;;)
		pause();
}

static void begin_child(void)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	dup2(said[1], STDERR_FILENO);
	NEED(timerthread_create(&tt) == 0);
}

/* With the driver that is tested, or a callback of an executor. */
static void drive(timerthread_fn *fn)
{
	begin_child();
	NEED(driver_start(tt) == 0);
	run_it(fn);
}

/* Is the process aborted, with a message that has this in it? */
static void expect_abort(void (*body)(void), const char *what)
{
	char message[1000] = "";
	ssize_t n;
	int status;
	pid_t pid;

	ck_assert_int_eq(pipe(said), 0);
	pid = fork_child(body);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	n = read(said[0], message, sizeof(message) - 1);
	ck_assert_int_gt(n, 0);
	ck_assert_msg(strstr(message, what) != NULL, "%s", message);
	ck_assert_msg(WIFSIGNALED(status), "status %d: %s", status, message);
	ck_assert_int_eq(WTERMSIG(status), SIGABRT);
	close(said[0]);
	close(said[1]);
}

static const char did_not_return[] =
	"libtimerthread: a function of the program did not return: its thread "
	"exited or was "
	"cancelled\n";

static void exit_thread(void *arg)
{
	(void)arg;
	pthread_exit(NULL);
}

static void exiting(void)
{
	drive(exit_thread);
}

START_TEST(the_thread_exits)
{
	if (is_noticed())
		expect_abort(exiting, did_not_return);
}
END_TEST

#if defined(__x86_64__) || defined(__aarch64__)
#define CAN_HIDE_CALLER

/* For the unwinder the stack ends here, as in code that has no tables. */
static void exit_hidden_thread(void *arg)
{
#ifdef __x86_64__
	__asm__ volatile(".cfi_undefined rip");
#else
	__asm__ volatile(".cfi_undefined x30");
#endif
	exit_thread(arg);
	keep_order();
}

/* A timer thread knows it all the same. */
static void exiting_hidden(void)
{
	begin_child();
	NEED(timerthread_start(tt, NULL) == 0);
	run_it(exit_hidden_thread);
}

START_TEST(the_thread_exits_and_cannot_be_unwound)
{
	expect_abort(exiting_hidden, did_not_return);
}
END_TEST

#endif

/* The same for a function that any other call runs. */
static void exit_in_visit(timerthread_id id, timerthread_fn *fn, void *arg,
			  void *ctx)
{
	(void)id;
	(void)fn;
	(void)ctx;
	exit_thread(arg);
}

static void exiting_in_visit(void)
{
	begin_child();
	NEED(timerthread_start_virtual(tt, 0) == 0);
	NEED(timerthread_schedule(tt, 1, never, NULL, NULL) == 0);
	timerthread_cancel_all(tt, exit_in_visit, NULL);
}

START_TEST(the_thread_exits_in_a_visit)
{
#if defined(__GLIBC__) && !defined(__ARM_EABI__)
	expect_abort(exiting_in_visit, did_not_return);
#else
	(void)exiting_in_visit;
#endif
}
END_TEST

static void cancel_self(void *arg)
{
	(void)arg;
	/* A timer thread does not permit it unless it is told to. */
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

static void cancelled(void)
{
	drive(cancel_self);
}

START_TEST(the_thread_is_cancelled)
{
	if (is_noticed())
		expect_abort(cancelled, did_not_return);
}
END_TEST

/* With musl, C programs have no unwinder; 32-bit ARM has no such call. */
#if defined(__GLIBC__) && !defined(__ARM_EABI__)
#define HAS_EXCEPTIONS

/*
 * What C++ does; it terminates where this is the answer.  (On 64-bit ARM and on
 * POWER gcc before 14 has the function return anything in the place of an
 * error.)
 */
static void throw_out(void *arg)
{
	static struct _Unwind_Exception e;
	_Unwind_Reason_Code r;

	(void)arg;
	r = _Unwind_RaiseException(&e);
#if defined(__aarch64__) || defined(__powerpc64__)
	r = _URC_FATAL_PHASE1_ERROR;
#endif
	if (r == _URC_FATAL_PHASE1_ERROR)
		say("refused");
	abort();
}

static void throwing(void)
{
	drive(throw_out);
}

START_TEST(an_exception_is_refused)
{
	expect_abort(throwing, "refused");
}
END_TEST

#endif

static void cancel_testing(void *arg)
{
	pthread_cancel(pthread_self());
	pthread_testcancel();
	sem_post(arg);
}

START_TEST(the_timer_thread_cannot_be_cancelled)
{
	setup();
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	timerthread_schedule(tt, 0, cancel_testing, &ran, NULL);
	wait_for(&ran);
	timerthread_schedule(tt, 0, post, &ran, NULL);
	wait_for(&ran);
	timerthread_destroy(tt);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		the_thread_exits,
#ifdef CAN_HIDE_CALLER
		the_thread_exits_and_cannot_be_unwound,
#endif
		the_thread_exits_in_a_visit,
		the_thread_is_cancelled,
#ifdef HAS_EXCEPTIONS
		an_exception_is_refused,
#endif
		the_timer_thread_cannot_be_cancelled,
	};

	return RUN_TESTS("leave", tests);
}
