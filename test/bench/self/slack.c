/* SPDX-License-Identifier: MIT */
/*
 * Wake-ups that slack saves: 2,000 timers that fire at random times within two
 * seconds, without slack and with 10 ms.  How late they are is told against
 * their deadlines; with slack at most that and the kernel's own.
 */
#include "config.h"

#include "bench.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMERS = 2000, SECONDS = 2 };

struct timed {
	struct timerthread *tt;
	int64_t deadline;
	int64_t late;
	sem_t *over;
};

static struct timed timers[TIMERS];

static void note(void *arg)
{
	struct timed *t = arg;

	t->late = timerthread_now(t->tt) - t->deadline;
	sem_post(t->over);
}

static struct timerthread *start_with(int64_t slack)
{
	struct timerthread *tt;

	check(timerthread_create(&tt), "timerthread_create");
	check(timerthread_set_slack(tt, slack), "timerthread_set_slack");
	check(timerthread_start(tt, NULL), "timerthread_start");
	return tt;
}

/* Wake-ups; and how late the latest was, or how early the earliest. */
static long fire_all(struct timerthread *tt, int64_t *ret_latest,
		     int64_t *ret_earliest)
{
	int64_t base = timerthread_now(tt) + BENCH_S / 10;
	static int64_t late[TIMERS];
	struct sleeps w;
	sem_t over;
	long before;

	sem_init(&over, 0, 0);
	watch_sleeps(&w, tt);
	before = sleeps(&w);
	for (int i = 0; i < TIMERS; i++) {
		timers[i] = (struct timed){
			tt, base + random() % (SECONDS * BENCH_S), 0, &over};
		check(timerthread_schedule(tt, timers[i].deadline, note,
					   &timers[i], NULL),
		      "timerthread_schedule");
	}
	for (int i = 0; i < TIMERS; i++) {
		while (sem_wait(&over) != 0)
			;
	}
	sem_destroy(&over);
	for (int i = 0; i < TIMERS; i++)
		late[i] = timers[i].late;
	*ret_latest = percentile(late, TIMERS, 1);
	*ret_earliest = late[0];
	return sleeps(&w) - before;
}

static void with_slack(const struct bench_options *o, int64_t slack)
{
	struct series wakeups = {.n = 0}, latest = {.n = 0};
	int64_t early = 0;

	for (int i = 0; i < (o->quick ? 1 : 3); i++) {
		struct timerthread *tt = start_with(slack);
		int64_t late, first;

		series_add(&wakeups, (double)fire_all(tt, &late, &first));
		series_add(&latest, (double)late / (double)BENCH_MS);
		early += first < 0;
		timerthread_destroy(tt);
	}
	printf(" slack %.0f ms\n", (double)slack / (double)BENCH_MS);
	print_series("wake-ups for 2,000 timers in 2 s", &wakeups, "");
	print_series("the latest of them", &latest, "ms late");
	print_figure("rounds with a timer that ran early", (double)early, "",
		     0);
}

void bench_slack(const struct bench_options *o)
{
	with_slack(o, 0);
	with_slack(o, 10 * BENCH_MS);
}
