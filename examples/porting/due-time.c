/* SPDX-License-Identifier: MIT */
/*
 * due-time: one timer for many entries, each with a due time of its own.
 *
 *     cc due-time.c -o due-time \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 *
 * Before: a thread looked through its entries, did those that were due, and
 * slept until the next one.
 *
 * Now: one prepared timer, armed for the first entry.  Its callback asks
 * timerthread_now what is due.  A coarse clock, or a time that a loop has
 * stored, lags by some milliseconds.  By such a clock the callback would find
 * nothing due, arm the timer for a time that has passed, and run again and
 * again until that clock has caught up.
 */
#include "porting.h"
#include <timerthread.h>

enum { ENTRIES = 20 };

struct table {
	struct timerthread *tt;
	timerthread_id timer;
	int64_t due[ENTRIES]; /* in order */
	int done;             /* so many of them */
	int runs;
	sem_t all_done;
};

static void do_due(void *arg)
{
	struct table *t = arg;
	int64_t now = timerthread_now(t->tt); /* not a coarse clock */

	t->runs++;
	while (t->done < ENTRIES && t->due[t->done] <= now)
		t->done++; /* what is due is done here */
	if (t->done < ENTRIES)
		timerthread_reschedule(t->tt, t->timer, t->due[t->done]);
	else
		sem_post(&t->all_done);
}

static void fill(struct table *t)
{
	int64_t now = timerthread_now(t->tt);

	for (int i = 0; i < ENTRIES; i++)
		t->due[i] = now + (i + 1) * TIMERTHREAD_MSEC;
	t->done = 0;
	t->runs = 0;
}

int main(void)
{
	struct table t;

	sem_init(&t.all_done, 0, 0);
	expect(timerthread_create(&t.tt) == 0 &&
		       timerthread_start(t.tt, NULL) == 0 &&
		       timerthread_prepare(t.tt, do_due, &t, &t.timer) == 0,
	       "there is a timer");
	fill(&t);
	expect(timerthread_reschedule(t.tt, t.timer, t.due[0]) == 0,
	       "it is armed");
	await(&t.all_done);
	timerthread_cancel_wait(t.tt, t.timer);
	expect(t.runs <= ENTRIES, "each run found something due");
	timerthread_destroy(t.tt);
	sem_destroy(&t.all_done);
	printf("%d entries, no more runs\n", ENTRIES);
	return 0;
}
