/* SPDX-License-Identifier: MIT */
/*
 * What every test program shares: one Check case from a list of tests, and
 * repeatable random numbers.  TT_TEST in the environment names the only test to
 * run.  TT_SEED sets the seed, which each failure message of a random test
 * shows.
 */
#pragma once

#include "random.h"
#include "sanitizers.h"
#include "systems.h"

#include <check.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Only a hang takes so long: not a sanitizer, nor valgrind, nor a machine on
 * which ten other programs compute on each CPU.
 */
#define TEST_TIMEOUT_S 1200

/* Each runs so many times, and _i tells how often it did before. */
static inline void add_loop_tests(TCase *tcase, const TTest *const *tests,
				  size_t n, int times)
{
	const char *only = getenv("TT_TEST");

	for (size_t i = 0; i < n; i++) {
		if (!only || strcmp(tests[i]->name, only) == 0)
			tcase_add_loop_test(tcase, tests[i], 0, times);
	}
}

static inline void add_tests(TCase *tcase, const TTest *const *tests, size_t n)
{
	add_loop_tests(tcase, tests, n, 1);
}

#define ADD_TESTS(tcase, tests)                                                \
	add_tests(tcase, tests, sizeof(tests) / sizeof((tests)[0]))
#define ADD_LOOP_TESTS(tcase, tests, times)                                    \
	add_loop_tests(tcase, tests, sizeof(tests) / sizeof((tests)[0]), times)

/* Each test may take so long. */
static inline int run_case_for(const char *name, TCase *tcase, double seconds)
{
	Suite *suite = suite_create(name);
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, seconds);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	/* TT_TEST names none. */
	if (srunner_ntests_run(runner) == 0)
		failed = 1;
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static inline int run_case(const char *name, TCase *tcase)
{
	return run_case_for(name, tcase, TEST_TIMEOUT_S);
}

/* What the test harness of automake takes for skipped. */
#define EXIT_SKIPPED 77

static inline int run_tests(const char *name, const TTest *const *tests,
			    size_t n)
{
	TCase *tcase = tcase_create(name);

	add_tests(tcase, tests, n);
	return run_case(name, tcase);
}

#define RUN_TESTS(name, tests)                                                 \
	run_tests(name, tests, sizeof(tests) / sizeof((tests)[0]))

static inline uint64_t test_seed(void)
{
	const char *s = getenv("TT_SEED");

	return s ? strtoull(s, NULL, 0) : 20261121;
}
