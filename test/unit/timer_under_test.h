/* SPDX-License-Identifier: MIT */
/*
 * One timer that a test arms, disarms and cancels, and what is known of it.
 */
#pragma once

#include "prepared.h"

#include <string.h>

#define STAT(which) stat_of(TIMERTHREAD_STAT_##which)

/* The timer under test, how often it ran, and what its callback was told. */
static struct {
	timerthread_id id;
	int runs;
	int result[4];
	int64_t deadline;
} it;

static inline void count(void *arg)
{
	it.runs++;
	if (arg)
		sem_post(arg);
}

static inline void hold_and_count(void *arg)
{
	it.runs++;
	hold(arg);
}

/* It has run so often, and will not again by itself. */
static inline void check_runs(int n)
{
	settle();
	ck_assert_int_eq(it.runs, n);
}

static inline void add_it(timerthread_fn *fn)
{
	memset(&it, 0, sizeof(it));
	it.id = prepare(fn, &ran);
}

/* Its callback is running until "go". */
static inline void run_it(void)
{
	ck_assert_int_eq(arm(it.id, 0), 0);
	wait_for(&ran);
}

static inline void let_it_end(void)
{
	sem_post(&go);
	settle();
}

static inline void check_counts(uint64_t pending, uint64_t unarmed)
{
	ck_assert_uint_eq(STAT(PENDING), pending);
	ck_assert_uint_eq(STAT(UNARMED), unarmed);
}
