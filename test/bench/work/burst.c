/* SPDX-License-Identifier: MIT */
/*
 * A probe is due every 10 ms; then another thread schedules millions of timers
 * that are an hour away, at full speed.  How late are the probes, before and
 * meanwhile?
 */
#include "config.h"

#include "work.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

enum { PROBES = 100, MOST = 100000, STEP_MS = 10 };

static struct timers timers;
static void *probe_timer;
static int64_t late[MOST], ran_at, burst_ns;
static sem_t ran;
static _Atomic bool burst_over;

static void fire(void *arg)
{
	(void)arg;
	ran_at = now_ns();
	sem_post(&ran);
}

static void probe(size_t i)
{
	int64_t now = now_ns();

	must_schedule(probe_timer, now, STEP_MS * BENCH_MS, fire, NULL);
	while (sem_wait(&ran) != 0)
		;
	late[i] = ran_at - now - STEP_MS * BENCH_MS;
}

static void *burst(void *arg)
{
	int64_t start = now_ns();

	peer_enter();
	for (size_t i = 0; i + 1 < timers.n; i++)
		must_schedule(timer_at(&timers, i), now_ns(), 3600 * BENCH_S,
			      ignore, NULL);
	burst_ns = now_ns() - start;
	peer_leave();
	atomic_store(&burst_over, true);
	return arg;
}

/* Until PROBES/2 after the burst: what it left behind is still worked off. */
static size_t probe_meanwhile(void)
{
	size_t n = 0, after = 0;

	while (n < MOST && after < PROBES / 2) {
		after += atomic_load(&burst_over);
		probe(n++);
	}
	return n;
}

int work_burst(void)
{
	size_t n = (size_t)argument("count", 5000000);
	pthread_t t;
	int r;

	timers = timers_new(n + 1);
	probe_timer = timer_at(&timers, n);
	sem_init(&ran, 0, 0);
	start_peer(2, n + 1, 0);
	peer_enter();
	for (size_t i = 0; i < PROBES; i++)
		probe(i);
	result_percentiles("quiet_", late, PROBES);
	r = pthread_create(&t, NULL, burst, NULL);
	if (r != 0)
		peer_die("a thread", r);
	result_percentiles("late_", late, probe_meanwhile());
	pthread_join(t, NULL);
	result("schedule_ns", (double)burst_ns / (double)n);
	peer_leave();
	peer_stop();
	sem_destroy(&ran);
	timers_free(&timers);
	return 0;
}
