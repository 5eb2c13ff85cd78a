/* SPDX-License-Identifier: MIT */
/*
 * An instance in an event loop of the test.
 */
#pragma once

#include "called.h"
#include "clocks.h"

#include <poll.h>
#include <pthread.h>
#include <time.h>

#define S INT64_C(1000000000)

/* Nothing takes so long, however busy the machine is. */
#define LATE     (20 * S)
#define GIVEN_UP 60000 /* milliseconds */

static int fd;

static inline void begin_on(clockid_t clock)
{
	setup();
	ck_assert_int_eq(timerthread_set_clock(tt, clock), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
}

static inline void begin(void)
{
	begin_on(CLOCK_MONOTONIC);
}

static inline int dispatch(void)
{
	return timerthread_dispatch(tt);
}

static inline bool readable_within(int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int r;

	do
		r = poll(&p, 1, ms);
	while (r < 0 && errno == EINTR);
	return r == 1;
}

static inline bool readable(void)
{
	return readable_within(0);
}

static inline void wait_readable(void)
{
	ck_assert(readable_within(GIVEN_UP));
}

/*
 * The times that a loop wakes up within so many milliseconds; one that found no
 * CPU until then wakes up late.
 */
static inline int wakeups(int ms)
{
	int64_t last = now() + ms * MS;
	int n = 0;

	while (now() < last || readable()) {
		if (!readable_within(ms / 10 + 1))
			continue;
		n++;
		ck_assert_int_ge(dispatch(), 0);
	}
	return n;
}

/* Who schedules what is earlier than all wakes the loop, to sleep again. */
static inline void lie_down(void)
{
	while (readable())
		ck_assert_int_ge(dispatch(), 0);
}

static inline void sleep_until(int64_t t)
{
	while (now() < t)
		usleep(100);
}

static inline void *dispatch_in_thread(void *arg)
{
	*(int *)arg = dispatch();
	return NULL;
}

/* All of it is due at once, and so waits for the next dispatch. */
static inline void plan_for_the_past(void *arg)
{
	note(arg);
	schedule(0, note, NULL);
	schedule(INT64_MIN, note, NULL);
	schedule(now(), note, NULL);
}
