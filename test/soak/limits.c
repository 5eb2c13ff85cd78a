/* SPDX-License-Identifier: MIT */
/*
 * How many there can be, found by making them until a call fails: instances of
 * each driver, timers of one instance, threads that use one instance.
 *
 *	limits [GIBIBYTES]
 *
 * The process is given so much address space, 4 by default.  Whatever fails
 * must say so by an error, and what was made must work and go away afterwards.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <timerthread.h>
#include <unistd.h>

enum { MOST_INSTANCES = 1 << 20, MOST_THREADS = 1 << 17, PAIRS = 1000 };

static struct timerthread **instance;

static void never(void *arg)
{
	(void)arg;
	abort();
}

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	printf("WRONG: %s\n", what);
	exit(EXIT_FAILURE);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int start_thread(struct timerthread *tt)
{
	return timerthread_start(tt, NULL);
}

static int start_polled(struct timerthread *tt)
{
	int fd;

	return timerthread_start_polled(tt, &fd);
}

static int start_virtual(struct timerthread *tt)
{
	return timerthread_start_virtual(tt, 0);
}

/* Each has a timer. */
static int make(struct timerthread **ret, int (*start)(struct timerthread *tt))
{
	int r = timerthread_create(ret);

	if (r < 0)
		return r;
	r = start(*ret);
	if (r == 0)
		r = timerthread_schedule(*ret, TIMERTHREAD_NEVER, never, NULL,
					 NULL);
	if (r < 0)
		timerthread_destroy(*ret);
	return r;
}

static void instances(const char *name, int (*start)(struct timerthread *tt))
{
	double begin = seconds();
	size_t n = 0;
	int r = 0;

	while (n < MOST_INSTANCES && (r = make(&instance[n], start)) == 0)
		n++;
	printf("instances, %s: %zu, then %s; %.1f s\n", name, n,
	       n == MOST_INSTANCES ? "enough" : strerror(-r),
	       seconds() - begin);
	for (size_t i = 0; i < n; i++)
		timerthread_destroy(instance[i]);
	must(make(&instance[0], start) == 0, "none can be made after that");
	timerthread_destroy(instance[0]);
}

/* One in a thousand is remembered. */
enum { KEPT_OF = 1000, MOST_KEPT = 1 << 20, TRIES = 1000 };

static timerthread_id kept[MOST_KEPT];

static size_t fill(struct timerthread *tt, int *ret_why)
{
	timerthread_id id;
	size_t n = 0;

	while ((*ret_why = timerthread_schedule(tt, TIMERTHREAD_NEVER, never,
						NULL, &id)) == 0) {
		kept[n / KEPT_OF % MOST_KEPT] = id;
		n++;
	}
	return n;
}

/* A call looks at some slots for a dead one, not at all. */
static bool can_be_used_again(struct timerthread *tt, size_t n)
{
	int tries = 0;

	for (size_t i = 0; i < n / KEPT_OF && i < MOST_KEPT; i++)
		must(timerthread_cancel(tt, kept[i]) == 0, "a cancel");
	while (tries < TRIES && timerthread_schedule(tt, TIMERTHREAD_NEVER,
						     never, NULL, NULL) != 0)
		tries++;
	return tries < TRIES;
}

static void timers(void)
{
	struct timerthread *tt;
	double begin = seconds();
	uint64_t bytes;
	size_t n;
	int why;

	must(timerthread_create(&tt) == 0 && timerthread_start(tt, NULL) == 0,
	     "one instance");
	n = fill(tt, &why);
	timerthread_get_stat(tt, TIMERTHREAD_STAT_BYTES, &bytes);
	printf("timers of one instance: %zu, then %s; %.0f bytes each; "
	       "%.1f s\n",
	       n, strerror(-why), (double)bytes / (double)n, seconds() - begin);
	must(can_be_used_again(tt, n), "a place is used again");
	timerthread_destroy(tt);
}

/* All are there before the first one begins. */
static struct timerthread *shared;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_size_t ended;

static void *work(void *arg)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	for (int i = 0; i < PAIRS; i++) {
		timerthread_id id;

		must(timerthread_schedule_after(shared, 1000000000, never, arg,
						&id) == 0 &&
			     timerthread_cancel(shared, id) == 0,
		     "a pair on one of many threads");
	}
	atomic_fetch_add(&ended, 1);
	return arg;
}

static void threads(void)
{
	static pthread_t t[MOST_THREADS];
	pthread_attr_t attr;
	double begin;
	size_t n = 0;
	int r = 0;

	must(timerthread_create(&shared) == 0 &&
		     timerthread_start(shared, NULL) == 0,
	     "one instance");
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)4 * PTHREAD_STACK_MIN);
	pthread_mutex_lock(&gate);
	while (n < MOST_THREADS &&
	       (r = pthread_create(&t[n], &attr, work, NULL)) == 0)
		n++;
	begin = seconds();
	pthread_mutex_unlock(&gate);
	for (size_t i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	must(atomic_load(&ended) == n, "all threads have ended");
	printf("threads: %zu, then %s; each schedules and cancels %d timers: "
	       "%.0f ns a pair\n",
	       n, n == MOST_THREADS ? "enough" : strerror(r), PAIRS,
	       (seconds() - begin) * 1e9 / (double)n / PAIRS);
	pthread_attr_destroy(&attr);
	timerthread_destroy(shared);
}

static void instances_on_threads(void)
{
	instances("a thread each", start_thread);
}

static void instances_polled(void)
{
	instances("polled", start_polled);
}

static void instances_virtual(void)
{
	instances("virtual", start_virtual);
}

/* In a process of its own: what one leaves behind is not the next one's. */
static bool measure(void (*what)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		what();
		exit(EXIT_SUCCESS);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv)
{
	unsigned long gib = argc > 1 ? strtoul(argv[1], NULL, 10) : 4;
	const struct rlimit space = {gib << 30, gib << 30};
	struct rlimit files;

	instance = malloc(MOST_INSTANCES * sizeof(struct timerthread *));
	if (!instance || gib == 0 || setrlimit(RLIMIT_AS, &space) != 0) {
		fprintf(stderr, "usage: limits [GIBIBYTES]\n");
		return 2;
	}
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	printf("address space: %lu GiB; descriptors: %lu\n", gib,
	       (unsigned long)files.rlim_cur);
	fflush(stdout);
	return !(measure(instances_on_threads) & measure(instances_polled) &
		 measure(instances_virtual) & measure(threads) &
		 measure(timers));
}
