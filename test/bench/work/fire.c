/* SPDX-License-Identifier: MIT */
/*
 * Timers that all expire: each at a random moment within the two seconds after
 * it was scheduled, from one thread or several at full speed.
 */
#include "config.h"

#include "work.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct record {
	int64_t deadline, ran;
	_Atomic int runs;
};

static struct timers timers;
static struct record *records;
static long threads;

static void fire(void *arg)
{
	struct record *r = arg;

	r->ran = now_ns();
	atomic_fetch_add_explicit(&r->runs, 1, memory_order_relaxed);
}

/* Every so-manieth, from this one on. */
static void *schedule_some(void *arg)
{
	const size_t first = (size_t)(intptr_t)arg;
	uint64_t rng = 88172645463325252u + first;

	peer_enter();
	for (size_t i = first; i < timers.n; i += (size_t)threads) {
		int64_t now = now_ns();
		int64_t delay =
			(int64_t)(next_random(&rng) % (uint64_t)(2 * BENCH_S));

		records[i].deadline = now + delay;
		must_schedule(timer_at(&timers, i), now, delay, fire,
			      &records[i]);
	}
	peer_leave();
	return NULL;
}

static int64_t schedule_all(void)
{
	pthread_t t[64];

	for (long i = 0; i < threads; i++) {
		int r = pthread_create(&t[i], NULL, schedule_some,
				       (void *)(intptr_t)i);

		if (r != 0)
			peer_die("a thread", r);
	}
	for (long i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	return now_ns();
}

static bool all_ran(void)
{
	for (size_t i = 0; i < timers.n; i++) {
		if (atomic_load_explicit(&records[i].runs,
					 memory_order_acquire) == 0)
			return false;
	}
	return true;
}

static void report(void)
{
	int64_t *late = malloc(timers.n * sizeof(*late));
	double lost = 0, early = 0, twice = 0;
	size_t n = 0;

	if (!late)
		peer_die("memory for results", ENOMEM);
	for (size_t i = 0; i < timers.n; i++) {
		lost += records[i].runs == 0;
		twice += records[i].runs > 1;
		if (records[i].runs == 0)
			continue;
		late[n] = records[i].ran - records[i].deadline;
		early += late[n++] < 0;
	}
	result_percentiles("late_", late, n);
	result("earliest", (double)late[0]);
	result("early", early);
	result("lost", lost);
	result("twice", twice);
	free(late);
}

int work_fire(void)
{
	size_t n = (size_t)argument("count", 1000000);
	int64_t cpu, end;

	threads = (long)argument("threads", 1);
	if (threads < 1 || threads > 64)
		peer_die("threads", EINVAL);
	timers = timers_new(n);
	records = calloc(n, sizeof(*records));
	if (!records)
		peer_die("memory for records", ENOMEM);
	memset(records, 0, n * sizeof(*records));
	start_peer((int)threads, n, 0);
	cpu = process_cpu_ns();
	end = schedule_all();
	sleep_until_ns(end + 2 * BENCH_S + 5 * BENCH_MS);
	result("cpu_ns", (double)(process_cpu_ns() - cpu) / (double)n);
	/* Late ones still count, as late; what takes longer is lost. */
	for (int i = 0; i < 100 && !all_ran(); i++)
		sleep_until_ns(now_ns() + 100 * BENCH_MS);
	peer_stop();
	report();
	free(records);
	timers_free(&timers);
	return 0;
}
