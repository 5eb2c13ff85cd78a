/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* RUSAGE_THREAD */
#include "rpc-report.h"
#include "rpc-io.h"
#include <errno.h>
#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/resource.h>

#ifndef RUSAGE_THREAD
#define RUSAGE_THREAD RUSAGE_SELF /* no thread has one of its own */
#endif

enum { LATE_BUCKETS = 50000 }; /* of a microsecond each */

static struct lateness {
	unsigned long bucket[LATE_BUCKETS];
	unsigned long n;
	int64_t max;
} lateness[2];

void late_record(enum late what, int64_t ns)
{
	struct lateness *late = &lateness[what];
	int64_t us = ns / TIMERTHREAD_USEC;

	late->bucket[us < LATE_BUCKETS ? us : LATE_BUCKETS - 1]++;
	late->n++;
	if (ns > late->max)
		late->max = ns;
}

/* The microseconds within which a share of them all happened. */
static int64_t late_quantile(const struct lateness *late, double share)
{
	unsigned long seen = 0;
	double rank = share * (double)late->n;

	for (int64_t us = 0; us < LATE_BUCKETS - 1; us++) {
		seen += late->bucket[us];
		if ((double)seen >= rank)
			return us;
	}
	return late->max / TIMERTHREAD_USEC;
}

struct question {
	struct rusage usage;
	sem_t answered;
};

static void answer(void *arg)
{
	struct question *q = arg;

	getrusage(RUSAGE_THREAD, &q->usage);
	sem_post(&q->answered);
}

/* A thread's usage is its own to ask for, so a callback does. */
long timer_sleeps(struct timerthread *timers)
{
	struct question q;
	int ret;

	sem_init(&q.answered, 0, 0);
	ret = timerthread_schedule(timers, 0, answer, &q, NULL);
	while (ret == 0 && sem_wait(&q.answered) < 0 && errno == EINTR)
		continue; /* a signal handler ran */
	sem_destroy(&q.answered);
	return ret == 0 ? q.usage.ru_nvcsw : ret;
}

static void row_late(const char *label, const struct lateness *late)
{
	if (late->n > 0)
		printf("%-28s %12" PRId64 " %12" PRId64 " %12" PRId64 "\n",
		       label, late_quantile(late, 0.5),
		       late_quantile(late, 0.99), late->max / TIMERTHREAD_USEC);
}

void report(const unsigned long *counts, double seconds, long sleeps)
{
	static const char *const label[COUNTS] = {
		[REQUESTS] = "requests",
		[REPLIES] = "  replies",
		[TIMEOUTS] = "  timeouts",
		[BOTH] = "  both",
		[NEITHER] = "  neither",
		[MET] = "replies that met their timer",
		[DROPPED] = "late replies dropped",
		[WRONG] = "replies to a wrong request",
		[EARLY] = "timers before their deadline",
		[STRAY] = "timers after their cancel",
	};
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	for (int i = 0; i < COUNTS; i++)
		printf("%-28s %12lu\n", label[i], counts[i]);
	printf("%-28s %12.0f\n", "requests a second",
	       (double)counts[REQUESTS] / seconds);
	if (sleeps >= 0)
		printf("%-28s %12.0f\n", "timer wake-ups a second",
		       (double)sleeps / seconds);
	printf("%-28s %12.1f\n", "peak memory, MiB",
	       (double)usage.ru_maxrss / 1024);
	printf("%-28s %12s %12s %12s\n", "late by, in us", "p50", "p99", "max");
	row_late("  timers", &lateness[LATE_TIMER]);
	row_late("  the main thread's sleeps", &lateness[LATE_SLEEP]);
}
