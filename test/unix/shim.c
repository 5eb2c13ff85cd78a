/* SPDX-License-Identifier: MIT */
/*
 * Makes Linux behave as other systems do, for a program that runs with this in
 * LD_PRELOAD:
 *  - what waits for a time waits for the next tick of 10 ms after it, as on
 *    NetBSD, OpenBSD and illumos;
 *  - of the waits for a condition, 40 % end for no reason;
 *  - of the condition variables, 3 % cannot be made: elsewhere that
 *    takes memory;
 *  - a step of CLOCK_REALTIME ends no wait: how long it lasts is computed once.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#define S    INT64_C(1000000000)
#define TICK INT64_C(10000000)
#define YEAR (S * 3600 * 24 * 365)

static int64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * S + t.tv_nsec;
}

static struct timespec timespec_of(int64_t t)
{
	return (struct timespec){t / S, t % S};
}

/* A function behind one of these. */
#define BEHIND(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

/* The same numbers each time, but for the order in which threads take them. */
static bool happens(unsigned percent)
{
	static atomic_uint_fast64_t state;
	uint64_t z = atomic_fetch_add(&state, UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31) % 100 < percent;
}

/* By CLOCK_MONOTONIC, which the caller of pthread_cond_clockwait means. */
static int64_t next_tick(int64_t t)
{
	return (t / TICK + 1) * TICK;
}

static int end_at_once(pthread_mutex_t *m)
{
	pthread_mutex_unlock(m);
	sched_yield();
	pthread_mutex_lock(m);
	return 0;
}

int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
	return happens(3) ? ENOMEM : BEHIND(pthread_cond_init)(c, attr);
}

int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	return happens(40) ? end_at_once(m) : BEHIND(pthread_cond_wait)(c, m);
}

/* A time that was ten years ago by one of the clocks is of the other. */
int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
			   const struct timespec *until)
{
	int64_t monotonic = now(CLOCK_MONOTONIC);
	int64_t left = until->tv_sec * S + until->tv_nsec - now(CLOCK_REALTIME);
	struct timespec end;

	if (happens(40))
		return end_at_once(m);
	if (left < -10 * YEAR)
		left = until->tv_sec * S + until->tv_nsec - monotonic;
	end = timespec_of(next_tick(monotonic + left));
	return pthread_cond_clockwait(c, m, CLOCK_MONOTONIC, &end);
}

int nanosleep(const struct timespec *length, struct timespec *left)
{
	int64_t begin = now(CLOCK_MONOTONIC);
	int64_t end = next_tick(begin + length->tv_sec * S + length->tv_nsec);
	struct timespec t = timespec_of(end - begin);

	return BEHIND(nanosleep)(&t, left);
}

int usleep(useconds_t us)
{
	struct timespec t = timespec_of(us * INT64_C(1000));

	return nanosleep(&t, NULL);
}

int poll(struct pollfd *fds, nfds_t n, int ms)
{
	return BEHIND(poll)(fds, n, ms > 0 ? ms / 10 * 10 + 10 : ms);
}
