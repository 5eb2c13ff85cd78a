/* SPDX-License-Identifier: MIT */
/*
 * A million timers, each at a random moment within the two seconds after its
 * schedule call, from one thread at full speed.  The yardstick is how late a
 * bare absolute sleep on another thread ends meanwhile.
 */
#include "config.h"

#include "bench.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

enum { TIMERS = 1000000, MAX_PROBES = 100000 };

static int64_t deadlines[TIMERS], lates[TIMERS], probes[MAX_PROBES];
static size_t fired, n_probes;
static _Atomic bool over;
static sem_t done;

static void fire(void *arg)
{
	lates[fired++] = now_ns() - *(int64_t *)arg;
}

static void finish(void *arg)
{
	sem_post(arg);
}

static void *probe(void *arg)
{
	prctl(PR_SET_TIMERSLACK, 1UL);
	while (!over && n_probes < MAX_PROBES) {
		int64_t at = now_ns() + BENCH_MS;

		sleep_until_ns(at);
		probes[n_probes++] = now_ns() - at;
	}
	return arg;
}

struct million {
	struct series p50, p99, p999, most, cpu, probe_p99;
	unsigned early, lost;
};

/* random() is below 2^31, a little above 2 s in nanoseconds. */
static int64_t within_two_seconds(void)
{
	int64_t r;

	do
		r = random();
	while (r >= 2 * BENCH_S);
	return r;
}

static void once(struct million *m)
{
	struct timerthread *tt = start_timers();
	int64_t start = process_cpu_ns();
	pthread_t t;

	fired = n_probes = 0;
	over = false;
	check(-pthread_create(&t, NULL, probe, NULL), "pthread_create");
	for (int i = 0; i < TIMERS; i++) {
		deadlines[i] = now_ns() + within_two_seconds();
		check(timerthread_schedule(tt, deadlines[i], fire,
					   &deadlines[i], NULL),
		      "timerthread_schedule");
	}
	check(timerthread_schedule_after(tt, 2 * BENCH_S, finish, &done, NULL),
	      "timerthread_schedule_after");
	sem_wait(&done);
	series_add(&m->cpu, (double)(process_cpu_ns() - start) / TIMERS);
	over = true;
	pthread_join(t, NULL);
	timerthread_destroy(tt);

	m->lost += TIMERS - fired;
	series_add(&m->p50, (double)percentile(lates, fired, 0.5) / 1000);
	series_add(&m->p99, (double)percentile(lates, fired, 0.99) / 1000);
	series_add(&m->p999, (double)percentile(lates, fired, 0.999) / 1000);
	series_add(&m->most, (double)lates[fired - 1] / 1000);
	series_add(&m->probe_p99,
		   (double)percentile(probes, n_probes, 0.99) / 1000);
	m->early += lates[0] < 0;
}

void bench_million(const struct bench_options *o)
{
	struct million m = {.early = 0};

	sem_init(&done, 0, 0);
	srandom(1);
	for (int i = 0; i < (o->quick ? 3 : o->rounds); i++)
		once(&m);
	sem_destroy(&done);
	print_series("bare sleep meanwhile, p99 late", &m.probe_p99, "us");
	print_series("timers, p50 late", &m.p50, "us");
	print_target("timers, p99 late", &m.p99, "us", 1000);
	print_series("timers, p99.9 late", &m.p999, "us");
	print_series("timers, latest", &m.most, "us");
	print_series("CPU a timer, scheduled, slept for and run", &m.cpu, "ns");
	print_figure("rounds with a timer that ran early", m.early, "", 0);
	print_figure("timers that did not run", m.lost, "", 0);
}
