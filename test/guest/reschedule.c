/* SPDX-License-Identifier: MIT */
/*
 * What was written before a reschedule is there for the callback: to an earlier
 * time, a later one, and of a timer that an executor has by now.  Another
 * thread reschedules than scheduled, and a third one runs it.
 */
#include "guest.h"

static struct timerthread *tt;
static struct hint its_turn, main_turn;

static struct {
	timerthread_fn *run;
	void *arg;
} submitted;

struct box {
	timerthread_id id;
	int64_t deadline; /* it is rescheduled to that */
	int first, second;
	bool ran;
};

static void check(void *arg)
{
	struct box *b = arg;

	expect(b->first == 1 && b->second == 2);
	b->ran = true;
}

static int keep(void *ctx, timerthread_fn *run, void *arg)
{
	(void)ctx;
	submitted.run = run;
	submitted.arg = arg;
	return 0;
}

static void *schedule(void *arg)
{
	struct box *b = arg;

	b->first = 1;
	expect(timerthread_schedule(tt, 100, check, b, &b->id) == 0);
	return NULL;
}

static void *reschedule(void *arg)
{
	struct box *b = arg;

	hint_take(&its_turn, 1);
	b->second = 2;
	expect(timerthread_reschedule(tt, b->id, b->deadline) == 0);
	hint_give(&main_turn);
	return NULL;
}

/* Who runs it is main; its clock shows `now` when the timer is rescheduled. */
static void try(bool executor, int64_t now, int64_t deadline)
{
	struct box b = {.deadline = deadline};
	pthread_t thread;

	tt = create();
	if (executor)
		expect(timerthread_set_executor(tt, keep, NULL) == 0);
	expect(timerthread_start_virtual(tt, 0) == 0);
	join(spawn(schedule, &b));
	thread = spawn(reschedule, &b);
	expect(timerthread_advance(tt, now) == (now >= 100));
	hint_give(&its_turn);
	hint_take(&main_turn, 1);
	if (executor && now >= 100)
		submitted.run(submitted.arg);
	else
		expect(timerthread_advance(tt, 1000) == 1);
	expect(b.ran);
	join(thread);
	timerthread_destroy(tt);
}

static void now_and_then(void *arg)
{
	++*(int *)arg;
}

/* With a timer thread, and delays. */
static void try_thread(void)
{
	timerthread_id id;
	int n = 0;

	tt = create_started();
	for (int64_t delay = -1; delay < 3; delay++) {
		int old = n;

		expect(timerthread_schedule_after(tt, HOUR, now_and_then, &n,
						  &id) == 0);
		n *= 2;
		expect(timerthread_reschedule_after(tt, id, 2 * HOUR) == 0);
		n += 3;
		expect(timerthread_reschedule_after(
			       tt, id, delay * TIMERTHREAD_MSEC) == 0);
		wait_until_over(tt, id);
		expect(n == 2 * old + 4);
	}
	timerthread_destroy(tt);
}

int main(void)
{
	hint_open(&its_turn);
	hint_open(&main_turn);
	try(false, 50, 60);
	try(false, 50, 500);
	try(false, 50, 0);
	try(true, 100, 0);
	try_thread();
	return 0;
}
