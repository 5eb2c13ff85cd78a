/* SPDX-License-Identifier: MIT */
/*
 * request-guard: a timer cancelled in time, and one that expires.
 *
 *     cc request-guard.c -o request-guard \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 */
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <timerthread.h>

/* Runs on the timer thread: it hands over and returns. */
static void expired(void *arg)
{
	sem_t *over = arg;

	puts("callback: the deadline has passed");
	sem_post(over);
}

static void await(sem_t *over)
{
	while (sem_wait(over) < 0 && errno == EINTR)
		continue; /* a signal handler ran */
}

static int guard_two(struct timerthread *tt, sem_t *over)
{
	timerthread_id id;
	int ret;

	ret = timerthread_schedule_after(tt, 60 * TIMERTHREAD_SEC, expired,
					 over, &id);
	if (ret < 0)
		return ret;
	/* The operation that the timer guards goes here. */
	if (timerthread_cancel(tt, id) == 0)
		puts("first: done in time, the timer will not run");
	else
		await(over); /* the callback is running or has run */

	ret = timerthread_schedule_after(tt, 20 * TIMERTHREAD_MSEC, expired,
					 over, NULL);
	if (ret < 0)
		return ret;
	await(over); /* this operation never ends, so its timer does */
	puts("second: given up");
	return 0;
}

int main(void)
{
	struct timerthread *tt;
	sem_t over;
	int ret;

	ret = timerthread_create(&tt);
	if (ret == 0) {
		sem_init(&over, 0, 0);
		ret = timerthread_start(tt, NULL);
		if (ret == 0)
			ret = guard_two(tt, &over);
		timerthread_destroy(tt); /* from here on no callback runs */
		sem_destroy(&over);
	}
	if (ret < 0)
		fprintf(stderr, "request-guard: %s\n", strerror(-ret));
	return ret < 0;
}
