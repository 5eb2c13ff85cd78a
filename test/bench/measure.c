/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "measure.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * BENCH_S + t.tv_nsec;
}

int64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

int64_t process_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void sleep_until_ns(int64_t at)
{
	struct timespec t = {at / BENCH_S, at % BENCH_S};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) ==
	       EINTR)
		;
}

long resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long size, resident = 0;

	if (f) {
		if (fscanf(f, "%ld %ld", &size, &resident) != 2)
			resident = 0;
		fclose(f);
	}
	return resident * sysconf(_SC_PAGESIZE);
}

int cpus(void)
{
	cpu_set_t may;

	if (sched_getaffinity(0, sizeof(may), &may) != 0)
		return 1;
	return CPU_COUNT(&may);
}

void pin(int i)
{
	cpu_set_t may, one;
	int cpu;

	if (sched_getaffinity(0, sizeof(may), &may) != 0)
		return;
	i %= CPU_COUNT(&may);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &may) && i-- == 0)
			break;
	}
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

static int by_int64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

int64_t percentile(int64_t *values, size_t n, double p)
{
	size_t i = (size_t)(p * (double)n);

	qsort(values, n, sizeof(*values), by_int64);
	return values[i < n ? i : n - 1];
}

long sleeps_of(long tid)
{
	char path[64], line[256];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/status", tid);
	f = fopen(path, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1)
			break;
	}
	fclose(f);
	return n;
}

long others_sleeps(void)
{
	const long self = syscall(SYS_gettid);
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;
	long n = 0;

	while (d && (e = readdir(d)) != NULL) {
		long tid = atol(e->d_name), of_it;

		if (e->d_name[0] == '.' || tid == self)
			continue;
		of_it = sleeps_of(tid);
		n += of_it > 0 ? of_it : 0;
	}
	if (d)
		closedir(d);
	return n;
}
