/* SPDX-License-Identifier: MIT */
/*
 * One thread schedules, cancels and reads what callbacks wrote; another one
 * advances the clock.
 */
#include "guest.h"

enum {
	TIMERS = 100,
};

static struct timerthread *tt;
static int runs; /* of the callbacks */

struct box {
	timerthread_id id;
	int value;
};

static void change(void *arg)
{
	struct box *b = arg;

	b->value *= 2;
	runs++;
}

static void *schedule(void *arg)
{
	struct box box[TIMERS];
	int cancelled = 0;

	(void)arg;
	for (int i = 0; i < TIMERS; i++) {
		box[i].value = i;
		expect(timerthread_schedule_after(tt, i % 8, change, &box[i],
						  &box[i].id) == 0);
	}
	for (int i = 0; i < TIMERS; i += 4)
		cancelled += timerthread_cancel_wait(tt, box[i].id) == 0;
	for (int i = 0; i < TIMERS; i++) {
		wait_until_over(tt, box[i].id);
		expect(box[i].value == 2 * i || i % 4 == 0);
	}
	expect(timerthread_stop(tt) == 0);
	expect(runs == TIMERS - cancelled);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	int r;

	tt = create();
	expect(timerthread_start_virtual(tt, 0) == 0);
	thread = spawn(schedule, NULL);
	do {
		r = timerthread_advance(tt, 1);
		nap();
	} while (r >= 0);
	expect(r == -ESHUTDOWN);
	join(thread);
	timerthread_destroy(tt);
	return 0;
}
