/* SPDX-License-Identifier: MIT */
/*
 * Linux timerfd: a timer is a file descriptor that becomes readable.  All are
 * in one epoll, on which one thread waits.
 *
 *  timerfd         each schedule creates a descriptor, sets it and adds it to
 *                  the epoll; each cancel closes it: three calls and one.
 *  timerfd-reused  (-DREUSE) descriptors stay in the epoll and are set and
 *                  unset: one call and one.  Those without a timer are in one
 *                  stack without a lock.  They are not kept in a timer's
 *                  memory, as nobody says when that is used no more, nor with
 *                  each thread, where 400 threads would hoard them.
 *
 * An expiry is reported by edge, so that nothing has to be read: setting the
 * time anew also takes back an expiry that was not reported.  To move a pending
 * timer is one call for both.  Each takes one of
 * the process's descriptors and one of the user's epoll watches.
 */
#include "slots.h"

#include <limits.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#ifdef REUSE
enum { REUSED = true };
#else
enum { REUSED = false };
#endif

enum { EVENTS = 256, OTHER_FILES = 64 };

static size_t most;

const struct peer_info peer = {
	.name = REUSED ? "timerfd-reused" : "timerfd",
	.clock = "monotonic",
	.resolution = 1,
	.timer_size = sizeof(uint64_t),
	.timers_limit = &most,
	.cancel_tells = true,
	.callbacks_wait = true,
	.notes = "a file descriptor for each pending timer",
};

static int epoll, stop_event;

const char *peer_version(void)
{
	return kernel_version();
}

static size_t watches_most(void)
{
	FILE *f = fopen("/proc/sys/fs/epoll/max_user_watches", "re");
	unsigned long n;

	if (!f)
		return SLOTS_MOST;
	if (fscanf(f, "%lu", &n) != 1 || n > SLOTS_MOST)
		n = SLOTS_MOST;
	fclose(f);
	return n;
}

__attribute__((constructor)) static void set_most(void)
{
	size_t watches = watches_most();

	most = raised_limit(RLIMIT_NOFILE, OTHER_FILES);
	if (watches < most)
		most = watches;
}

static int watch(int fd, uint32_t number)
{
	struct epoll_event e = {.events = EPOLLIN | EPOLLET,
				.data.u32 = number};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

static void set(uint32_t fd, int64_t deadline)
{
	const struct itimerspec t = once_at(deadline);

	timerfd_settime((int)fd, TFD_TIMER_ABSTIME, &t, NULL);
}

/* The timer is not armed any more. */
static void put_back(uint32_t fd)
{
	if (REUSED)
		slot_put_back(fd);
	else
		close((int)fd);
}

static void run(const struct epoll_event *e, int n)
{
	int64_t now = slots_now();

	for (int i = 0; i < n; i++) {
		uint32_t fd = e[i].data.u32;

		if (fd != SLOT_NONE && slot_run(fd, now))
			put_back(fd);
	}
}

static bool told_to_stop(const struct epoll_event *e, int n)
{
	for (int i = 0; i < n; i++) {
		if (e[i].data.u32 == SLOT_NONE)
			return true;
	}
	return false;
}

static void *loop(void *arg)
{
	struct epoll_event e[EVENTS];
	int n = 0;

	while (!told_to_stop(e, n)) {
		n = epoll_wait(epoll, e, EVENTS, -1);
		if (n < 0 && errno != EINTR)
			peer_die("epoll_wait", errno);
		if (!told_to_stop(e, n))
			run(e, n);
	}
	return arg;
}

void peer_start(const struct peer_setup *setup)
{
	int r;

	(void)setup;
	slots_create((uint32_t)most + OTHER_FILES);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	stop_event = eventfd(0, EFD_CLOEXEC);
	if (epoll < 0 || stop_event < 0)
		peer_die("epoll_create1, eventfd", errno);
	r = watch(stop_event, SLOT_NONE);
	if (r < 0)
		peer_die("epoll_ctl", -r);
	r = pthread_create(&slots.thread, NULL, loop, NULL);
	if (r != 0)
		peer_die("pthread_create", r);
}

/* Has a descriptor: pending, or if they are reused, used once. */
static bool is_open(uint32_t fd)
{
	uint32_t word = slots.slot[fd].word;

	return REUSED ? word != 0 : slot_state(word) == SLOT_PENDING;
}

void peer_stop(void)
{
	if (eventfd_write(stop_event, 1) < 0)
		peer_die("eventfd_write", errno);
	pthread_join(slots.thread, NULL);
	close(epoll);
	close(stop_event);
	for (uint32_t fd = 0; fd < slots.n; fd++) {
		if (is_open(fd))
			close((int)fd);
	}
	slots_destroy();
}

void peer_enter(void)
{
}

void peer_leave(void)
{
}

/* A new descriptor, or a negative errno. */
static int open_timer(void)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd < 0)
		return -errno;
	if ((uint32_t)fd < slots.n)
		return fd;
	close(fd);
	return -EMFILE;
}

static int open_watched(void)
{
	int fd = open_timer();
	int r;

	if (fd < 0)
		return fd;
	r = watch(fd, (uint32_t)fd);
	if (r == 0)
		return fd;
	close(fd);
	return r;
}

static int take(void)
{
	uint32_t spare;

	if (!REUSED)
		return open_timer();
	spare = slot_spare();
	return spare == SLOT_NONE ? open_watched() : (int)spare;
}

int peer_schedule(void *timer, int64_t now, int64_t delay, peer_fn *fn,
		  void *arg)
{
	int fd = take();
	int r;

	if (fd < 0)
		return fd;
	slot_arm(timer, (uint32_t)fd, now + delay, fn, arg);
	set((uint32_t)fd, now + delay);
	r = REUSED ? 0 : watch(fd, (uint32_t)fd);
	if (r == 0) {
		slot_armed((uint32_t)fd);
	} else {
		slot_not_armed((uint32_t)fd);
		close(fd);
	}
	return r;
}

int peer_cancel(void *timer)
{
	uint64_t id = *(uint64_t *)timer;

	if (!slot_leave(id, SLOT_FREE)) {
		slot_wait(id);
		return 0;
	}
	if (REUSED)
		set((uint32_t)(id >> 32), 0);
	put_back((uint32_t)(id >> 32));
	return 1;
}

int peer_reschedule(void *timer, int64_t now, int64_t delay)
{
	uint32_t fd = (uint32_t)(*(uint64_t *)timer >> 32);

	if (!slot_rearm(timer, now + delay))
		return 1;
	set(fd, now + delay);
	slot_armed(fd);
	return 0;
}
