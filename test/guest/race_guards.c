/* SPDX-License-Identifier: MIT */
/*
 * A race: two threads, which schedule and cancel timers of one instance, change
 * one number.  That they use the same slots after each other orders them too
 * seldom to hide it.
 */
#include "guest.h"

static int number;

static void none(void *arg)
{
	(void)arg;
}

static void *use(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		timerthread_id id;

		number++;
		expect(timerthread_schedule_after(arg, HOUR, none, NULL, &id) ==
		       0);
		expect(timerthread_cancel(arg, id) == 0);
	}
	return NULL;
}

int main(void)
{
	struct timerthread *tt = create();
	pthread_t thread[2];

	expect(timerthread_set_buckets(tt, 1) == 0);
	expect(timerthread_start(tt, NULL) == 0);
	for (int i = 0; i < 2; i++)
		thread[i] = spawn(use, tt);
	for (int i = 0; i < 2; i++)
		join(thread[i]);
	timerthread_destroy(tt);
	return 0;
}
