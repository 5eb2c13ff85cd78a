/* SPDX-License-Identifier: MIT */
/*
 * Runs a harness with real threads, many times.  WEAK_GENMC: once, for genmc
 * goes through the executions itself.
 */
#pragma once

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local int weak_number;

int weak_self(void)
{
	return weak_number;
}

void weak_exit(void)
{
	pthread_exit(NULL);
}

#ifdef WEAK_GENMC

#include <assert.h>

void weak_fail(const char *what)
{
	(void)what;
	assert(0);
	abort();
}

/* It sees by itself that a loop waits. */
void weak_wait(void)
{
}

void weak_nap(void)
{
}

static void begin_together(unsigned round)
{
	(void)round;
}

static unsigned how_many(void)
{
	return 1;
}

#else

/* Threads that have come, of all in this round. */
static atom32 come, all;

void weak_fail(const char *what)
{
	printf("%s\n", what);
	fflush(stdout);
	_Exit(WEAK_FAILED);
}

void weak_wait(void)
{
	sched_yield();
}

void weak_nap(void)
{
	sched_yield();
}

/* By a little more or less, for what matters is a few nanoseconds long. */
static void begin_together(unsigned round)
{
	atom32_add(&come, 1);
	while (atom32_load(&come) < atom32_load(&all))
		sched_yield();
	for (unsigned i = 0; i < (round * 7 + (unsigned)weak_number * 13) % 64;
	     i++)
		spin_relax();
}

static unsigned how_many(void)
{
	const char *rounds = getenv("TT_WEAK_ROUNDS");

	return rounds ? (unsigned)strtoul(rounds, NULL, 10) : 3000;
}

static void prepare(void)
{
	unsigned n = 0;

	for (int i = 0; i < WEAK_THREADS; i++)
		n += weak.thread[i] != NULL;
	atom32_store(&come, 0);
	atom32_store(&all, n);
}

#endif

static unsigned weak_round;

static void *begin_thread(void *number)
{
	weak_number = (int)(intptr_t)number;
	begin_together(weak_round);
	weak.thread[weak_number]();
	return NULL;
}

static void run(void)
{
	pthread_t thread[WEAK_THREADS];

	weak.setup();
#ifndef WEAK_GENMC
	prepare();
#endif
	for (int i = 0; i < WEAK_THREADS; i++)
		if (weak.thread[i] &&
		    pthread_create(&thread[i], NULL, begin_thread,
				   (void *)(intptr_t)i) != 0)
			abort();
	for (int i = 0; i < WEAK_THREADS; i++)
		if (weak.thread[i] && pthread_join(thread[i], NULL) != 0)
			abort();
	weak.check();
}

int main(void)
{
	unsigned rounds = how_many();

	for (weak_round = 0; weak_round < rounds; weak_round++)
		run();
	return 0;
}
