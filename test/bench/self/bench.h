/* SPDX-License-Identifier: MIT */
/*
 * What the measurements share.  Each is a function that measures its subject
 * and its yardstick in turn, several rounds, and prints median and range.
 */
#pragma once

#include "measure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <timerthread.h>

/* For what is only reported. */
#define BENCH_NO_TARGET (-1.0)

struct bench_options {
	int rounds;
	bool quick;
};

/* Up to MAX values of one quantity. */
#define BENCH_MAX 64
struct series {
	double value[BENCH_MAX];
	int n;
};

void series_add(struct series *s, double value);
double series_median(const struct series *s);

/* "name: median (least to most) unit". */
void print_series(const char *name, const struct series *s, const char *unit);

/* The same with what is asked of the median. */
void print_target(const char *name, const struct series *s, const char *unit,
		  double at_most);

/* One figure with what is asked of it. */
void print_figure(const char *name, double value, const char *unit,
		  double at_most);

/* Starts an instance; exits with a message if that fails. */
struct timerthread *start_timers(void);

/* Says what is wrong with r, if it is negative, and exits. */
void check(int r, const char *what);

/* An atomic read-modify-write that no other thread wants, in nanoseconds. */
double read_modify_write(long n);

/* n turns on timers of tt, of which so many are pending at a time. */
typedef void bench_loop(struct timerthread *tt, long n, int window);

/* CPU nanoseconds a turn, on so many threads, each pinned to a CPU. */
double loop_cost(bench_loop *loop, struct timerthread *tt, int threads, long n,
		 int window);

/* The same less a loop that only reads the clock. */
double net_cost(bench_loop *loop, struct timerthread *tt, int threads, long n,
		int window);

/* How often a timer thread has gone to sleep. */
struct sleeps {
	pid_t tid;
};
void watch_sleeps(struct sleeps *w, struct timerthread *tt);
long sleeps(const struct sleeps *w);

/* Cancels and schedules again. */
void pair_loop(struct timerthread *tt, long n, int window);

/* The measurements. */
void bench_pair(const struct bench_options *o);
void bench_relative(const struct bench_options *o);
void bench_reschedule(const struct bench_options *o);
void bench_handover(const struct bench_options *o);
void bench_memory(const struct bench_options *o);
void bench_idle(const struct bench_options *o);
void bench_wakeups(const struct bench_options *o);
void bench_drivers(const struct bench_options *o);
void bench_slack(const struct bench_options *o);
void bench_sparse(const struct bench_options *o);
void bench_spin(const struct bench_options *o);
void bench_cancelled(const struct bench_options *o);
void bench_cascade(const struct bench_options *o);
void bench_million(const struct bench_options *o);
