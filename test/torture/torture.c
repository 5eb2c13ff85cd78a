/* SPDX-License-Identifier: MIT */
/*
 * Many instances, 64 threads, all calls, while everything is done to disturb
 * them (disturb.h): the rounds of the stress test (rounds.h), beside them
 * instances that live and go (life.h) on threads that do so too, and one that
 * all share, in which those threads leave timers behind.
 *
 * TT_TORTURE_SECONDS says how long (4), TT_SEED which random numbers: the same
 * ones do the same, but the threads meet in another way.  On a virtual clock
 * they do the same exactly.  TT_DRIVER is for the rounds.  More than ten
 * minutes are parts, each with the next seed.
 */
#include "config.h"

#include "disturb.h"
#include "harness.h"
#include "life.h"
#include "rounds.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <timerthread.h>

/* With those of a round, and of instances, more than 64. */
enum { LIVERS = 48, LIVES = 8, LEFT = 100 };

static struct timerthread *shared;
static atomic_ulong scheduled, ran, lives, threads;
static atomic_bool over;
static uint64_t seed;

static void count(void *arg)
{
	(void)arg;
	atomic_fetch_add(&ran, 1);
}

/* Timers that outlive the thread that has scheduled them. */
static void leave_timers(uint64_t *rng)
{
	for (int i = 0; i < LEFT; i++) {
		int64_t delay = (int64_t)random_below(rng, 20000000);

		if (timerthread_schedule_after(shared, delay, count, NULL,
					       NULL) != 0)
			abort();
	}
	atomic_fetch_add(&scheduled, LEFT);
}

/* A thread that ends after some lives. */
static void *live(void *arg)
{
	uint64_t *rng = arg;

	for (int i = 0; i < LIVES && !atomic_load(&over); i++) {
		life_live(rng, (enum life_driver)random_below(rng, 4));
		atomic_fetch_add(&lives, 1);
	}
	leave_timers(rng);
	return NULL;
}

static void *live_again(void *arg)
{
	uint64_t rng = seed + (uintptr_t)arg;
	pthread_t t;

	while (!atomic_load(&over)) {
		if (pthread_create(&t, NULL, live, &rng) != 0)
			abort();
		pthread_join(t, NULL);
		atomic_fetch_add(&threads, 1);
	}
	return NULL;
}

/* All that was left to it has run by and by. */
static void end_shared(void)
{
	const struct timespec moment = {0, 1000000};

	while (atomic_load(&ran) != atomic_load(&scheduled))
		nanosleep(&moment, NULL);
	timerthread_destroy(shared);
}

static int seconds(void)
{
	const char *s = getenv("TT_TORTURE_SECONDS");

	return s ? atoi(s) : 4;
}

/* Parts of at most ten minutes, for Check counts no more than 35. */
static int parts(void)
{
	return 1 + (seconds() - 1) / 600;
}

START_TEST(tortured)
{
	time_t end = time(NULL) + seconds() / parts();
	struct totals totals = {0};
	uint64_t rng = seed = test_seed() + (uint64_t)_i;
	pthread_t t[LIVERS];

	printf("torture: TT_SEED=%" PRIu64 "\n", seed);
	fflush(stdout);
	disturb_seed(seed);
	ck_assert_int_eq(timerthread_create(&shared), 0);
	ck_assert_int_eq(timerthread_start(shared, NULL), 0);
	disturb_begin(shared);
	for (uintptr_t i = 0; i < LIVERS; i++)
		ck_assert_int_eq(
			pthread_create(&t[i], NULL, live_again, (void *)i), 0);
	/* Others may take the CPUs for a while: then forks take long. */
	rounds_begin(rng, 600 + (unsigned)seconds() / 10);
	do {
		rounds_run_one(&rng, &totals);
	} while (time(NULL) < end || !rounds_have_seen_all(&totals));
	atomic_store(&over, true);
	for (int i = 0; i < LIVERS; i++)
		pthread_join(t[i], NULL);
	disturb_end();
	rounds_end(&totals);
	end_shared();
	printf("%lu instances lived, on %lu threads; %lu timers were left\n",
	       atomic_load(&lives), atomic_load(&threads), atomic_load(&ran));
}
END_TEST

/* The same random numbers, the same history. */
START_TEST(virtual_time_is_exact)
{
	enum { N = 200 };
	uint64_t digest[2] = {0, 0};

	for (int k = 0; k < 2; k++) {
		uint64_t rng = test_seed();

		for (int i = 0; i < N; i++)
			digest[k] =
				digest[k] * 31 + life_live(&rng, LIFE_VIRTUAL);
	}
	ck_assert_uint_eq(digest[0], digest[1]);
	printf("virtual time: digest %016" PRIx64 "\n", digest[0]);
}
END_TEST

int main(void)
{
	const TTest *const once[] = {
		virtual_time_is_exact,
	};
	const TTest *const in_parts[] = {
		tortured,
	};
	TCase *tcase = tcase_create("torture");

	ADD_TESTS(tcase, once);
	ADD_LOOP_TESTS(tcase, in_parts, parts());
	return run_case_for("torture", tcase,
			    TEST_TIMEOUT_S + seconds() / parts());
}
