/* SPDX-License-Identifier: MIT */
/*
 * How often the timer thread wakes for requests that all finish in time:
 * 20,000 a second, timeout 100 ms, each cancelled after 1 ms.  The yardstick
 * is one wake-up a timeout, ten a second.
 */
#include "config.h"

#include "bench.h"

#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { A_MS = 20 };

static pid_t tid;
static sem_t known;

static void ignore(void *arg)
{
	(void)arg;
}

static void tell_tid(void *arg)
{
	(void)arg;
	tid = gettid();
	sem_post(&known);
}

/* How often the timer thread went to sleep so far. */
static long sleeps(void)
{
	char line[128];
	long n = -1;
	FILE *f;

	snprintf(line, sizeof(line), "/proc/self/task/%d/status", (int)tid);
	f = fopen(line, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1)
			break;
	}
	if (f)
		fclose(f);
	check(n < 0 ? -ENOENT : 0, "the timer thread's status in /proc");
	return n;
}

void bench_wakeups(const struct bench_options *o)
{
	timerthread_id id[A_MS] = {0};
	struct timerthread *tt = start_timers();
	int64_t seconds = o->quick ? 5 : 20, start, at;
	long before, failed = 0;

	sem_init(&known, 0, 0);
	check(timerthread_schedule(tt, 0, tell_tid, NULL, NULL),
	      "timerthread_schedule");
	sem_wait(&known);
	before = sleeps();
	start = now_ns();
	for (at = start; at < start + seconds * BENCH_S; at += BENCH_MS) {
		struct timespec t = {at / BENCH_S, at % BENCH_S};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		for (int i = 0; i < A_MS; i++) {
			if (id[i] && timerthread_cancel(tt, id[i]) != 0)
				failed++;
			check(timerthread_schedule_after(tt, 100 * BENCH_MS,
							 ignore, NULL, &id[i]),
			      "timerthread_schedule_after");
		}
	}
	print_figure("wake-ups of the timer thread",
		     (double)(sleeps() - before) / (double)seconds, "a second",
		     20);
	print_figure("failed cancels", (double)failed, "", 0);
	timerthread_destroy(tt);
	sem_destroy(&known);
}
