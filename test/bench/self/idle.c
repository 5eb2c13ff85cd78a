/* SPDX-License-Identifier: MIT */
/*
 * What it costs to have an instance on which nothing happens: memory that was
 * touched and is the process's own, descriptors, and wake-ups of the timer
 * thread.  cancel_all was called for each once.  Each case runs in a process of
 * its own; the first instance, which pays for what all share, is not counted.
 */
#include "config.h"

#include "bench.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INSTANCES = 16 };

static long dirty_kb(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	char line[200];
	long kb = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Private_Dirty: %ld", &kb) == 1)
			break;
	}
	if (f)
		fclose(f);
	return kb;
}

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static struct timerthread *make(unsigned buckets, bool polled)
{
	struct timerthread *tt;
	int fd;

	check(timerthread_create(&tt), "timerthread_create");
	check(timerthread_set_buckets(tt, buckets), "timerthread_set_buckets");
	check(polled ? timerthread_start_polled(tt, &fd)
		     : timerthread_start(tt, NULL),
	      "timerthread_start");
	return tt;
}

static void ignore(timerthread_id id, timerthread_fn *fn, void *arg, void *ctx)
{
	(void)id;
	(void)fn;
	(void)arg;
	(void)ctx;
}

static void measure(unsigned buckets, bool polled, bool quick)
{
	struct timerthread *first = make(buckets, polled);
	long before = dirty_kb(), slept = 0;
	int files = descriptors();
	char name[100];
	struct sleeps w;

	for (int i = 0; i < INSTANCES; i++)
		timerthread_cancel_all(make(buckets, polled), ignore, NULL);
	sleep_until_ns(now_ns() + BENCH_S / 5);
	if (!polled) {
		watch_sleeps(&w, first);
		slept = sleeps(&w);
	}
	snprintf(name, sizeof(name), "%s, %u buckets",
		 polled ? "event loop" : "timer thread", buckets);
	print_figure(name, (double)(dirty_kb() - before) / INSTANCES, "KiB",
		     BENCH_NO_TARGET);
	print_figure("  descriptors",
		     (double)(descriptors() - files) / INSTANCES, "",
		     polled ? 1 : 0);
	sleep_until_ns(now_ns() + (quick ? 1 : 10) * BENCH_S);
	if (!polled)
		print_figure("  wake-ups", (double)(sleeps(&w) - slept), "", 0);
	fflush(stdout);
}

void bench_idle(const struct bench_options *o)
{
	static const unsigned buckets[] = {1, 64, 1024};

	for (int i = 0; i < 6; i++) {
		pid_t child;

		fflush(stdout);
		child = fork();
		if (child == 0) {
			measure(buckets[i % 3], i >= 3, o->quick);
			_exit(0);
		}
		check(child < 0 ? -errno : 0, "fork");
		waitpid(child, NULL, 0);
	}
}
