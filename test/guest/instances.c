/* SPDX-License-Identifier: MIT */
/*
 * Several threads create, use and destroy instances of every kind, so that one
 * thread gets memory which another one has freed; and callbacks destroy the
 * instances that they are of.
 */
#include "team.h"

enum {
	THREADS = 3,
	ROUNDS = 12,
	TIMERS = 4,
};

static struct team team;

/* The drivers of a team take turns to submit. */
static pthread_mutex_t submitting = PTHREAD_MUTEX_INITIALIZER;

static int submit(void *ctx, timerthread_fn *run, void *arg)
{
	int r;

	pthread_mutex_lock(&submitting);
	r = team_submit(ctx, run, arg);
	pthread_mutex_unlock(&submitting);
	return r;
}

static void add(void *arg)
{
	++*(int *)arg;
}

static void start(struct timerthread *tt, int kind)
{
	int fd;

	switch (kind) {
	case 0:
		expect(timerthread_start_virtual(tt, 0) == 0);
		break;
	case 1:
		expect(timerthread_start_polled(tt, &fd) == 0);
		break;
	case 2:
		expect(timerthread_set_executor(tt, submit, &team) == 0);
		expect(timerthread_start(tt, NULL) == 0);
		break;
	default:
		expect(timerthread_set_clock(tt, CLOCK_BOOTTIME) == 0);
		expect(timerthread_start(tt, NULL) == 0);
	}
}

static void use(struct timerthread *tt)
{
	int n[TIMERS] = {0};
	timerthread_id id;

	for (int i = 0; i < TIMERS; i++)
		expect(timerthread_schedule_after(tt, 0, add, &n[i], &id) == 0);
	(void)timerthread_dispatch(tt);
	(void)timerthread_advance(tt, 1);
	(void)timerthread_cancel_wait(tt, id);
	expect(timerthread_stop(tt) == 0);
	for (int i = 0; i < TIMERS; i++)
		expect(n[i] == 0 || n[i] == 1);
	timerthread_destroy(tt);
}

static void *create_and_use(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		struct timerthread *tt = create();

		start(tt, i % 4);
		use(tt);
	}
	return NULL;
}

static struct hint cancelled, may_destroy, destroyed;

static void destroy(void *arg)
{
	hint_take(&may_destroy, 1);
	timerthread_destroy(arg);
	hint_give(&destroyed);
}

static void cancel_self(void *arg)
{
	timerthread_id id;

	expect(timerthread_get_current(NULL, &id) == 0);
	expect(timerthread_cancel(arg, id) == 1);
	hint_give(&cancelled);
}

/*
 * No other thread is in a call on the instance then; but callbacks may not have
 * returned, and somebody might wait for the end of one that was cancelled.
 */
static void destroy_within(int kind)
{
	struct timerthread *tt = create();

	start(tt, kind);
	for (int i = 0; i < 5; i++)
		expect(timerthread_schedule(tt, 0, cancel_self, tt, NULL) == 0);
	hint_take(&cancelled, 5);
	expect(timerthread_schedule(tt, 0, destroy, tt, NULL) == 0);
	hint_give(&may_destroy);
	hint_take(&destroyed, 1);
}

int main(void)
{
	pthread_t thread[THREADS];

	hint_open(&cancelled);
	hint_open(&may_destroy);
	hint_open(&destroyed);
	team_open(&team);
	for (int i = 0; i < THREADS; i++)
		thread[i] = spawn(create_and_use, NULL);
	for (int i = 0; i < THREADS; i++)
		join(thread[i]);
	for (int i = 0; i < ROUNDS; i++)
		destroy_within(2 + i % 2);
	team_close(&team);
	return 0;
}
