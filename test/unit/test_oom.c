/* SPDX-License-Identifier: MIT */
/*
 * Every allocation fails in turn: each call then either works or says so, and
 * no timer is lost.
 */
#include "config.h"

#include "drivers.h"
#include "fail_alloc.h"
#include "harness.h"

#include <errno.h>
#include <semaphore.h>
#include <timerthread.h>

#ifndef FAIL_ALLOC_UNAVAILABLE

enum { TIMERS = 2000 };

static timerthread_id ids[TIMERS];
static atom32 runs;
static sem_t done;

static void count(void *arg)
{
	(void)arg;
	atom32_add(&runs, 1);
}

static void finish(void *arg)
{
	sem_post(arg);
}

static void never(void *arg)
{
	(void)arg;
	abort();
}

/* Half run, half are cancelled; returns how many errors there were. */
static unsigned use(struct timerthread *tt)
{
	unsigned scheduled = 0, errors = 0;

	for (int i = 0; i < TIMERS; i++) {
		int64_t at = i % 2 ? INT64_MAX - i : i;
		int r = timerthread_schedule(tt, at, i % 2 ? never : count,
					     NULL, &ids[i]);

		if (r == 0) {
			scheduled += i % 2 == 0;
		} else {
			ck_assert_int_eq(r, -ENOMEM);
			ids[i] = 0;
			errors++;
		}
	}
	for (int i = 1; i < TIMERS; i += 2)
		ck_assert_int_eq(timerthread_cancel(tt, ids[i]),
				 ids[i] ? 0 : -ENOENT);
	while (timerthread_schedule_after(tt, 0, finish, &done, NULL) != 0)
		errors++;
	while (sem_wait(&done) != 0)
		;
	ck_assert_uint_eq(atom32_load_acquire(&runs), scheduled);
	return errors;
}

/* Returns how many allocations there were, the failed ones included. */
static uint32_t live_once(uint32_t from, uint32_t n, unsigned *ret_errors)
{
	struct timerthread *tt = NULL;
	uint32_t seen;
	int r;

	*ret_errors = 0;
	atom32_store(&runs, 0);
	fail_arm(from, n);
	r = timerthread_create(&tt);
	if (r == 0) {
		r = driver_start(tt);
		if (r == 0)
			*ret_errors = use(tt);
		else
			ck_assert(r == -ENOMEM || r == -EAGAIN);
	} else {
		ck_assert_int_eq(r, -ENOMEM);
		ck_assert_ptr_null(tt);
	}
	*ret_errors += r != 0;
	seen = fail_disarm();
	if (r != 0 && tt) {
		ck_assert_int_eq(driver_start(tt), 0);
		ck_assert_uint_eq(use(tt), 0);
	}
	driver_destroy(tt);
	return seen;
}

START_TEST(each_allocation_fails_once)
{
	unsigned errors, failures = 0;
	uint32_t k = 0;

	sem_init(&done, 0, 0);
	while (k < live_once(k, 1, &errors)) {
		failures += errors;
		k++;
	}
	ck_assert_uint_ge(k, 8);
	ck_assert_uint_ge(failures, 5);
}
END_TEST

/* From some point on for a while, so that retries fail as well. */
START_TEST(memory_is_short_for_a_while)
{
	unsigned errors;

	sem_init(&done, 0, 0);
	for (uint32_t from = 0; from < 20; from++)
		live_once(from, 50, &errors);
}
END_TEST

/* Nothing is left of the driver that could not be started. */
/* The first call on a bucket sets it up; it may have no memory to go on. */
START_TEST(a_place_in_the_cap_is_given_back)
{
	struct timerthread *tt;
	timerthread_id id;
	uint64_t failed, scheduled;

	ck_assert_int_eq(timerthread_create(&tt), 0);
	ck_assert_int_eq(timerthread_set_max_timers(tt, 1), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	fail_arm(0, UINT32_MAX);
	ck_assert_int_eq(timerthread_schedule(tt, INT64_MAX, never, NULL, &id),
			 -ENOMEM);
	fail_disarm();
	ck_assert_int_eq(timerthread_schedule(tt, INT64_MAX, never, NULL, &id),
			 0);
	ck_assert_int_eq(
		timerthread_get_stat(tt, TIMERTHREAD_STAT_NO_MEMORY, &failed),
		0);
	ck_assert_int_eq(timerthread_get_stat(tt, TIMERTHREAD_STAT_SCHEDULED,
					      &scheduled),
			 0);
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(scheduled, 1);
	timerthread_destroy(tt);
}
END_TEST

START_TEST(another_driver_after_that)
{
	struct timerthread *tt;
	int64_t then;

	ck_assert_int_eq(timerthread_create(&tt), 0);
	fail_arm(0, 1);
	ck_assert_int_eq(timerthread_start_virtual(tt, 42), -ENOMEM);
	fail_disarm();
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	then = timerthread_now(tt);
	while (timerthread_now(tt) <= then)
		;
	timerthread_destroy(tt);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		each_allocation_fails_once,
		memory_is_short_for_a_while,
		a_place_in_the_cap_is_given_back,
		another_driver_after_that,
	};

	return RUN_TESTS("oom", tests);
}

#else

#include <stdio.h>

int main(void)
{
	puts("the sanitizer's allocator cannot be made to fail");
	return EXIT_SKIPPED;
}

#endif
