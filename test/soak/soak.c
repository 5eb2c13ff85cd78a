/* SPDX-License-Identifier: MIT */
/*
 * Hours at full load: does the memory stay flat, and is what fires in time?
 *
 *	soak [SECONDS [THREADS]]
 *
 * Each thread keeps 20,000 timers with timeouts between a millisecond and a
 * minute, all sizes equally often; each step ends the oldest, by a cancel, and
 * schedules another; some are rescheduled, and one in a thousand is left to
 * expire.  A thread ends after a million steps, and another takes its place.
 *
 * A line for each interval: what the kernel and the library say of memory,
 * timers, and lateness, which is mostly that of getting a CPU.  At the end it
 * compares the last half of the lines with the first, but for the first tenth.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <timerthread.h>
#include <unistd.h>

enum { RING = 20000, STEPS = 1000000, LINES = 120 };

#define MS     INT64_C(1000000)
#define SECOND (1000 * MS)

static struct timerthread *tt;
static atomic_bool over;
static _Atomic uint64_t fired, failures;

static void count(void *arg)
{
	(void)arg;
	atomic_fetch_add_explicit(&fired, 1, memory_order_relaxed);
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Between 1 ms and a minute. */
static int64_t timeout(uint64_t *rng)
{
	uint64_t octave = next_random(rng) % 16;
	uint64_t ns = (uint64_t)MS << octave;

	ns += next_random(rng) % ns;
	return (int64_t)(ns < 60 * SECOND ? ns : 60 * SECOND);
}

static void step(timerthread_id *id, uint64_t *rng)
{
	uint64_t dice = next_random(rng) % 1024;

	if (dice > 0)
		timerthread_cancel(tt, *id);
	if (timerthread_schedule_after(tt, timeout(rng), count, NULL, id) != 0)
		atomic_fetch_add(&failures, 1);
	if (dice % 8 == 1)
		timerthread_reschedule_after(tt, *id, timeout(rng));
}

/* One thread's life. */
static void *work(void *arg)
{
	timerthread_id *ring = calloc(RING, sizeof(*ring));
	uint64_t *rng = arg;

	if (!ring)
		abort();
	for (size_t i = 0; i < STEPS && !atomic_load(&over); i++)
		step(&ring[i % RING], rng);
	for (size_t i = 0; i < RING; i++)
		timerthread_cancel(tt, ring[i]);
	free(ring);
	return NULL;
}

static void *work_again(void *arg)
{
	uint64_t rng = (uintptr_t)arg;
	pthread_t t;

	while (!atomic_load(&over)) {
		if (pthread_create(&t, NULL, work, &rng) != 0)
			abort();
		pthread_join(t, NULL);
	}
	return NULL;
}

/* What is in memory, in KiB. */
static uint64_t resident(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	uint64_t pages = 0;

	if (!f || fscanf(f, "%*u %" SCNu64, &pages) != 1)
		abort();
	fclose(f);
	return pages * ((uint64_t)sysconf(_SC_PAGESIZE) / 1024);
}

static uint64_t stat_of(enum timerthread_stat which)
{
	uint64_t value = 0;

	if (timerthread_get_stat(tt, which, &value) != 0)
		abort();
	return value;
}

static struct timerthread_snapshot *snapshot(void)
{
	struct timerthread_snapshot *s;

	if (timerthread_take_snapshot(tt, &s) != 0)
		abort();
	return s;
}

static double lateness(const struct timerthread_snapshot *now,
		       const struct timerthread_snapshot *before, double q)
{
	int64_t ns = 0;

	timerthread_get_quantile(now, before, TIMERTHREAD_HISTOGRAM_LATENESS, q,
				 &ns);
	return (double)ns / 1000;
}

/* One line of the table. */
static uint64_t report(double seconds, struct timerthread_snapshot **before)
{
	struct timerthread_snapshot *now = snapshot();
	uint64_t kib = resident();

	printf("%8.0f %10" PRIu64 " %10" PRIu64 " %9" PRIu64 " %9" PRIu64
	       " %8.1f %10" PRIu64 " %9.1f %9.1f\n",
	       seconds, kib, stat_of(TIMERTHREAD_STAT_BYTES) / 1024,
	       stat_of(TIMERTHREAD_STAT_PENDING),
	       stat_of(TIMERTHREAD_STAT_DEAD),
	       (double)stat_of(TIMERTHREAD_STAT_SCHEDULED) / 1e6,
	       atomic_load(&fired), lateness(now, *before, 0.5),
	       lateness(now, *before, 0.99));
	fflush(stdout);
	timerthread_free_snapshot(*before);
	*before = now;
	return kib;
}

static uint64_t most(const uint64_t *kib, int begin, int end)
{
	uint64_t m = 0;

	for (int i = begin; i < end; i++)
		m = kib[i] > m ? kib[i] : m;
	return m;
}

static void sleep_for(double seconds)
{
	struct timespec t = {(time_t)seconds, 0};

	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
}

static bool watch(double seconds)
{
	struct timerthread_snapshot *before = snapshot();
	uint64_t kib[LINES], early, late;

	puts(" seconds  RSS, KiB  own, KiB   pending      dead  million "
	     "     fired  late p50  late p99, us");
	for (int i = 0; i < LINES; i++) {
		sleep_for(seconds / LINES);
		kib[i] = report(seconds * (i + 1) / LINES, &before);
	}
	timerthread_free_snapshot(before);
	early = most(kib, LINES / 10, LINES / 2);
	late = most(kib, LINES / 2, LINES);
	printf("most memory: %" PRIu64 " KiB in the first half, %" PRIu64
	       " KiB in the second: %+.1f %%; calls that failed: %" PRIu64 "\n",
	       early, late, 100.0 * ((double)late / (double)early - 1),
	       atomic_load(&failures));
	return late <= early + early / 10;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 60;
	int n = argc > 2 ? atoi(argv[2]) : 4;
	bool flat;
	pthread_t *t = n > 0 ? calloc((size_t)n, sizeof(*t)) : NULL;

	if (seconds <= 0 || !t) {
		fprintf(stderr, "usage: soak [SECONDS [THREADS]]\n");
		return 2;
	}
	if (timerthread_create(&tt) != 0 || timerthread_start(tt, NULL) != 0)
		return 1;
	for (int i = 0; i < n; i++) {
		if (pthread_create(&t[i], NULL, work_again,
				   (void *)(uintptr_t)(i + 1)) != 0)
			return 1;
	}
	flat = watch(seconds);
	atomic_store(&over, true);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	free(t);
	timerthread_destroy(tt);
	return !flat || atomic_load(&failures) != 0;
}
