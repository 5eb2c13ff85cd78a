/* SPDX-License-Identifier: MIT */
/*
 * Timers whose callbacks write down what they saw, and executors for them: one
 * that refuses, one that calls, and one that does something first.
 */
#pragma once

#include "tasks.h"

#include <poll.h>

/* What a callback has seen. */
struct job {
	timerthread_id id;
	int runs;
	int64_t at;
	pthread_t on;
};

static inline void work(void *arg)
{
	struct job *j = arg;

	j->runs++;
	j->at = timerthread_now(tt);
	j->on = pthread_self();
}

static inline void plan(struct job *j, int64_t deadline)
{
	j->id = schedule(deadline, work, j);
}

static inline int reschedule(timerthread_id id, int64_t deadline)
{
	return timerthread_reschedule(tt, id, deadline);
}

static inline int cancel(timerthread_id id)
{
	return timerthread_cancel(tt, id);
}

static inline void check_over(timerthread_id id)
{
	ck_assert_int_eq(cancel(id), -ENOENT);
	ck_assert_int_eq(timerthread_cancel_wait(tt, id), -ENOENT);
	ck_assert_int_eq(reschedule(id, 0), -ENOENT);
	check_not_pending(id);
}

/* Puts the timer that is submitted on its way back, to be due at `to`. */
static inline void send_back(timerthread_id id, int64_t to)
{
	ck_assert_int_eq(reschedule(id, to), 0);
	call_task(called++);
}

static inline bool readable(void)
{
	struct pollfd p = {.fd = polled_fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/* A submit that does something with the instance, once. */
static struct {
	void (*what)(void);
	struct job target;
	int result, answer;
	bool keeps;
} within;

/* What comes after a destroy is no business of the test's. */
static inline int do_within(void *ctx, timerthread_fn *run, void *arg)
{
	void (*what)(void) = within.what;
	bool keeps = within.keeps;
	int answer = within.answer;

	within.what = NULL;
	if (what)
		what();
	return keeps ? keep(ctx, run, arg) : answer;
}

static inline void start_within(int d, void (*what)(void), bool keeps)
{
	memset(&within, 0, sizeof(within));
	within.what = what;
	within.keeps = keeps;
	within.answer = -1;
	start_with(d, do_within);
}
