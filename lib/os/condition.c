/* SPDX-License-Identifier: MIT */
/*
 * POSIX has let a condition variable choose its clock since 2008.  macOS does
 * not, but has a wait that takes a length of time.  It stands still while the
 * machine is suspended, and the clock goes on: so no such wait is long.
 */
#include "config.h"

#include "os/clock.h"
#include "os/condition.h"

int condition_init(pthread_cond_t *c, clockid_t clock)
{
	pthread_condattr_t attr;
	int r = pthread_condattr_init(&attr);

	if (r != 0)
		return r;
#ifdef HAVE_PTHREAD_CONDATTR_SETCLOCK
	r = pthread_condattr_setclock(&attr, clock);
#else
	(void)clock;
#endif
	if (r == 0)
		r = pthread_cond_init(c, &attr);
	pthread_condattr_destroy(&attr);
	return r;
}

int condition_wait(pthread_cond_t *c, pthread_mutex_t *m, int64_t deadline)
{
	struct timespec t;
	int r;

	if (deadline == INT64_MAX)
		return pthread_cond_wait(c, m);
#ifdef HAVE_PTHREAD_CONDATTR_SETCLOCK
	t = clock_timespec(clock_later(deadline, 0));
	r = pthread_cond_timedwait(c, m, &t);
#else
	deadline -= clock_now(CLOCK_MONOTONIC);
	t = clock_timespec(deadline < NS_PER_S ? clock_later(deadline, 0)
					       : NS_PER_S);
	r = pthread_cond_timedwait_relative_np(c, m, &t);
	r = deadline < NS_PER_S ? r : 0;
#endif
	return r;
}
