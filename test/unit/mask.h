/* SPDX-License-Identifier: MIT */
/*
 * The signals that a timer thread blocks, and those that it must not.
 */
#pragma once

#include "systems.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static const int never_blocked[] = {
	SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF,
};

enum { NEVER_BLOCKED = sizeof(never_blocked) / sizeof(never_blocked[0]) };

static inline bool may_be_blocked(int sig)
{
	for (int i = 0; i < NEVER_BLOCKED; i++) {
		if (never_blocked[i] == sig)
			return false;
	}
	/* Those between are the C library's own. */
	return sig != SIGKILL && sig != SIGSTOP &&
	       (sig < 32 || sig >= SIGRTMIN);
}

/* Is that what the calling thread blocks? */
static inline bool mask_is_right(void)
{
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		if (sigismember(&blocked, sig) != may_be_blocked(sig) &&
		    (sig < 32 || sig >= SIGRTMIN))
			return false;
	}
	return true;
}
