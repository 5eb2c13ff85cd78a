/* SPDX-License-Identifier: MIT */
/*
 * Who calls cancel_all reads and frees what other threads wrote before they
 * scheduled: while they go on, after a stop, and what an executor did not run.
 */
#include "guest.h"

enum {
	THREADS = 3,
	TIMERS = 50,
};

static struct hint scheduled;

static void none(void *arg)
{
	(void)arg;
	abort();
}

static void *schedule(void *arg)
{
	for (int i = 0; i < TIMERS; i++) {
		int *p = malloc(sizeof(*p));

		expect(p != NULL);
		*p = i;
		expect(timerthread_schedule_after(arg, i % 2 ? HOUR : 2 * HOUR,
						  none, p, NULL) == 0);
		hint_give(&scheduled);
	}
	return NULL;
}

static void visit(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	expect(id != 0 && fn == none);
	*(int *)ctx += *(int *)arg;
	free(arg);
}

static void cancel_all(bool stop)
{
	struct timerthread *tt = create_started();
	pthread_t thread[THREADS];
	int n = 0, sum = 0;

	for (int i = 0; i < THREADS; i++)
		thread[i] = spawn(schedule, tt);
	if (stop) {
		hint_take(&scheduled, THREADS * TIMERS);
		expect(timerthread_stop(tt) == 0);
	}
	while (n < THREADS * TIMERS) {
		int r = timerthread_cancel_all(tt, visit, &sum);

		expect(r >= 0);
		n += r;
		nap();
	}
	expect(n == THREADS * TIMERS);
	expect(sum == THREADS * TIMERS * (TIMERS - 1) / 2);
	if (!stop)
		hint_take(&scheduled, THREADS * TIMERS);
	for (int i = 0; i < THREADS; i++)
		join(thread[i]);
	timerthread_destroy(tt);
}

int main(void)
{
	hint_open(&scheduled);
	cancel_all(false);
	cancel_all(true);
	hint_close(&scheduled);
	return 0;
}
