/* SPDX-License-Identifier: MIT */
/*
 * A million random calls.  TT_STEPS in the environment sets another number of
 * them, TT_SEED other ones.
 */
#include "harness.h"
#include "property/choices.h"
#include "property/property.h"

/* Sanitizers are slow, and see a fault of memory in any call that has one. */
#ifdef UNDER_SANITIZER
#define STEPS UINT64_C(100000)
#else
#define STEPS UINT64_C(500000)
#endif

static uint64_t steps(void)
{
	const char *s = getenv("TT_STEPS");

	return s ? strtoull(s, NULL, 0) : STEPS;
}

static void choices(uint64_t salt)
{
	choices_by_seed(test_seed() + salt);
}

START_TEST(long_run)
{
	choices(0);
	property_begin(0, true);
	property_run(steps());
	property_end();
}
END_TEST

/* Each begins with an empty instance, somewhere in time. */
START_TEST(short_runs)
{
	for (uint64_t i = 0; i < steps() / 200; i++) {
		choices(i);
		property_begin(choose_time(), false);
		property_run(200);
		property_end();
	}
}
END_TEST

START_TEST(crowds)
{
	for (uint64_t i = 0; i < steps() / 50000; i++) {
		choices(i);
		property_begin((int64_t)i, true);
		property_crowd();
		property_run(500);
		property_end();
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		long_run,
		short_runs,
		crowds,
	};

	return RUN_TESTS("property", tests);
}
