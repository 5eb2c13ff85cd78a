/* SPDX-License-Identifier: MIT */
/*
 * An instance in an event loop of the test.
 *
 * Who includes this takes over the system calls on timerfds, for the library
 * too, whose parts it links: to count them, and to have them fail or take their
 * time.
 */
#ifndef TT_POLLED_H
#define TT_POLLED_H

#include "called.h"
#include "clocks.h"
#include "real.h"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <sys/timerfd.h>
#include <time.h>

#define S INT64_C(1000000000)

/* Nothing takes so long, however busy the machine is. */
#define LATE     (20 * S)
#define GIVEN_UP 60000 /* milliseconds */

/*
 * System calls.
 */
static int create_errno; /* 0: it may succeed */
static atom32 sets;      /* timerfd_settime, so far */
/* The next timerfd_settime holds its thread, before or after it is made. */
enum { TARRY_BEFORE = 1, TARRY_AFTER };
static atom32 tarry;
/* What it was called with last. */
static struct timespec set_to;
static pthread_mutex_t set_mutex = PTHREAD_MUTEX_INITIALIZER;

int timerfd_create(clockid_t clock, int flags)
{
	int (*next)(clockid_t, int) =
		(int (*)(clockid_t, int))dlsym(RTLD_NEXT, "timerfd_create");

	if (!create_errno)
		return next(clock, flags);
	errno = create_errno;
	return -1;
}

static inline void tarry_here(uint32_t when)
{
	if (atom32_load(&tarry) != when)
		return;
	atom32_store(&tarry, 0);
	hold(&ran);
}

int timerfd_settime(int timer, int flags, const struct itimerspec *new,
		    struct itimerspec *old)
{
	int r;

	tarry_here(TARRY_BEFORE);
	r = real_timerfd_settime(timer, flags, new, old);
	atom32_add(&sets, 1);
	pthread_mutex_lock(&set_mutex);
	set_to = new->it_value;
	pthread_mutex_unlock(&set_mutex);
	tarry_here(TARRY_AFTER);
	return r;
}

/* Since this was called last. */
static inline uint32_t new_sets(void)
{
	static uint32_t before;
	uint32_t n = atom32_load(&sets) - before;

	before += n;
	return n;
}

static inline void check_sets(uint32_t n)
{
	ck_assert_uint_eq(new_sets(), n);
}

/*
 * The instance.
 */
static int fd;

static inline void begin_on(clockid_t clock)
{
	setup();
	ck_assert_int_eq(timerthread_set_clock(tt, clock), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
	new_sets();
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

/* The times that a loop wakes up within so many milliseconds. */
static inline int wakeups(int ms)
{
	int64_t last = now() + ms * MS;
	int n = 0;

	while (now() < last) {
		if (!readable_within(ms / 10 + 1))
			continue;
		n++;
		ck_assert_int_ge(dispatch(), 0);
	}
	return n;
}

/* Who schedules what is earlier than all wakes the loop, to lie down again. */
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

#endif
