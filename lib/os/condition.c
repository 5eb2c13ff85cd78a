/* SPDX-License-Identifier: MIT */
/*
 * POSIX has let a condition variable choose its clock since 2008.  macOS does
 * not, but waits for a time that has a length.
 */
#include "config.h"

#include "os/clock.h"
#include "os/condition.h"

#ifdef HAVE_PTHREAD_CONDATTR_SETCLOCK

bool condition_knows(clockid_t clock)
{
	return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME;
}

int condition_init(pthread_cond_t *c, clockid_t clock)
{
	pthread_condattr_t by_clock;
	int r = pthread_condattr_init(&by_clock);

	if (r != 0)
		return r;
	pthread_condattr_setclock(&by_clock, clock);
	r = pthread_cond_init(c, &by_clock);
	pthread_condattr_destroy(&by_clock);
	return r;
}

static int wait_until(pthread_cond_t *c, pthread_mutex_t *m, int64_t deadline)
{
	const struct timespec t = clock_timespec(clock_later(deadline, 0));

	return pthread_cond_timedwait(c, m, &t);
}

#else

bool condition_knows(clockid_t clock)
{
	return clock == CLOCK_MONOTONIC;
}

int condition_init(pthread_cond_t *c, clockid_t clock)
{
	(void)clock;
	return pthread_cond_init(c, NULL);
}

static int wait_until(pthread_cond_t *c, pthread_mutex_t *m, int64_t deadline)
{
	int64_t left = deadline - clock_now(CLOCK_MONOTONIC);
	const struct timespec t = clock_timespec(clock_later(left, 0));

	return pthread_cond_timedwait_relative_np(c, m, &t);
}

#endif

int condition_wait(pthread_cond_t *c, pthread_mutex_t *m, int64_t deadline)
{
	return deadline == INT64_MAX ? pthread_cond_wait(c, m)
				     : wait_until(c, m, deadline);
}
