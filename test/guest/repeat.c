/* SPDX-License-Identifier: MIT */
/*
 * One run of a timer is before the next, on whatever threads: of a periodic
 * timer, and of one that its callback reschedules.
 */
#include "team.h"

enum {
	RUNS = 60,
};

struct repeated {
	struct timerthread *tt;
	timerthread_id id;
	pthread_t last; /* whose run it was */
	int n, changes; /* of the thread */
};

static struct hint over;

/* The last one says so. */
static bool count(struct repeated *r)
{
	if (r->n > 0 && !pthread_equal(r->last, pthread_self()))
		r->changes++;
	r->last = pthread_self();
	r->n++;
	if (r->n == RUNS)
		hint_give(&over);
	return r->n < RUNS;
}

static void again(void *arg)
{
	struct repeated *r = arg;
	timerthread_id id;

	expect(timerthread_get_current(NULL, &id) == 0 && id == r->id);
	if (count(r))
		expect(timerthread_reschedule_after(r->tt, id, 0) == 0);
}

static void periodic(void *arg)
{
	(void)count(arg);
}

static void try(struct team *team)
{
	struct timerthread *tt = create_with(team);
	struct repeated a = {.tt = tt}, b = {.tt = tt};

	expect(timerthread_schedule(tt, 0, again, &a, &a.id) == 0);
	expect(timerthread_schedule_every(tt, timerthread_now(tt),
					  20 * TIMERTHREAD_USEC, periodic, &b,
					  &b.id) == 0);
	hint_take(&over, 2);
	expect(timerthread_cancel_wait(tt, b.id) >= 0);
	wait_until_over(tt, a.id);
	expect(a.n == RUNS && b.n >= RUNS);
	expect(team ? a.changes > 0 && b.changes > 0
		    : a.changes == 0 && b.changes == 0);
	timerthread_destroy(tt);
}

int main(void)
{
	static struct team team;

	hint_open(&over);
	try(NULL);
	team_open(&team);
	try(&team);
	team_close(&team);
	hint_close(&over);
	return 0;
}
