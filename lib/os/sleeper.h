/* SPDX-License-Identifier: MIT */
/*
 * How a thread sleeps until a time on some clock, or until it is woken.
 *
 * On CLOCK_MONOTONIC and CLOCK_REALTIME, it sleeps on a futex with an absolute
 * timeout, which the kernel adjusts when the wall clock is stepped.  A futex
 * does not know CLOCK_BOOTTIME; there, the thread reads from a timerfd.  If the
 * thread sleeps in an event loop of the program, the loop polls a timerfd.
 *
 * Guarantees:
 *  1. A wake that follows a change of *word ends a sleep on the old value, even
 *     if the wake comes before the sleep.
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
	bool polled; /* an event loop sleeps, not this library */
};

bool sleeper_knows(clockid_t clock);

/* 0, or a negative errno: the kernel refuses, or no descriptor is left. */
int sleeper_open(struct sleeper *s, clockid_t clock, bool polled);
void sleeper_close(struct sleeper *s);

/*
 * For a child of fork(2), which may have closed the descriptor and opened
 * another file under its number: closes it only if it is still a timerfd.
 */
void sleeper_close_inherited(struct sleeper *s);

/* Sleeps while *word equals expected, until deadline; INT64_MAX: for ever. */
void sleeper_sleep(struct sleeper *s, atom32 *word, uint32_t expected,
		   int64_t deadline);
void sleeper_wake(struct sleeper *s, atom32 *word);

/*
 * If it is polled: fd becomes readable at the time t and is not readable before
 * that.  INT64_MAX: never.
 */
void sleeper_set(struct sleeper *s, int64_t t);

#endif
