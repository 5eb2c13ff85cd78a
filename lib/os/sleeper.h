/* SPDX-License-Identifier: MIT */
/*
 * How a thread sleeps until a time on some clock, or until it is woken.  Or, if
 * it sleeps in an event loop of the program, the descriptor that this loop
 * polls.
 *
 * Other code of the process may close the descriptor, put another file under
 * its number, or read from it.  When the sleeper finds that, the descriptor is
 * lost: it is reported, and not used any more.
 *
 * Guarantees:
 *  1. A wake that follows a change of *word ends a sleep on the old value, even
 *     if the wake comes before the sleep.  Exception: when the descriptor is
 *     lost, one sleep goes on for up to a second.
 *  2. A sleep may end early for no reason.
 *  3. The descriptor is not 0, 1 or 2, which other code uses without asking
 *     where they come from.
 *  4. No file of other code is read, written or closed.  (For how far, see
 *     sleeper.c.)
 *
 * One thread sleeps; any thread wakes, or sets.
 */
#pragma once

#include "base/atomic.h"
#include "base/base.h"

#include <time.h>

struct sleeper {
	clockid_t clock;
	int fd;            /* -1: it is a futex alone */
	bool polled;       /* an event loop sleeps, not this library */
	atom32 lost;       /* set once, by any thread; relaxed */
	struct bell *bell; /* where there is no timerfd; constant */
};

/* 0, or a negative errno: the kernel refuses, or no descriptor is left. */
INTERNAL int sleeper_open(struct sleeper *s, clockid_t clock, bool polled);

/*
 * A child of fork(2) that has a copy of the descriptor sees no event of it.
 * inherited: the caller is such a child, and the timer goes on for the parent.
 */
INTERNAL void sleeper_close(struct sleeper *s, bool inherited);

/* Sleeps while *word equals expected, until deadline; INT64_MAX: for ever. */
INTERNAL void sleeper_sleep(struct sleeper *s, atom32 *word, uint32_t expected,
			    int64_t deadline);
INTERNAL void sleeper_wake(struct sleeper *s, atom32 *word);

/*
 * If it is polled: fd becomes readable at the time t and is not readable before
 * that.  INT64_MAX: never.
 */
INTERNAL void sleeper_set(struct sleeper *s, int64_t t);
