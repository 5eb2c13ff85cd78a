/* SPDX-License-Identifier: MIT */
/*
 * A race: two threads, which schedule timers of one instance one after the
 * other, change one number.  That they take the same locks in the library does
 * not order them.
 */
#include "guest.h"

static struct hint scheduled;
static int number;

static void none(void *arg)
{
	(void)arg;
}

static void schedule(struct timerthread *tt)
{
	expect(timerthread_schedule_after(tt, HOUR, none, NULL, NULL) == 0);
}

static void *first(void *arg)
{
	number++;
	schedule(arg);
	hint_give(&scheduled);
	return NULL;
}

static void *second(void *arg)
{
	hint_take(&scheduled, 1);
	schedule(arg);
	number++;
	return NULL;
}

int main(void)
{
	struct timerthread *tt = create();
	pthread_t thread[2];

	hint_open(&scheduled);
	expect(timerthread_set_buckets(tt, 1) == 0);
	expect(timerthread_start(tt, NULL) == 0);
	thread[0] = spawn(first, tt);
	thread[1] = spawn(second, tt);
	for (int i = 0; i < 2; i++)
		join(thread[i]);
	timerthread_destroy(tt);
	return 0;
}
