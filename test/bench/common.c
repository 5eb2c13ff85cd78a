/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void series_add(struct series *s, double value)
{
	if (s->n < BENCH_MAX)
		s->value[s->n++] = value;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct series sorted(const struct series *s)
{
	struct series copy = *s;

	qsort(copy.value, (size_t)copy.n, sizeof(double), by_value);
	return copy;
}

double series_median(const struct series *s)
{
	struct series c = sorted(s);

	return c.n % 2 ? c.value[c.n / 2]
		       : (c.value[c.n / 2 - 1] + c.value[c.n / 2]) / 2;
}

static void print_line(const char *name, const struct series *s,
		       const char *unit)
{
	struct series c = sorted(s);

	printf("  %-46s %9.2f (%.2f to %.2f) %s", name, series_median(s),
	       c.value[0], c.value[c.n - 1], unit);
}

void print_series(const char *name, const struct series *s, const char *unit)
{
	print_line(name, s, unit);
	printf("\n");
}

static void print_verdict(double value, double at_most)
{
	if (at_most == BENCH_NO_TARGET) {
		printf("\n");
		return;
	}
	printf("  [at most %g: %s]\n", at_most,
	       value <= at_most ? "met" : "MISSED");
}

void print_target(const char *name, const struct series *s, const char *unit,
		  double at_most)
{
	print_line(name, s, unit);
	print_verdict(series_median(s), at_most);
}

void print_figure(const char *name, double value, const char *unit,
		  double at_most)
{
	printf("  %-46s %9.2f %s", name, value, unit);
	print_verdict(value, at_most);
}

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

void check(int r, const char *what)
{
	if (r >= 0)
		return;
	fprintf(stderr, "bench: %s: %s\n", what, strerror(-r));
	exit(1);
}

struct timerthread *start_timers(void)
{
	struct timerthread *tt;

	check(timerthread_create(&tt), "timerthread_create");
	check(timerthread_start(tt, NULL), "timerthread_start");
	return tt;
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
