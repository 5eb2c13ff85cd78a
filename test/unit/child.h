/* SPDX-License-Identifier: MIT */
/*
 * What tests do in a child of fork(2).  A child cannot assert: it says what
 * was wrong and ends, and its parent sees that.
 */
#pragma once

#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that hangs comes to an end.  Less than TEST_TIMEOUT_S. */
#define CHILD_TIMEOUT_S 600

/*
 * ThreadSanitizer ends a child that starts a thread if the parent had several,
 * unless it is told not to.  And at the end it sleeps for a second.
 */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "die_after_fork=0:atexit_sleep_ms=0";
}

/*
 * LeakSanitizer asks this.  A child that does not end by _exit has lost what
 * pointed to the memory of its parent's threads.
 */
static int ends_by_exit;
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return ends_by_exit;
}

/*
 * The allocators of AddressSanitizer and MemorySanitizer, as compilers of 2024
 * and before have them, do not survive a fork while another thread is in them,
 * nor does all of ThreadSanitizer: with these the other threads must sleep.
 */
extern void __asan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

static inline bool fork_is_delicate(void)
{
	return __asan_init != NULL || __msan_init != NULL ||
	       __tsan_init != NULL;
}

static inline bool sleeps(const char *task)
{
	char path[300], state = 'S';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/stat", task);
	f = fopen(path, "r");
	if (!f)
		return true; /* it is over */
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'R';
	fclose(f);
	return state == 'S';
}

static inline bool others_sleep(void)
{
	const int self = (int)thread_number();
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;
	bool all = true;

	while (d && (e = readdir(d)) != NULL) {
		if (e->d_name[0] != '.' && atoi(e->d_name) != self)
			all = all && sleeps(e->d_name);
	}
	if (d)
		closedir(d);
	return all;
}

/* Before each fork. */
static inline void prepare_fork(void)
{
	while (fork_is_delicate() && !others_sleep())
		sched_yield();
}

/* To standard error, without a lock that the parent's threads may have. */
__attribute__((format(printf, 1, 2))) static inline void say(const char *format,
							     ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n > 0 &&
	    write(STDERR_FILENO, text,
		  (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1) < 0)
		abort();
}

#define NEED(holds) need(holds, __FILE__, __LINE__, #holds)

static inline void need(bool holds, const char *file, int line,
			const char *what)
{
	if (holds)
		return;
	say("%s:%d: in the child: %s\n", file, line, what);
	_exit(EXIT_FAILURE);
}

/* The child of a timer thread's fork begins with all signals blocked. */
static inline void limit_child(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	signal(SIGALRM, SIG_DFL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	alarm(CHILD_TIMEOUT_S);
}

/* Starts a child that does this. */
static inline pid_t fork_child(void (*body)(void))
{
	pid_t pid;

	prepare_fork();
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		limit_child();
		body();
		_exit(EXIT_SUCCESS);
	}
	return pid;
}

static volatile pid_t late_child;

static inline void kill_late_child(int sig)
{
	(void)sig;
	kill(late_child, SIGKILL);
}

/*
 * Waits for the end of a child, its exit status or minus the signal.  One that
 * does not come to an end may block all other signals.
 */
static inline int end_within(pid_t pid, unsigned seconds)
{
	int status, r;

	late_child = pid;
	signal(SIGALRM, kill_late_child);
	alarm(seconds);
	do
		r = waitpid(pid, &status, 0);
	while (r < 0 && errno == EINTR);
	alarm(0);
	ck_assert_int_eq(r, pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static inline int end_of(pid_t pid)
{
	return end_within(pid, CHILD_TIMEOUT_S + 5);
}

static inline void in_child(void (*body)(void))
{
	ck_assert_int_eq(end_of(fork_child(body)), EXIT_SUCCESS);
}
