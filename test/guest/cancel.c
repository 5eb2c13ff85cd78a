/* SPDX-License-Identifier: MIT */
/*
 * Who cancels owns what it gets: the argument of a timer that will not run, or
 * what a callback wrote that is over.
 */
#include "team.h"

enum {
	TIMERS = 50,
};

static struct timerthread *tt;

static void add(void *arg)
{
	++*(int *)arg;
}

static int *new_int(int value)
{
	int *p = malloc(sizeof(*p));

	expect(p != NULL);
	*p = value;
	return p;
}

/* On one thread; the slots that become free are used again. */
static void cancel_own(void)
{
	timerthread_id id;

	for (int i = 0; i < TIMERS; i++) {
		int *p = new_int(i);

		expect(timerthread_schedule_after(tt, HOUR, add, p, &id) == 0);
		expect(timerthread_cancel(tt, id) == 0);
		expect(*p == i);
		free(p);
	}
}

/* Before it runs, while it does, or after that. */
static void cancel_and_wait(void)
{
	for (int i = 0; i < TIMERS; i++) {
		int64_t delay = i % 2 * TIMERTHREAD_MSEC / 4;
		int *p = new_int(0);
		timerthread_id id;
		int r;

		expect(timerthread_schedule_after(tt, delay, add, p, &id) == 0);
		if (i % 4 == 3)
			nap();
		r = timerthread_cancel_wait(tt, id);
		expect(r == 0 ? *p == 0 : *p == 1);
		free(p);
	}
}

/* A periodic timer's argument is who cancels it's, after 0 and after 1. */
static void cancel_periodic(void)
{
	for (int i = 0; i < TIMERS / 4; i++) {
		int *p = new_int(0);
		timerthread_id id;

		expect(timerthread_schedule_every(tt, 0, 100 * TIMERTHREAD_USEC,
						  add, p, &id) == 0);
		nap();
		expect(timerthread_cancel_wait(tt, id) >= 0);
		expect(*p >= 0);
		free(p);
	}
}

static void *schedule_for(void *arg)
{
	const struct hint *h = arg;

	for (int i = 0; i < TIMERS; i++) {
		timerthread_id id;

		expect(timerthread_schedule_after(tt, HOUR, add, new_int(i),
						  &id) == 0);
		hint_give_value(h, id);
	}
	return NULL;
}

/* Who takes it knows the id alone. */
static void take(void)
{
	struct hint h;
	pthread_t thread;

	hint_open(&h);
	thread = spawn(schedule_for, &h);
	for (int i = 0; i < TIMERS; i++) {
		timerthread_id id = hint_take_value(&h);
		void *p;

		expect(timerthread_cancel_take(tt, id, &p) == 0);
		expect(*(int *)p == i);
		free(p);
		expect(timerthread_cancel_take(tt, id, &p) == -ENOENT);
	}
	join(thread);
	hint_close(&h);
}

static void try(struct team *team)
{
	tt = create_with(team);
	cancel_own();
	cancel_and_wait();
	cancel_periodic();
	take();
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
