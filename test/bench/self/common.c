/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
