/* SPDX-License-Identifier: MIT */
#include "os/clock.h"
#include "base/atomic.h"

int64_t clock_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return POINT_CLOCK((int64_t)t.tv_sec * NS_PER_S + t.tv_nsec);
}

const char *clock_name(clockid_t clock)
{
	if (clock == CLOCK_REALTIME)
		return "realtime";
	return clock == CLOCK_MONOTONIC ? "monotonic" : "boottime";
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

int64_t clock_from_timespec(int64_t s, int64_t ns)
{
	int64_t sec = clock_add(s, ns / NS_PER_S), rest = ns % NS_PER_S, t;

	/* With the same sign, the product overflows only if the sum does. */
	if (sec > 0 && rest < 0) {
		sec--;
		rest += NS_PER_S;
	} else if (sec < 0 && rest > 0) {
		sec++;
		rest -= NS_PER_S;
	}
	if (__builtin_mul_overflow(sec, (int64_t)NS_PER_S, &t))
		return sec > 0 ? INT64_MAX : INT64_MIN;
	return clock_add(t, rest);
}

int64_t clock_add(int64_t a, int64_t b)
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
