/* SPDX-License-Identifier: MIT */
/*
 * One thread schedules and another, on another CPU, cancels, with 1,000 in
 * flight.  The yardstick is a bare hand-over through the same ring: a record
 * of one cache line, written by the one and claimed by the other with a
 * compare-and-swap.  Both loops read the clock once a turn, and the CPU time
 * is that of both threads with their waiting: compare it, do not quote it.
 *
 * Each side looks whether the other has come far enough, at every turn or once
 * in 64.  At every turn, the line that the other is about to write goes back
 * and forth, as it does between threads that wait for each other; once in 64,
 * what is left is the price of the calls themselves.
 */
#include "config.h"

#include "bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { RING = 2048, IN_FLIGHT = 1000, RECORDS = 2048 };

struct record {
	_Atomic uint64_t state; /* 0, or the number of its turn */
	int64_t deadline;
	uint64_t content[6];
};

static struct record records[RECORDS] __attribute__((aligned(64)));
static _Atomic uint64_t ring[RING] __attribute__((aligned(64)));
static struct timerthread *tt; /* NULL: the bare hand-over */
static long turns;
static long batch; /* turns from one look at the other to the next */
static _Atomic unsigned long lost;

static void ignore(void *arg)
{
	(void)arg;
}

static uint64_t produce(long i)
{
	int64_t deadline = now_ns() + BENCH_S;
	struct record *r = &records[i % RECORDS];
	timerthread_id id;

	if (tt) {
		check(timerthread_schedule(tt, deadline, ignore, NULL, &id),
		      "timerthread_schedule");
		return id;
	}
	r->deadline = deadline;
	for (int k = 0; k < 6; k++)
		r->content[k] = (uint64_t)i;
	atomic_store_explicit(&r->state, (uint64_t)i + 1, memory_order_release);
	return (uint64_t)i + 1;
}

static void claim(uint64_t what)
{
	struct record *r = &records[(what - 1) % RECORDS];

	if (tt ? timerthread_cancel(tt, what) != 0
	       : !atomic_compare_exchange_strong(&r->state, &what, 0))
		atomic_fetch_add(&lost, 1);
}

static void wait_until_empty(_Atomic uint64_t *place, bool empty)
{
	while ((atomic_load_explicit(place, memory_order_acquire) == 0) !=
	       empty)
		relax();
}

static void *producer(void *arg)
{
	pin(0);
	for (long i = 0; i < turns; i++) {
		if (i % batch == 0)
			wait_until_empty(&ring[(i + batch - 1) % RING], true);
		atomic_store_explicit(&ring[i % RING], produce(i),
				      memory_order_release);
	}
	return arg;
}

/* Stays IN_FLIGHT behind: waits for the turn that far ahead. */
static void *consumer(void *arg)
{
	pin(1);
	for (long i = 0; i < turns; i++) {
		long ahead = i + IN_FLIGHT + batch - 1;
		uint64_t what;

		if (ahead >= turns)
			ahead = turns - 1;
		if (i % batch == 0)
			wait_until_empty(&ring[ahead % RING], false);
		what = atomic_load_explicit(&ring[i % RING],
					    memory_order_acquire);
		claim(what);
		atomic_store_explicit(&ring[i % RING], 0, memory_order_release);
	}
	return arg;
}

/* CPU nanoseconds a turn, of both threads and the timer thread. */
static double measure(struct timerthread *with, long n)
{
	pthread_t a, b;
	int64_t start;

	tt = with;
	turns = n;
	for (int i = 0; i < RECORDS; i++)
		atomic_store(&records[i].state, 0);
	start = process_cpu_ns();
	check(-pthread_create(&a, NULL, producer, NULL), "pthread_create");
	check(-pthread_create(&b, NULL, consumer, NULL), "pthread_create");
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return (double)(process_cpu_ns() - start) / (double)n;
}

static void handovers(const struct bench_options *o, double at_most)
{
	struct series bare = {.n = 0}, pair = {.n = 0}, ratio = {.n = 0};
	struct timerthread *with = start_timers();
	long n = o->quick ? 500000 : 2000000;

	for (int i = 0; i < o->rounds; i++) {
		double x = measure(NULL, n), y = measure(with, n);

		series_add(&bare, x);
		series_add(&pair, y);
		series_add(&ratio, y / x);
	}
	timerthread_destroy(with);
	print_series("bare hand-over", &bare, "ns CPU");
	print_series("schedule here, cancel there", &pair, "ns CPU");
	print_target("pair / bare hand-over", &ratio, "x", at_most);
}

void bench_handover(const struct bench_options *o)
{
	printf(" each looks at the other at every turn\n");
	batch = 1;
	handovers(o, 1.5);
	printf(" once in 64 turns\n");
	batch = 64;
	handovers(o, BENCH_NO_TARGET);
	print_figure("failed cancels", (double)lost, "", 0);
}
