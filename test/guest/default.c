/* SPDX-License-Identifier: MIT */
/*
 * Two threads ask for the default instance at the same time, as the first, and
 * use it.
 */
#include "guest.h"

static pthread_barrier_t all_there;

static void change(void *arg)
{
	*(int *)arg += 1;
}

static void *use(void *arg)
{
	struct timerthread *tt;
	timerthread_id id;
	int n = 0;

	pthread_barrier_wait(&all_there);
	expect(timerthread_default(&tt) == 0);
	*(struct timerthread **)arg = tt;
	for (int i = 0; i < 10; i++) {
		expect(timerthread_schedule(tt, 0, change, &n, &id) == 0);
		wait_until_over(tt, id);
		expect(n == i + 1);
	}
	return NULL;
}

int main(void)
{
	struct timerthread *got[2];
	pthread_t thread[2];

	pthread_barrier_init(&all_there, NULL, 2);
	for (int i = 0; i < 2; i++)
		thread[i] = spawn(use, &got[i]);
	for (int i = 0; i < 2; i++)
		join(thread[i]);
	expect(got[0] == got[1]);
	pthread_barrier_destroy(&all_there);
	return 0;
}
