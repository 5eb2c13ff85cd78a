/* SPDX-License-Identifier: MIT */
#include "os/thread.h"
#include "os/system.h"

#include <signal.h>

/*
 * If the signal of a fault is blocked, the fault kills the process, and the
 * handler that would report it is not called.  If a profiler's signal is
 * blocked, the profiler sees nothing of the thread.
 */
static const int never_blocked[] = {
	SIGSEGV, SIGBUS, SIGFPE,  SIGILL, /* faults */
	SIGTRAP, SIGSYS, SIGABRT,         /* debuggers, sandboxes, abort() */
	SIGPROF,                          /* profilers */
};

static void block_signals(sigset_t *ret_old)
{
	const size_t n = sizeof(never_blocked) / sizeof(never_blocked[0]);
	sigset_t set;

	sigfillset(&set);
	for (size_t i = 0; i < n; i++)
		sigdelset(&set, never_blocked[i]);
	pthread_sigmask(SIG_SETMASK, &set, ret_old);
}

/* A thread inherits its creator's mask, so it has the mask from the start. */
int thread_create(pthread_t *ret_thread, const pthread_attr_t *attr,
		  void *(*run)(void *arg), void *arg)
{
	sigset_t old;
	int r;

	block_signals(&old);
	r = pthread_create(ret_thread, attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}

/* Whom the calling thread serves; NULL: it is not the library's. */
static TT_THREAD_LOCAL const void *served;

TT_NOINLINE bool thread_serves(const void *owner)
{
	return served == owner;
}

void thread_prepare(const char *name, const void *owner)
{
	served = owner;
	/* The thread's attributes may have set another mask. */
	block_signals(NULL);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	system_name_thread(name);
}
