/* SPDX-License-Identifier: MIT */
/*
 * slack: as few wake-ups as the program had before.
 *
 *     cc slack.c -o slack $(pkg-config --cflags --libs timerthread) -pthread
 *
 * Before: the kernel added its timer slack to each sleep of the program, mostly
 * 50 us.  So timers were late, and several ran after one wake-up.
 *
 * Now: a timer thread has no such slack.  Timers are less late, and the thread
 * wakes up more often.  timerthread_set_slack(50 us) allows the lateness again.
 *
 * This runs the same timers without a slack and with one, and prints how often
 * the thread woke up.  The numbers depend on the machine.
 */
#include "porting.h"
#include <inttypes.h>
#include <timerthread.h>

enum { TIMERS = 500 };

struct timer {
	struct timerthread *tt;
	int64_t deadline;
	sem_t *ran;
};

static struct timer timers[TIMERS];

static void expired(void *arg)
{
	const struct timer *t = arg;

	expect(timerthread_now(t->tt) >= t->deadline, "no timer runs early");
	sem_post(t->ran);
}

static void run_all(struct timerthread *tt)
{
	int64_t begin = timerthread_now(tt);
	sem_t ran;

	sem_init(&ran, 0, 0);
	for (int i = 0; i < TIMERS; i++) {
		struct timer *t = &timers[i];

		*t = (struct timer){tt, begin + i * 40 * TIMERTHREAD_USEC,
				    &ran};
		expect(timerthread_schedule(tt, t->deadline, expired, t,
					    NULL) == 0,
		       "a timer is scheduled");
	}
	for (int i = 0; i < TIMERS; i++)
		await(&ran);
	timerthread_stop(tt); /* the last callback has returned */
	sem_destroy(&ran);
}

static void measure(int64_t slack)
{
	struct timerthread *tt;
	uint64_t wakeups;

	expect(timerthread_create(&tt) == 0 &&
		       timerthread_set_slack(tt, slack) == 0 &&
		       timerthread_start(tt, NULL) == 0,
	       "there is an instance");
	run_all(tt);
	expect(timerthread_get_stat(tt, TIMERTHREAD_STAT_WAKEUPS, &wakeups) ==
		       0,
	       "wake-ups are counted");
	timerthread_destroy(tt);
	printf("slack %2" PRId64 " us: %d timers, %" PRIu64 " wake-ups\n",
	       slack / TIMERTHREAD_USEC, TIMERS, wakeups);
}

int main(void)
{
	measure(0);
	measure(50 * TIMERTHREAD_USEC);
	return 0;
}
