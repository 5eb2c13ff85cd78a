/* SPDX-License-Identifier: MIT */
/*
 * A million timers, each at a random moment within the two seconds after its
 * schedule call, from one thread at full speed, and from two.  The yardstick is
 * how late a bare absolute sleep on another thread ends meanwhile: while as
 * many threads as there are CPUs schedule, the kernel lets any other one wait
 * for milliseconds.
 */
#include "config.h"

#include "bench.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

enum { TIMERS = 1000000, MAX_PROBES = 100000, MAX_THREADS = 2 };

#define LATE 200000

static struct timerthread *tt;
static int64_t deadlines[TIMERS], lates[TIMERS], probes[MAX_PROBES];
static int threads;
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
	struct series p50, p99, p999, most, later, cpu, probe_p99, probe_later;
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

/* Every so-manieth, from *arg on; what is in deadlines so far is the delay. */
static void *schedule_some(void *arg)
{
	for (int64_t *d = arg; d < deadlines + TIMERS; d += threads) {
		*d += now_ns();
		check(timerthread_schedule(tt, *d, fire, d, NULL),
		      "timerthread_schedule");
	}
	return NULL;
}

static void schedule_all(void)
{
	pthread_t t[MAX_THREADS];

	for (int i = 1; i < threads; i++)
		check(-pthread_create(&t[i], NULL, schedule_some,
				      &deadlines[i]),
		      "pthread_create");
	schedule_some(&deadlines[0]);
	for (int i = 1; i < threads; i++)
		pthread_join(t[i], NULL);
}

/* How many of a hundred. */
static double later_than(const int64_t *late, size_t n, int64_t limit)
{
	size_t later = 0;

	for (size_t i = 0; i < n; i++)
		later += late[i] > limit;
	return 100.0 * (double)later / (double)n;
}

static void once(struct million *m)
{
	pthread_t t;
	int64_t start;

	tt = start_timers();
	for (int i = 0; i < TIMERS; i++)
		deadlines[i] = within_two_seconds();
	fired = n_probes = 0;
	over = false;
	check(-pthread_create(&t, NULL, probe, NULL), "pthread_create");
	start = process_cpu_ns();
	schedule_all();
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
	series_add(&m->later, later_than(lates, fired, LATE));
	series_add(&m->probe_p99,
		   (double)percentile(probes, n_probes, 0.99) / 1000);
	series_add(&m->probe_later, later_than(probes, n_probes, LATE));
	m->early += lates[0] < 0;
}

static void measure(const struct bench_options *o, double at_most)
{
	struct million m = {.early = 0};

	srandom(1);
	for (int i = 0; i < (o->quick ? 3 : o->rounds); i++)
		once(&m);
	printf(" from %d thread%s\n", threads, threads > 1 ? "s" : "");
	print_series("bare sleep meanwhile, p99 late", &m.probe_p99, "us");
	print_series("the same, later than 200 us", &m.probe_later, "%");
	print_series("timers, p50 late", &m.p50, "us");
	print_target("timers, p99 late", &m.p99, "us", at_most);
	print_series("timers, later than 200 us", &m.later, "%");
	print_series("timers, p99.9 late", &m.p999, "us");
	print_series("timers, latest", &m.most, "us");
	print_series("CPU a timer, scheduled, slept for and run", &m.cpu, "ns");
	print_figure("rounds with a timer that ran early", m.early, "", 0);
	print_figure("timers that did not run", m.lost, "", 0);
}

void bench_million(const struct bench_options *o)
{
	sem_init(&done, 0, 0);
	threads = 1;
	measure(o, 1000);
	threads = 2;
	measure(o, 200);
	sem_destroy(&done);
}
