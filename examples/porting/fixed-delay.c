/* SPDX-License-Identifier: MIT */
/*
 * fixed-delay: a pause of the same length after each run, and a period that
 * changes.
 *
 *     cc fixed-delay.c -o fixed-delay \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 *
 * Before: a repeating timer with a fixed delay, or one whose period the
 * callback changes.
 *
 * Now: the callback calls timerthread_reschedule_after for its own timer.  The
 * delay counts from that call, so the pause is whole, however long the work
 * took.  That is so for a timer that was scheduled and for one from
 * timerthread_prepare.  A callback that does not make the call ends the series.
 *
 * For a fixed rate, use timerthread_schedule_every.
 */
#include "porting.h"
#include <timerthread.h>

enum { RUNS = 5 };

struct job {
	struct timerthread *tt;
	timerthread_id timer;
	int64_t delay;
	int factor;   /* 1: a fixed delay */
	int64_t next; /* no earlier than this */
	int runs;
	sem_t done;
};

static void work(void *arg)
{
	struct job *j = arg;

	expect(timerthread_now(j->tt) >= j->next, "the pause was whole");
	/* The work goes here. */
	if (++j->runs == RUNS) {
		sem_post(&j->done);
		return;
	}
	j->delay *= j->factor;
	j->next = timerthread_now(j->tt) + j->delay;
	timerthread_reschedule_after(j->tt, j->timer, j->delay);
}

static void end(struct job *j)
{
	await(&j->done);
	timerthread_cancel_wait(j->tt, j->timer);
	expect(j->runs == RUNS, "all runs were made");
	sem_destroy(&j->done);
}

int main(void)
{
	struct job fixed = {.delay = 2 * TIMERTHREAD_MSEC, .factor = 1};
	struct job changing = {.delay = TIMERTHREAD_MSEC, .factor = 2};
	struct timerthread *tt;

	sem_init(&fixed.done, 0, 0);
	sem_init(&changing.done, 0, 0);
	expect(timerthread_create(&tt) == 0 && timerthread_start(tt, NULL) == 0,
	       "there is an instance");
	fixed.tt = changing.tt = tt;
	expect(timerthread_schedule_after(tt, fixed.delay, work, &fixed,
					  &fixed.timer) == 0,
	       "a timer is scheduled");
	expect(timerthread_prepare(tt, work, &changing, &changing.timer) == 0 &&
		       timerthread_reschedule_after(tt, changing.timer, 0) == 0,
	       "a timer is prepared, and armed");
	end(&fixed);
	end(&changing);
	timerthread_destroy(tt);
	printf("%d runs each\n", RUNS);
	return 0;
}
