/* SPDX-License-Identifier: MIT */
/*
 * An executor that tells its tasks apart: who asks from within a callback, and
 * who from without.
 */
#include "team.h"

static struct hint over;

/* One task a thread; main is in none. */
static _Thread_local uintptr_t task;

static uintptr_t task_id(void *ctx)
{
	(void)ctx;
	return task;
}

struct box {
	struct timerthread *tt;
	timerthread_id id;
	int n;
};

static void change(void *arg)
{
	struct timerthread *tt;
	struct box *b = arg;
	timerthread_id id;

	expect(timerthread_get_current(&tt, &id) == 0);
	expect(tt == b->tt && id == b->id);
	expect(timerthread_cancel_wait(tt, id) == -EDEADLK);
	b->n++;
}

static void run_as_task(void *arg)
{
	struct job *job = arg;

	task = (uintptr_t)job;
	job->run(job->arg);
	task = 0;
	free(job);
}

static int submit(void *ctx, timerthread_fn *run, void *arg)
{
	struct job *job = malloc(sizeof(*job));

	expect(job != NULL);
	*job = (struct job){run, arg};
	if (team_submit(ctx, run_as_task, job) == 0)
		return 0;
	free(job);
	return -1;
}

int main(void)
{
	static struct team team;
	static struct box box[20];
	struct timerthread *tt = create();

	hint_open(&over);
	team_open(&team);
	expect(timerthread_set_executor(tt, submit, &team) == 0);
	expect(timerthread_set_task_id(tt, task_id, NULL) == 0);
	expect(timerthread_start(tt, NULL) == 0);
	for (int i = 0; i < 20; i++) {
		box[i].tt = tt;
		expect(timerthread_schedule_after(tt, i % 3 * TIMERTHREAD_MSEC,
						  change, &box[i],
						  &box[i].id) == 0);
	}
	for (int i = 0; i < 20; i++) {
		wait_until_over(tt, box[i].id);
		expect(box[i].n == 1);
	}
	timerthread_destroy(tt);
	team_close(&team);
	hint_close(&over);
	return 0;
}
