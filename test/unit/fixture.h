/* SPDX-License-Identifier: MIT */
/*
 * An instance under test, callbacks for it, and two semaphores to talk with
 * them: "ran" from the callback to the test, "go" back.
 */
#ifndef TT_FIXTURE_H
#define TT_FIXTURE_H

#include "harness.h"

#include <semaphore.h>
#include <timerthread.h>

static struct timerthread *tt;
static sem_t ran, go;

static inline void setup(void)
{
	sem_init(&ran, 0, 0);
	sem_init(&go, 0, 0);
	ck_assert_int_eq(timerthread_create(&tt), 0);
}

static inline void start(void)
{
	setup();
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
}

static inline void wait_for(sem_t *s)
{
	while (sem_wait(s) != 0)
		;
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

/* Keeps the timer thread in this callback until "go". */
static inline void hold(void *arg)
{
	sem_post(arg);
	wait_for(&go);
}

#endif
