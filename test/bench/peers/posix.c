/* SPDX-License-Identifier: MIT */
/*
 * POSIX timers: timer_create and timer_settime, on CLOCK_MONOTONIC.  An expiry
 * is a queued signal to one thread (SIGEV_THREAD_ID, which is Linux's) that
 * takes it by sigwaitinfo.  The portable SIGEV_THREAD would start a thread for
 * each expiry, and a signal handler could call next to nothing.
 *
 * Timers are created once and then set and unset, those without a use in one
 * stack without a lock.  That is the faster way: to create and to delete a
 * timer costs more than to set it twice.
 *
 * Each timer holds one of the user's pending signals (RLIMIT_SIGPENDING).
 */
#include "slots.h"

#include <signal.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { OTHER_SIGNALS = 64 };

/* Not a queued signal: it arrives whatever is pending. */
#define STOP   SIGUSR1
#define EXPIRY SIGRTMIN

static size_t most;

const struct peer_info peer = {
	.name = "posix",
	.clock = "monotonic",
	.resolution = 1,
	.timer_size = sizeof(uint64_t),
	.timers_limit = &most,
	.cancel_tells = true,
	.callbacks_wait = true,
	.notes = "one of the user's pending signals for each timer",
};

static pid_t thread_id;
static _Atomic uint32_t created;

const char *peer_version(void)
{
	return kernel_version();
}

__attribute__((constructor)) static void set_most(void)
{
	most = raised_limit(RLIMIT_SIGPENDING, OTHER_SIGNALS);
}

static void *loop(void *arg)
{
	sigset_t signals;
	siginfo_t info;

	sigemptyset(&signals);
	sigaddset(&signals, EXPIRY);
	sigaddset(&signals, STOP);
	pthread_mutex_lock(&slots.lock);
	thread_id = gettid();
	pthread_cond_broadcast(&slots.over);
	pthread_mutex_unlock(&slots.lock);
	for (;;) {
		int r = sigwaitinfo(&signals, &info);

		if (r == STOP)
			return arg;
		if (r == EXPIRY && info.si_code == SI_TIMER &&
		    slot_run((uint32_t)info.si_value.sival_int, slots_now()))
			slot_put_back((uint32_t)info.si_value.sival_int);
	}
}

/* With all signals blocked. */
static void start_thread(void)
{
	sigset_t all, old;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&slots.thread, NULL, loop, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r != 0)
		peer_die("pthread_create", r);
}

void peer_start(const struct peer_setup *setup)
{
	(void)setup;
	slots_create((uint32_t)most + OTHER_SIGNALS);
	created = 0;
	thread_id = 0;
	start_thread();
	pthread_mutex_lock(&slots.lock);
	while (thread_id == 0)
		pthread_cond_wait(&slots.over, &slots.lock);
	pthread_mutex_unlock(&slots.lock);
}

void peer_stop(void)
{
	pthread_kill(slots.thread, STOP);
	pthread_join(slots.thread, NULL);
	for (uint32_t i = 0; i < created && i < slots.n; i++) {
		if (slots.slot[i].word != 0)
			timer_delete(slots.slot[i].timer);
	}
	slots_destroy();
}

void peer_enter(void)
{
}

void peer_leave(void)
{
}

static uint32_t new_number(void)
{
	uint32_t i = atomic_load(&created);

	do {
		if (i >= slots.n)
			return SLOT_NONE;
	} while (!atomic_compare_exchange_weak(&created, &i, i + 1));
	return i;
}

/* Of the last one, at least. */
static void undo_number(uint32_t i)
{
	uint32_t next = i + 1;

	atomic_compare_exchange_strong(&created, &next, i);
}

/* 0, or a negative errno. */
static int create(uint32_t i)
{
	struct sigevent e = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = EXPIRY,
		.sigev_value.sival_int = (int)i,
	};

	e.sigev_notify_thread_id = thread_id;
	if (timer_create(CLOCK_MONOTONIC, &e, &slots.slot[i].timer) < 0)
		return -errno;
	return 0;
}

static void set(uint32_t i, int64_t deadline)
{
	const struct itimerspec t = once_at(deadline);

	timer_settime(slots.slot[i].timer, TIMER_ABSTIME, &t, NULL);
}

static int create_numbered(void)
{
	uint32_t i = new_number();
	int r;

	if (i == SLOT_NONE)
		return -EAGAIN;
	r = create(i);
	if (r == 0)
		return (int)i;
	undo_number(i);
	return r;
}

int peer_schedule(void *timer, int64_t now, int64_t delay, peer_fn *fn,
		  void *arg)
{
	uint32_t i = slot_spare();

	if (i == SLOT_NONE) {
		int r = create_numbered();

		if (r < 0)
			return r;
		i = (uint32_t)r;
	}
	slot_arm(timer, i, now + delay, fn, arg);
	set(i, now + delay);
	slot_armed(i);
	return 0;
}

int peer_cancel(void *timer)
{
	uint64_t id = *(uint64_t *)timer;

	if (!slot_leave(id, SLOT_FREE)) {
		slot_wait(id);
		return 0;
	}
	set((uint32_t)(id >> 32), 0);
	slot_put_back((uint32_t)(id >> 32));
	return 1;
}

int peer_reschedule(void *timer, int64_t now, int64_t delay)
{
	uint32_t i = (uint32_t)(*(uint64_t *)timer >> 32);

	if (!slot_rearm(timer, now + delay))
		return 1;
	set(i, now + delay);
	slot_armed(i);
	return 0;
}
