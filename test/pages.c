/* SPDX-License-Identifier: MIT */
/*
 * Prints the metrics of instances with these names:
 *
 *     pages 0|1 NAME...     the number is an enum timerthread_format
 */
#include <stdio.h>
#include <stdlib.h>
#include <timerthread.h>

enum { MOST = 16, SIZE = 16384 * MOST };

static char text[SIZE];

static void check(int ok)
{
	if (ok)
		return;
	fputs("pages: a call has failed\n", stderr);
	exit(1);
}

static void run(void *arg)
{
	(void)arg;
}

/* With a number of timers that have run, some late, and one pending. */
static struct timerthread *make(const char *name, int timers)
{
	struct timerthread *tt;

	check(timerthread_create(&tt) == 0);
	check(timerthread_set_name(tt, name) == 0);
	check(timerthread_start_virtual(tt, 0) == 0);
	for (int i = 0; i <= timers; i++)
		check(timerthread_schedule(tt,
					   i < timers ? i : TIMERTHREAD_NEVER,
					   run, NULL, NULL) == 0);
	check(timerthread_advance(tt, timers) == timers);
	return tt;
}

int main(int argc, char **argv)
{
	int n = argc - 2, length;
	struct timerthread *tt[MOST];
	enum timerthread_format format;

	check(n >= 0 && n <= MOST);
	format = (enum timerthread_format)atoi(argv[1]);
	for (int i = 0; i < n; i++)
		tt[i] = make(argv[2 + i], i + 1);
	length = timerthread_format_metrics(tt, (size_t)n, format, text, SIZE);
	check(length >= 0 && length < SIZE);
	for (int i = 0; i < n; i++)
		timerthread_destroy(tt[i]);
	check(fputs(text, stdout) >= 0 && fflush(stdout) == 0);
	return 0;
}
