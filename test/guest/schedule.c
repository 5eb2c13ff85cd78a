/* SPDX-License-Identifier: MIT */
/*
 * Who schedules writes what the callback reads, and reads what that wrote, once
 * the library has said that the timer is over.
 */
#include "team.h"

enum {
	THREADS = 3,
	TIMERS = 20,
};

struct box {
	timerthread_id id;
	int value;
};

static struct timerthread *tt;

static void change(void *arg)
{
	struct box *b = arg;

	b->value *= 2;
}

static void *use(void *arg)
{
	struct box box[TIMERS];

	(void)arg;
	for (int i = 0; i < TIMERS; i++) {
		struct box *b = &box[i];
		int64_t delay = i % 4 * TIMERTHREAD_MSEC;

		b->value = i;
		expect(timerthread_schedule_after(tt, delay, change, b,
						  &b->id) == 0);
	}
	for (int i = 0; i < TIMERS; i++) {
		wait_until_over(tt, box[i].id);
		expect(box[i].value == 2 * i);
	}
	return NULL;
}

static void try(struct team *team)
{
	pthread_t thread[THREADS];

	tt = create_with(team);
	for (int i = 0; i < THREADS; i++)
		thread[i] = spawn(use, NULL);
	for (int i = 0; i < THREADS; i++)
		join(thread[i]);
	timerthread_destroy(tt);
}

int main(void)
{
	static struct team team;

	try(NULL);
	team_open(&team);
	try(&team);
	team_close(&team);
	return 0;
}
