/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/clock.h"
#include "os/futex.h"
#include "os/sleeper.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/timerfd.h>
#include <unistd.h>

bool sleeper_knows(clockid_t clock)
{
	return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME ||
	       clock == CLOCK_BOOTTIME;
}

/* A system call filter may cause any error; all of these become -ENOSYS. */
static int why_no_timer(int error)
{
	switch (error) {
	case EMFILE:
	case ENFILE:
	case ENOMEM:
		return -error;
	default:
		return -ENOSYS;
	}
}

int sleeper_open(struct sleeper *s, clockid_t clock, bool polled)
{
	int saved_errno = errno;
	int r = futex_works() ? 0 : -ENOSYS;

	s->clock = clock;
	s->fd = -1;
	s->polled = polled;
	if (r == 0 && (polled || clock == CLOCK_BOOTTIME)) {
		s->fd = timerfd_create(
			clock, TFD_CLOEXEC | (polled ? TFD_NONBLOCK : 0));
		if (s->fd < 0)
			r = why_no_timer(errno);
	}
	errno = saved_errno;
	return r;
}

void sleeper_close(struct sleeper *s)
{
	int cancel_state;

	/* close is a cancellation point; callers hold a lock. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	pthread_setcancelstate(cancel_state, NULL);
}

void sleeper_close_inherited(struct sleeper *s)
{
	struct itimerspec t;

	if (s->fd >= 0 && timerfd_gettime(s->fd, &t) == 0)
		sleeper_close(s);
}

/* The timerfd expires at t.  A time of all zeros means never. */
void sleeper_set(struct sleeper *s, int64_t t)
{
	struct itimerspec at = {.it_value = {0, 1}};

	if (t == INT64_MAX)
		at.it_value.tv_nsec = 0;
	else if (t > 0)
		at.it_value = clock_timespec(t);
	timerfd_settime(s->fd, TFD_TIMER_ABSTIME, &at, NULL);
}

/*
 * A wake changes the word, and then sets the timer to a time that has passed.
 * If it sets the timer before this function does, this function sees the
 * changed word.
 */
static void sleep_on_timer(struct sleeper *s, atom32 *word, uint32_t expected,
			   int64_t deadline)
{
	uint64_t times;
	int saved_errno = errno;

	sleeper_set(s, deadline);
	/* Acquire: pairs with the store that changed the word. */
	if (atom32_load_acquire(word) == expected &&
	    read(s->fd, &times, sizeof(times)) < 0)
		errno = saved_errno;
}

void sleeper_sleep(struct sleeper *s, atom32 *word, uint32_t expected,
		   int64_t deadline)
{
	if (s->fd >= 0)
		sleep_on_timer(s, word, expected, deadline);
	else
		futex_wait_until(word, expected, s->clock, deadline);
}

void sleeper_wake(struct sleeper *s, atom32 *word)
{
	if (s->fd >= 0)
		sleeper_set(s, 0);
	else
		futex_wake_one(word);
}
