/* SPDX-License-Identifier: MIT */
#include "os/clock.h"

TT_NOINLINE int64_t clock_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return POINT_CLOCK((int64_t)t.tv_sec * NS_PER_S + t.tv_nsec);
}

/* Some systems lack the last one; on FreeBSD it is the first one. */
const char *clock_name(clockid_t clock)
{
	if (clock == CLOCK_MONOTONIC)
		return "monotonic";
	if (clock == CLOCK_REALTIME)
		return "realtime";
#ifdef CLOCK_BOOTTIME
	if (clock == CLOCK_BOOTTIME)
		return "boottime";
#endif
	return NULL;
}

/* A time_t of 32 bits ends in 2038. */
struct timespec clock_timespec(int64_t t)
{
	const int64_t latest = sizeof(time_t) < 8 ? INT32_MAX : INT64_MAX;
	int64_t s = t / NS_PER_S;

	return (struct timespec){
		.tv_sec = (time_t)(s < latest ? s : latest),
		.tv_nsec = (long)(t % NS_PER_S),
	};
}

TT_NOINLINE int64_t clock_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return b > 0 ? INT64_MAX : INT64_MIN;
}

int64_t watch_virtual_now(struct watch *w)
{
	int64_t now;

	lock_acquire(&w->lock);
	now = w->shown;
	lock_release(&w->lock);
	return now;
}

void watch_set(struct watch *w, int64_t now)
{
	lock_acquire(&w->lock);
	w->shown = now;
	lock_release(&w->lock);
}
