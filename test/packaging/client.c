/* SPDX-License-Identifier: MIT */
/*
 * A daemon: its timer runs each millisecond until SIGTERM comes.  It prints a
 * dot for each hundred runs, and the version of the library that it has.
 */
#include <signal.h>
#include <stdio.h>
#include <timerthread.h>

static void tick(void *arg)
{
	unsigned *n = arg;

	if (++*n % 100 == 0) {
		putchar('.');
		fflush(stdout);
	}
}

int main(void)
{
	static unsigned n;
	struct timerthread *tt;
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (timerthread_create(&tt) < 0 || timerthread_start(tt, NULL) < 0 ||
	    timerthread_schedule_every(tt, 0, TIMERTHREAD_MSEC, tick, &n,
				       NULL) < 0)
		return 1;
	sigwait(&set, &signal);
	timerthread_destroy(tt);
	puts(timerthread_version());
	return n == 0;
}
