/* SPDX-License-Identifier: MIT */
/*
 * Five million timers, an hour ahead and more, are cancelled; how late is one
 * that is due just then, and those that are due every millisecond while the
 * timer thread finds what was cancelled?  And what is left in memory?
 */
#include "config.h"

#include "bench.h"

#include <errno.h>
#include <malloc.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMERS = 5000000, PROBES = 500 };

static sem_t ran;
static int64_t ran_at;

static void ignore(void *arg)
{
	(void)arg;
}

static void note(void *arg)
{
	(void)arg;
	ran_at = now_ns();
	sem_post(&ran);
}

/* How late a timer is. */
static int64_t probe(struct timerthread *tt)
{
	int64_t at = now_ns() + BENCH_MS;

	check(timerthread_schedule(tt, at, note, NULL, NULL),
	      "timerthread_schedule");
	while (sem_wait(&ran) != 0)
		;
	return ran_at - at;
}

static void schedule_all(struct timerthread *tt, timerthread_id *id, long n)
{
	uint64_t rng = 88172645463325252u;

	for (long i = 0; i < n; i++) {
		int64_t ahead = 3600 * BENCH_S +
				(int64_t)(next_random(&rng) % 3600000000000u);

		check(timerthread_schedule_after(tt, ahead, ignore, NULL,
						 &id[i]),
		      "timerthread_schedule_after");
	}
	/* The timer thread has fetched what it is going to fetch. */
	sleep_until_ns(now_ns() + BENCH_S);
}

struct cancelled {
	struct series first, p99, most, cancel, left;
};

static void once(struct cancelled *c, long n)
{
	struct timerthread *tt = start_timers();
	timerthread_id *id = malloc((size_t)n * sizeof(*id));
	int64_t late[PROBES], start;
	long before;

	check(id ? 0 : -ENOMEM, "malloc");
	for (long i = 0; i < n; i++)
		id[i] = 0; /* there, when memory is measured */
	before = resident_bytes();
	schedule_all(tt, id, n);
	start = now_ns();
	for (long i = 0; i < n; i++)
		check(timerthread_cancel(tt, id[i]), "timerthread_cancel");
	series_add(&c->cancel, (double)(now_ns() - start) / 1e6);
	for (int i = 0; i < PROBES; i++)
		late[i] = probe(tt);
	series_add(&c->first, (double)late[0] / 1e3);
	series_add(&c->p99, (double)percentile(late, PROBES, 0.99) / 1e3);
	series_add(&c->most, (double)late[PROBES - 1] / 1e3);
	/* What the C library holds back is not the timers'. */
#ifdef __GLIBC__
	malloc_trim(0);
#endif
	series_add(&c->left,
		   (double)(resident_bytes() - before) / (double)n - 64);
	timerthread_destroy(tt);
	free(id);
}

void bench_cancelled(const struct bench_options *o)
{
	struct cancelled c = {.first = {.n = 0}};
	long n = o->quick ? TIMERS / 10 : TIMERS;
	int rounds = o->rounds < 5 ? o->rounds : 5;

	sem_init(&ran, 0, 0);
	for (int i = 0; i < rounds; i++)
		once(&c, n);
	sem_destroy(&ran);
	printf(" %ld timers\n", n);
	print_series("to cancel them", &c.cancel, "ms");
	print_target("late, the first one due", &c.first, "us", 1000);
	print_series("late, p99 of 500 within a second", &c.p99, "us");
	print_series("late, the latest of those", &c.most, "us");
	print_series("left in memory, less 64 bytes a slot", &c.left,
		     "bytes a timer");
}
