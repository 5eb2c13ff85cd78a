/* SPDX-License-Identifier: MIT */
/*
 * An executor that keeps what it is given in an array, for the test to call
 * when it likes; and an instance with it, on any driver.
 */
#pragma once

/* First, as they include what would hide the fixture's "tt". */
#include "checks/bucket.h"
#include "checks/pending.h"
#include "timers.h"

#include <pthread.h>
#include <string.h>

enum { OWN_THREAD, POLLED, VIRTUAL, DRIVERS };

/* How many of these may be kept in one test. */
#define TASKS_MAX 250000

static struct task {
	timerthread_fn *run;
	void *arg;
} tasks[TASKS_MAX];
static size_t kept, called; /* so far; called: in order */
static sem_t came;          /* one more is kept */
static int driver, polled_fd;

static inline int keep(void *ctx, timerthread_fn *run, void *arg)
{
	(void)ctx;
	ck_assert_uint_lt(kept, TASKS_MAX);
	tasks[kept++] = (struct task){run, arg};
	sem_post(&came);
	return 0;
}

/* Executors that keep nothing: it is not to run, or it runs at once. */
static inline int refuse(void *ctx, timerthread_fn *run, void *arg)
{
	(void)ctx;
	(void)run;
	(void)arg;
	return -EAGAIN;
}

static inline int call_inside(void *ctx, timerthread_fn *run, void *arg)
{
	(void)ctx;
	run(arg);
	return 0;
}

/* For the leak checkers nothing may point to what is over. */
static inline void call_task(size_t i)
{
	struct task t = tasks[i];

	tasks[i] = (struct task){NULL, NULL};
	if (t.run)
		t.run(t.arg);
}

/* Calls what is left, in order, and what comes meanwhile. */
static inline void call_tasks(void)
{
	while (called < kept)
		call_task(called++);
}

static inline void start_driver(int d)
{
	driver = d;
	if (d == OWN_THREAD)
		ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	else if (d == POLLED)
		ck_assert_int_eq(timerthread_start_polled(tt, &polled_fd), 0);
	else
		ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
}

static inline void begin_with(timerthread_submit_fn *submit)
{
	setup();
	memset(tasks, 0, kept * sizeof(tasks[0]));
	kept = called = 0;
	sem_init(&came, 0, 0);
	ck_assert_int_eq(timerthread_set_executor(tt, submit, NULL), 0);
}

static inline void start_with(int d, timerthread_submit_fn *submit)
{
	begin_with(submit);
	start_driver(d);
}

/* Has those that are due be submitted: there are n. */
static inline void submit_due(int n)
{
	if (driver == POLLED)
		ck_assert_int_eq(timerthread_dispatch(tt), n);
	else if (driver == VIRTUAL)
		ck_assert_int_eq(timerthread_advance(tt, 0), n);
	else
		for (int i = 0; i < n; i++)
			wait_for(&came);
}

static inline int advance(int64_t ns)
{
	return timerthread_advance(tt, ns);
}

static int written; /* by callbacks, with no lock */

static inline void hold_and_write(void *arg)
{
	hold(arg);
	written++;
}

/* A thread that calls a task. */
struct caller {
	pthread_t thread;
	size_t task;
};

static inline void *call_in_thread(void *arg)
{
	const struct caller *c = arg;

	call_task(c->task);
	return NULL;
}

static inline void start_call(struct caller *c, size_t task)
{
	c->task = task;
	ck_assert_int_eq(pthread_create(&c->thread, NULL, call_in_thread, c),
			 0);
}

static inline void end_call(struct caller *c)
{
	ck_assert_int_eq(pthread_join(c->thread, NULL), 0);
}

/* Aborts if the inside is not sound. */
static inline void check_inside(void)
{
	pending_check(&tt->engine.pending);
	for (uint32_t i = 0; i < tt->engine.intake->n; i++)
		bucket_check(&tt->engine.intake->bucket[i]);
}
