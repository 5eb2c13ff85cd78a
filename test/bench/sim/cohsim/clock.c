/* SPDX-License-Identifier: MIT */
/*
 * Clocks, and sleeping.
 */
#include "clock.h"
#include "futex.h"
#include "host.h"
#include "sched.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static const ps_t mono0 = 1000LL * 1000000000000;
static const ps_t real0 = 1700000000LL * 1000; /* ms */
static int64_t ns_of(const struct timespec *t)
{
	return t->tv_sec * 1000000000LL + t->tv_nsec;
}

ps_t deadline_of(const struct timespec *ts, clockid_t id)
{
	if (!ts)
		return INF;
	int64_t ns = ns_of(ts) -
		     (id == CLOCK_REALTIME ? real0 * 1000000 : mono0 / 1000);
	return ns < 0 ? 0 : ns > 900000000000000LL ? INF : ns * 1000;
}

ps_t in_ps(const struct timespec *ts)
{
	return !ts ? INF
		   : cc->clk + (ns_of(ts) < 9000000000000LL ? ns_of(ts)
							    : 9000000000000LL) *
				       1000;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	if (!self)
		return raw(SYS_clock_gettime, id, (long)ts, 0, 0, 0, 0);
	int64_t ns;
	sync_();
	charge(id == CLOCK_MONOTONIC_COARSE || id == CLOCK_REALTIME_COARSE
		       ? 5
		       : P_clock);
	if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)
		ns = real0 * 1000000 + cc->clk / 1000;
	else if (id == CLOCK_THREAD_CPUTIME_ID ||
		 id == CLOCK_PROCESS_CPUTIME_ID) {
		account(cc);
		ns = cur->ran / 1000;
	} else
		ns = (mono0 + cc->clk) / 1000;
	ts->tv_sec = ns / 1000000000;
	ts->tv_nsec = ns % 1000000000;
	return 0;
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	(void)tz;
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	tv->tv_sec = t.tv_sec;
	tv->tv_usec = t.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *out)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	if (out)
		*out = t.tv_sec;
	return t.tv_sec;
}

int clock_nanosleep(clockid_t id, int fl, const struct timespec *rq,
		    struct timespec *rm)
{
	(void)rm;
	if (!self)
		return -raw(SYS_clock_nanosleep, id, fl, (long)rq, 0, 0, 0);
	charge(P_syscall);
	sync_();
	sleep_on(0, 0, fl & TIMER_ABSTIME ? deadline_of(rq, id) : in_ps(rq));
	return 0;
}

int nanosleep(const struct timespec *rq, struct timespec *rm)
{
	return clock_nanosleep(CLOCK_MONOTONIC, 0, rq, rm);
}

int usleep(useconds_t us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000L};
	return nanosleep(&t, NULL);
}

unsigned sleep(unsigned s)
{
	struct timespec t = {s, 0};
	nanosleep(&t, NULL);
	return 0;
}
