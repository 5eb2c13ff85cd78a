/* SPDX-License-Identifier: MIT */
/*
 * On CLOCK_MONOTONIC and CLOCK_REALTIME, the thread sleeps on a futex with an
 * absolute timeout, which the kernel adjusts when the wall clock is stepped.  A
 * futex does not know CLOCK_BOOTTIME; there, the thread polls a timerfd, which
 * also expires when the machine wakes up from a suspend.  Without a deadline it
 * sleeps on the futex.  An event loop of the program polls a timerfd.
 *
 * A wake sets the timer to a time that has passed, and wakes the futex,
 * whatever the thread sleeps on.  On the futex, the kernel compares the word.
 * On the timer, the thread looks at the word after it has set the timer: if the
 * wake has set it before, the thread sees the changed word; if later, poll sees
 * the timer.
 *
 * If a timerfd of other code has taken the number, it may be set for a moment;
 * then it is as it was, but an expiry that nobody has read is lost.  When the
 * descriptor is lost, the thread sleeps on the futex, and looks at the clock
 * each second.
 */
#include "os/sleeper.h"
#include "base/keep.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/futex.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define MS     1000000
#define SECOND (1000 * MS)

/* A system call filter may cause any error; all of these become -ENOSYS. */
static int why_no_timer(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM ? -error
								     : -ENOSYS;
}

/*
 * A timer's period tells it from the timers of other code, and of other
 * sleepers.  It also makes the descriptor readable again if somebody has read
 * the expiry.  As long as nobody does, the kernel makes no use of it.
 */
static struct timespec mark_of(const struct sleeper *s)
{
	return (struct timespec){1, 1 + (long)((uintptr_t)s / 16 % 499999999)};
}

static bool is_marked(const struct sleeper *s, const struct itimerspec *t)
{
	return t->it_interval.tv_nsec == mark_of(s).tv_nsec;
}

/* EINVAL: there may not even be that many descriptors. */
static int move_up(int low)
{
	int fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (fd < 0)
		fd = errno == EINVAL ? -EMFILE : why_no_timer(errno);
	close(low);
	return fd;
}

/* A descriptor, or a negative errno. */
static int make_timer(const struct sleeper *s)
{
	const struct itimerspec never = {.it_interval = mark_of(s)};
	int fd = timerfd_create(s->clock, TFD_CLOEXEC | TFD_NONBLOCK);
	int r;

	if (fd >= 0 && timerfd_settime(fd, 0, &never, NULL) == 0)
		return fd > STDERR_FILENO ? fd : move_up(fd);
	r = why_no_timer(errno);
	if (fd >= 0)
		close(fd);
	return r;
}

int sleeper_open(struct sleeper *s, clockid_t clock, bool polled)
{
	/* close is a cancellation point; callers hold a lock. */
	KEEP_THREAD;
	int r;

	*s = (struct sleeper){.clock = clock, .fd = -1, .polled = polled};
	if (!futex_works())
		return -ENOSYS;
	/* The futex knows these clocks. */
	if (!polled && (clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME))
		return 0;
	r = make_timer(s);
	if (r < 0)
		return r;
	s->fd = r;
	return 0;
}

void sleeper_close(struct sleeper *s, bool inherited)
{
	KEEP_THREAD;
	const struct itimerspec never = {0};
	struct itimerspec t;

	if (s->fd >= 0 && timerfd_gettime(s->fd, &t) == 0 && is_marked(s, &t)) {
		if (!inherited)
			timerfd_settime(s->fd, 0, &never, NULL);
		close(s->fd);
	}
	s->fd = -1;
}

static void lose_descriptor(struct sleeper *s)
{
	if (atom32_swap(&s->lost, 0, 1) == 0)
		report("somebody has closed, replaced or read the descriptor "
		       "of an instance");
}

/* The timerfd expires at t.  A time of all zeros means never. */
void sleeper_set(struct sleeper *s, int64_t t)
{
	KEEP_ERRNO;
	struct itimerspec at = {mark_of(s), {0, 1}}, old;
	bool is_timer;

	if (atom32_load(&s->lost) != 0)
		return;
	if (t == INT64_MAX)
		at.it_value.tv_nsec = 0;
	else if (t > 0)
		at.it_value = clock_timespec(t);
	is_timer = timerfd_settime(s->fd, TFD_TIMER_ABSTIME, &at, &old) == 0;
	if (!is_timer || !is_marked(s, &old)) {
		if (is_timer) /* of other code: as it was */
			timerfd_settime(s->fd, 0, &old, NULL);
		lose_descriptor(s);
	}
}

/*
 * poll waits for the file that it finds at its beginning.  If another one takes
 * the number later, a wake cannot end the call: so none is long.
 *
 * If poll ends without an event although the deadline came well before its end,
 * somebody has read the expiry.
 */
static void sleep_on_timer(struct sleeper *s, atom32 *word, uint32_t expected,
			   int64_t deadline)
{
	struct pollfd p = {.fd = s->fd, .events = POLLIN};

	for (int r = 0; r <= 0;) {
		int64_t now = clock_now(s->clock), left;
		bool lost;

		sleeper_set(s, deadline);
		/* Acquire: pairs with the store that changed the word. */
		if (atom32_load_acquire(word) != expected || now >= deadline)
			break;
		left = deadline - now < SECOND ? deadline - now : SECOND;
		lost = atom32_load(&s->lost) != 0;
		r = lost ? -1 : poll(&p, 1, SECOND / MS);
		/* After a signal, less is left. */
		if (r < 0 && (lost || errno != EINTR))
			futex_wait_for(word, expected, (long)left);
		else if (r == 0 && left < SECOND - 100 * MS)
			lose_descriptor(s);
	}
}

void sleeper_sleep(struct sleeper *s, atom32 *word, uint32_t expected,
		   int64_t deadline)
{
	if (s->fd >= 0 && deadline < INT64_MAX)
		sleep_on_timer(s, word, expected, deadline);
	else
		futex_wait_until(word, expected, s->clock, deadline);
}

void sleeper_wake(struct sleeper *s, atom32 *word)
{
	if (s->fd >= 0)
		sleeper_set(s, 0);
	if (!s->polled)
		futex_wake(word, 1);
}
