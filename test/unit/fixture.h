/* SPDX-License-Identifier: MIT */
/*
 * An instance under test, callbacks for it, and two semaphores to talk with
 * them: "ran" from the callback to the test, "go" back.
 */
#pragma once

#include "drivers.h"
#include "harness.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <timerthread.h>

static struct timerthread *tt;
/* The same for a thread that may be another one's. */
static _Atomic(struct timerthread *) published;
static sem_t ran, go;

static inline void setup(void)
{
	sem_init(&ran, 0, 0);
	sem_init(&go, 0, 0);
	ck_assert_int_eq(timerthread_create(&tt), 0);
	atomic_store(&published, tt);
}

static inline void start(void)
{
	setup();
	ck_assert_int_eq(driver_start(tt), 0);
}

/* On a virtual clock that shows 0, and that the test moves on itself. */
static inline void start_virtual(void)
{
	setup();
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
}

static inline void end(void)
{
	driver_destroy(tt);
	sem_destroy(&go);
	sem_destroy(&ran);
}

static inline uint64_t stat_of(enum timerthread_stat which)
{
	uint64_t value = UINT64_MAX;

	ck_assert_int_eq(timerthread_get_stat(tt, which, &value), 0);
	return value;
}

static inline void wait_for(sem_t *s)
{
	while (sem_wait(s) != 0)
		;
}

/* Until so many threads are in stop, and wait there. */
static inline void wait_for_joiners(unsigned n)
{
	unsigned joiners;

	do {
		sched_yield();
		pthread_mutex_lock(&tt->mutex);
		joiners = tt->joiners;
		pthread_mutex_unlock(&tt->mutex);
	} while (joiners < n);
}

/* Descriptors that are open, and one more. */
static inline int open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

enum { MAX_THREADS = 16 };

/* n threads, which are told their numbers from 1; each returns NULL. */
static inline void run_threads(void *(*fn)(void *), unsigned n)
{
	pthread_t t[MAX_THREADS];
	void *wrong;

	ck_assert_uint_le(n, MAX_THREADS);
	for (uintptr_t i = 0; i < n; i++)
		ck_assert_int_eq(
			pthread_create(&t[i], NULL, fn, (void *)(i + 1)), 0);
	for (unsigned i = 0; i < n; i++) {
		pthread_join(t[i], &wrong);
		ck_assert_ptr_null(wrong);
	}
}

static inline void post(void *arg)
{
	sem_post(arg);
}

static inline void never(void *arg)
{
	(void)arg;
	abort();
}

/* Keeps whatever thread runs this callback in it until "go". */
static inline void hold(void *arg)
{
	sem_post(arg);
	wait_for(&go);
}
