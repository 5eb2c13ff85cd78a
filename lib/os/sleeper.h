/* SPDX-License-Identifier: MIT */
/*
 * How a thread sleeps until a time on some clock, or until it is woken.
 *
 * On CLOCK_MONOTONIC and CLOCK_REALTIME it is a futex with an absolute
 * timeout, which the kernel adjusts when the wall clock is stepped.  A futex
 * knows no CLOCK_BOOTTIME: there it is a read from a timerfd.  Where the thread
 * sleeps in an event loop of the program, it is a timerfd that the loop polls.
 *
 * Guarantees:
 *  1. A wake that follows a change of *word ends a sleep on the value of
 *     before, whichever comes first.
 *  2. A sleep may end early for no reason.
 *
 * One thread sleeps; any thread wakes, or sets.
 */
#ifndef TT_SLEEPER_H
#define TT_SLEEPER_H

#include "os/atomic.h"
#include "os/base.h"

#include <stdbool.h>
#include <time.h>

struct sleeper {
	clockid_t clock;
	int fd;      /* -1: it is a futex */
	bool polled; /* the sleep is not ours */
};

bool sleeper_knows(clockid_t clock);

/* 0, or a negative errno: the kernel refuses, or has no descriptor left. */
int sleeper_open(struct sleeper *s, clockid_t clock, bool polled);
void sleeper_close(struct sleeper *s);

/*
 * In a child of fork(2), which may have closed the descriptor and opened
 * another file there: closes it if it is a timerfd still.
 */
void sleeper_close_inherited(struct sleeper *s);

/* Sleeps while *word is expected, until deadline; INT64_MAX: for ever. */
void sleeper_sleep(struct sleeper *s, atom32 *word, uint32_t expected,
		   int64_t deadline);
void sleeper_wake(struct sleeper *s, atom32 *word);

/*
 * Where it is polled: fd becomes readable at the time t, INT64_MAX: never, and
 * is not before.
 */
void sleeper_set(struct sleeper *s, int64_t t);

#endif
