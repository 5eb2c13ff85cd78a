/* SPDX-License-Identifier: MIT */
/*
 * Two threads take turns as the driver, and a third one schedules.  Callbacks
 * share data without a lock: one runs at a time.
 */
#include "guest.h"

enum {
	TIMERS = 200,
	POLLERS = 2,
};

static struct timerthread *tt;
static struct hint over;
static int fd;

static struct {
	int runs, sum;
} shared; /* of the callbacks */

static void add(void *arg)
{
	int *p = arg;

	shared.sum += *p;
	if (++shared.runs == TIMERS)
		hint_give(&over);
	free(p);
}

static void *drive(void *arg)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int r;

	(void)arg;
	do {
		expect(poll(&p, 1, -1) == 1);
		r = timerthread_dispatch(tt);
		/* That the other one has its turns, too. */
		if (r >= 0)
			nap();
	} while (r >= 0 || r == -EBUSY);
	expect(r == -ESHUTDOWN);
	return NULL;
}

int main(void)
{
	pthread_t thread[POLLERS];
	int sum = 0;

	hint_open(&over);
	tt = create();
	expect(timerthread_start_polled(tt, &fd) == 0);
	for (int i = 0; i < POLLERS; i++)
		thread[i] = spawn(drive, NULL);
	for (int i = 0; i < TIMERS; i++) {
		int *p = malloc(sizeof(*p));

		expect(p != NULL);
		*p = i;
		sum += i;
		expect(timerthread_schedule_after(tt,
						  i * 100 * TIMERTHREAD_USEC,
						  add, p, NULL) == 0);
	}
	hint_take(&over, 1);
	expect(timerthread_stop(tt) == 0);
	expect(shared.runs == TIMERS && shared.sum == sum);
	for (int i = 0; i < POLLERS; i++)
		join(thread[i]);
	timerthread_destroy(tt);
	return 0;
}
