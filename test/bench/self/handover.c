/* SPDX-License-Identifier: MIT */
/*
 * One thread schedules and another, on another CPU, cancels, with 1,000 in
 * flight.  The yardstick is a bare hand-over through the same ring: a record
 * of one cache line, written by the one and claimed by the other with a
 * compare-and-swap.  Both loops read the clock once a turn, and the CPU time
 * is that of both threads with their waiting: compare it, do not quote it.
 *
 * The ring comes in two kinds.  With counters, each side tells by one how far
 * it is (Lamport 1983), which is how queues between threads mostly work.  With
 * flags, a place in the ring says itself whether it is full; that ring moves
 * so few cache lines, and hides the wait for them so well, that the calls' own
 * instructions count for most.  There each side looks at the other at every
 * turn, or once in 64.
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
static _Atomic int64_t ring[RING] __attribute__((aligned(64)));
static _Atomic int64_t produced __attribute__((aligned(128)));
static _Atomic int64_t claimed __attribute__((aligned(128)));
static struct timerthread *tt; /* NULL: the bare hand-over */
static long turns;
static long batch;   /* turns from one look at the other to the next */
static bool counted; /* the ring's kind */
static _Atomic unsigned long lost;

static void ignore(void *arg)
{
	(void)arg;
}

static int64_t load(const _Atomic int64_t *a)
{
	return atomic_load_explicit(a, memory_order_acquire);
}

static void store(_Atomic int64_t *a, int64_t value)
{
	atomic_store_explicit(a, value, memory_order_release);
}

/* Returns what goes into the ring. */
static int64_t produce(long i)
{
	int64_t deadline = now_ns() + BENCH_S;
	struct record *r = &records[i % RECORDS];
	timerthread_id id;

	if (tt) {
		check(timerthread_schedule(tt, deadline, ignore, NULL, &id),
		      "timerthread_schedule");
		return (int64_t)id;
	}
	r->deadline = deadline;
	for (int k = 0; k < 6; k++)
		r->content[k] = (uint64_t)i;
	atomic_store_explicit(&r->state, (uint64_t)i + 1, memory_order_release);
	return i + 1;
}

static void claim(uint64_t what)
{
	struct record *r = &records[(what - 1) % RECORDS];

	if (tt ? timerthread_cancel(tt, what) != 0
	       : !atomic_compare_exchange_strong(&r->state, &what, 0))
		atomic_fetch_add(&lost, 1);
}

/* Until place i is free, and the batch's places behind it. */
static void wait_for_room(long i)
{
	long last = i + batch - 1;

	if (counted) {
		while (last - load(&claimed) >= RING)
			relax();
	} else {
		while (load(&ring[last % RING]) != 0)
			relax();
	}
}

static void wait_for_turn(long i)
{
	if (counted) {
		while (load(&produced) <= i)
			relax();
	} else {
		while (load(&ring[i % RING]) == 0)
			relax();
	}
}

static void *producer(void *arg)
{
	pin(0);
	for (long i = 0; i < turns; i++) {
		if (i % batch == 0)
			wait_for_room(i);
		store(&ring[i % RING], produce(i));
		if (counted)
			store(&produced, i + 1);
	}
	return arg;
}

/* Stays IN_FLIGHT behind: waits for the turn that far ahead. */
static void *consumer(void *arg)
{
	pin(1);
	for (long i = 0; i < turns; i++) {
		long ahead = i + IN_FLIGHT + batch - 1;

		if (i % batch == 0)
			wait_for_turn(ahead < turns ? ahead : turns - 1);
		claim((uint64_t)load(&ring[i % RING]));
		if (counted)
			store(&claimed, i + 1);
		else
			store(&ring[i % RING], 0);
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
	atomic_store(&produced, 0);
	atomic_store(&claimed, 0);
	for (int i = 0; i < RING; i++)
		atomic_store(&ring[i], 0);
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
	batch = 1;
	counted = true;
	printf(" ring with counters\n");
	handovers(o, 1.5);
	counted = false;
	printf(" ring with flags\n");
	handovers(o, 1.5);
	batch = 64;
	printf(" ring with flags, looked at once in 64 turns\n");
	handovers(o, BENCH_NO_TARGET);
	print_figure("failed cancels", (double)lost, "", 0);
}
