/* SPDX-License-Identifier: MIT */
/*
 * After a stop, or a destroy, main reads and frees what callbacks wrote.
 */
#include "team.h"

enum {
	TIMERS = 60,
};

static struct hint begun;
static int *written[TIMERS];
static int result[TEAM];

static void write_new(void *arg)
{
	int **p = arg;

	*p = malloc(sizeof(**p));
	expect(*p != NULL);
	**p = (int)(p - written);
	hint_give(&begun);
	nap();
}

static void begin(struct timerthread *tt)
{
	for (int i = 0; i < TIMERS; i++)
		expect(timerthread_schedule(tt, 0, write_new, &written[i],
					    NULL) == 0);
}

/* Of those that were running, or over, when it stopped. */
static void end(struct timerthread *tt, bool stop)
{
	int n = 0;

	hint_take(&begun, 6);
	if (stop)
		expect(timerthread_stop(tt) == 0);
	else
		timerthread_destroy(tt);
	for (int i = 0; i < TIMERS; i++) {
		if (!written[i])
			continue;
		expect(*written[i] == i);
		free(written[i]);
		written[i] = NULL;
		n++;
	}
	expect(n >= 6);
	hint_take(&begun, n - 6);
	if (stop)
		timerthread_destroy(tt);
}

static void try(struct team *team, bool stop)
{
	struct timerthread *tt = create_with(team);

	begin(tt);
	end(tt, stop);
}

static void write_result(void *arg)
{
	*(int *)arg = 1;
	hint_give(&begun);
}

/* One for each thread, and all are over by then, though nobody has said so. */
static void try_over(struct team *team)
{
	struct timerthread *tt = create_with(team);

	for (int i = 0; i < TEAM; i++)
		expect(timerthread_schedule(tt, 0, write_result, &result[i],
					    NULL) == 0);
	hint_take(&begun, TEAM);
	nap();
	expect(timerthread_stop(tt) == 0);
	for (int i = 0; i < TEAM; i++)
		expect(result[i] == 1);
	timerthread_destroy(tt);
}

static void *dispatch(void *arg)
{
	expect(timerthread_dispatch(arg) > 0);
	return NULL;
}

static void try_polled(bool stop)
{
	struct timerthread *tt = create();
	pthread_t thread;
	int fd;

	expect(timerthread_start_polled(tt, &fd) == 0);
	begin(tt);
	thread = spawn(dispatch, tt);
	end(tt, stop);
	join(thread);
}

int main(void)
{
	static struct team team;

	hint_open(&begun);
	for (int stop = 0; stop < 2; stop++) {
		try(NULL, stop);
		try_polled(stop);
	}
	team_open(&team);
	for (int stop = 0; stop < 2; stop++)
		try(&team, stop);
	try_over(&team);
	team_close(&team);
	hint_close(&begun);
	return 0;
}
