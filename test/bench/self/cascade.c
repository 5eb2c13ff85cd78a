/* SPDX-License-Identifier: MIT */
/*
 * Millions of timers whose deadlines are spread over a minute, in no order.  So
 * nearly every block has one of the first that are due, and must be moved then.
 * How late are those that are due every millisecond around that moment?  The
 * yardstick is how late bare sleeps on another thread end meanwhile.
 */
#include "config.h"

#include "bench.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>

#define SPREAD (60 * BENCH_S)

/* Probes are from so long before the first to as long after it. */
#define AROUND (3 * BENCH_S / 2)

/* To schedule all of them takes less. */
#define BEFORE (2 * AROUND + 2 * BENCH_S)

enum { TIMERS = 5000000, PROBES = 3000 };

static int64_t begins, late[PROBES], bare[PROBES];

static void ignore(void *arg)
{
	(void)arg;
}

static int64_t probe_at(int i)
{
	return begins - AROUND + i * BENCH_MS;
}

static void note(void *arg)
{
	int64_t *l = arg;

	*l = now_ns() - probe_at((int)(l - late));
}

static void *sleep_beside(void *arg)
{
	prctl(PR_SET_TIMERSLACK, 1UL);
	for (int i = 0; i < PROBES; i++) {
		sleep_until_ns(probe_at(i));
		bare[i] = now_ns() - probe_at(i);
	}
	return arg;
}

static void schedule_all(struct timerthread *tt, long n)
{
	uint64_t rng = 88172645463325252u;

	for (long i = 0; i < n; i++)
		check(timerthread_schedule(
			      tt,
			      begins + (int64_t)(next_random(&rng) % SPREAD),
			      ignore, NULL, NULL),
		      "timerthread_schedule");
	for (int i = 0; i < PROBES; i++)
		check(timerthread_schedule(tt, probe_at(i), note, &late[i],
					   NULL),
		      "timerthread_schedule");
}

struct cascade {
	struct series p99, most, bare_p99, bare_most;
};

static void once(struct cascade *c, long n)
{
	struct timerthread *tt = start_timers();
	pthread_t t;

	begins = now_ns() + BEFORE;
	schedule_all(tt, n);
	check(-pthread_create(&t, NULL, sleep_beside, NULL), "pthread_create");
	pthread_join(t, NULL);
	sleep_until_ns(begins + AROUND + 100 * BENCH_MS);
	timerthread_destroy(tt);

	series_add(&c->p99, (double)percentile(late, PROBES, 0.99) / 1e3);
	series_add(&c->most, (double)late[PROBES - 1] / 1e3);
	series_add(&c->bare_p99, (double)percentile(bare, PROBES, 0.99) / 1e3);
	series_add(&c->bare_most, (double)bare[PROBES - 1] / 1e3);
}

void bench_cascade(const struct bench_options *o)
{
	struct cascade c = {.p99 = {.n = 0}};
	long n = o->quick ? TIMERS / 10 : TIMERS;
	int rounds = o->quick ? 1 : 3;

	for (int i = 0; i < rounds; i++)
		once(&c, n);
	printf(" %ld timers\n", n);
	print_series("bare sleeps, p99 late", &c.bare_p99, "us");
	print_series("bare sleeps, the latest", &c.bare_most, "us");
	print_series("timers, p99 late", &c.p99, "us");
	print_series("timers, the latest", &c.most, "us");
}
