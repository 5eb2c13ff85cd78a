/* SPDX-License-Identifier: MIT */
/*
 * For the programs that tools.sh runs with tools that look for races.
 *
 * Where a program is to show that the library orders two threads, nothing else
 * may order them.  So threads tell each other that it is time by a way that
 * tools do not take for one: system calls that no library wraps.
 */
#pragma once

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <timerthread.h>
#include <unistd.h>

#define HOUR (3600 * TIMERTHREAD_SEC)

#define expect(condition) expect_at(condition, #condition, __FILE__, __LINE__)

static inline void expect_at(bool ok, const char *what, const char *file,
			     int line)
{
	if (ok)
		return;
	fprintf(stderr, "%s:%d: not as expected: %s\n", file, line, what);
	exit(1);
}

/* Messages past the tools: no order comes of them. */
struct hint {
	int fd[2];
};

static inline void hint_open(struct hint *h)
{
	expect(pipe(h->fd) == 0);
}

static inline void hint_close(struct hint *h)
{
	close(h->fd[0]);
	close(h->fd[1]);
}

static inline void hint_give_value(const struct hint *h, uint64_t value)
{
	expect(syscall(SYS_write, h->fd[1], &value, sizeof(value)) ==
	       (long)sizeof(value));
}

static inline uint64_t hint_take_value(const struct hint *h)
{
	uint64_t value = 0;

	expect(syscall(SYS_read, h->fd[0], &value, sizeof(value)) ==
	       (long)sizeof(value));
	return value;
}

static inline void hint_give(const struct hint *h)
{
	hint_give_value(h, 0);
}

/* Waits until n were given. */
static inline void hint_take(const struct hint *h, int n)
{
	for (int i = 0; i < n; i++)
		(void)hint_take_value(h);
}

/* Between two looks at something that another thread changes. */
static inline void nap(void)
{
	poll(NULL, 0, 1);
}

static inline struct timerthread *create(void)
{
	struct timerthread *tt = NULL;

	expect(timerthread_create(&tt) == 0);
	return tt;
}

/* With a timer thread. */
static inline struct timerthread *create_started(void)
{
	struct timerthread *tt = create();

	expect(timerthread_start(tt, NULL) == 0);
	return tt;
}

/* Waits until a timer that is not periodic is over, and asks the library. */
static inline void wait_until_over(struct timerthread *tt, timerthread_id id)
{
	int64_t deadline;

	while (timerthread_get_deadline(tt, id, &deadline) == 0)
		nap();
	/* Its callback may be running still. */
	while (timerthread_cancel(tt, id) != -ENOENT)
		nap();
}

static inline pthread_t spawn(void *(*run)(void *arg), void *arg)
{
	pthread_t thread;

	expect(pthread_create(&thread, NULL, run, arg) == 0);
	return thread;
}

static inline void join(pthread_t thread)
{
	expect(pthread_join(thread, NULL) == 0);
}
