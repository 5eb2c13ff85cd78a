/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/thread.h"

#include <signal.h>
#include <sys/prctl.h>

static void block_all_signals(sigset_t *ret_old)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, ret_old);
}

/* A thread inherits its creator's mask: no moment without it. */
int thread_create(pthread_t *ret_thread, const pthread_attr_t *attr,
		  void *(*run)(void *arg), void *arg)
{
	sigset_t old;
	int r;

	block_all_signals(&old);
	r = pthread_create(ret_thread, attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}

/*
 * By default the kernel may end a sleep 50 us late to save wake-ups, which
 * here would be the larger part of a timer's lateness.
 */
static void set_timer_slack(void)
{
	prctl(PR_SET_TIMERSLACK, 1UL);
}

void thread_prepare(const char *name)
{
	/* The attributes may have asked for another mask. */
	block_all_signals(NULL);
	pthread_setname_np(pthread_self(), name);
	set_timer_slack();
}
