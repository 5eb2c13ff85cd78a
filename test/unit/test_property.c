/* SPDX-License-Identifier: MIT */
/*
 * Millions of random calls.  TT_STEPS in the environment sets another number of
 * them, TT_SEED other ones.
 */
#include "harness.h"
#include "property.h"

/* ThreadSanitizer has nothing to find here, where there is one thread. */
#if defined(__SANITIZE_THREAD__)
#define STEPS UINT64_C(100000)
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define STEPS UINT64_C(100000)
#endif
#endif
#ifndef STEPS
#define STEPS UINT64_C(1000000)
#endif

static uint64_t steps(void)
{
	const char *s = getenv("TT_STEPS");

	return s ? strtoull(s, NULL, 0) : STEPS;
}

static struct choices choices(int64_t salt)
{
	return (struct choices){.rng = test_seed() + (uint64_t)salt};
}

START_TEST(long_run)
{
	property_begin(choices(0), 0);
	property->slow = true;
	property_run(steps());
	property_end();
}
END_TEST

/* Each begins with an empty instance, somewhere in time. */
START_TEST(short_runs)
{
	uint64_t rng = test_seed();

	for (uint64_t i = 0; i < steps() / 200; i++) {
		int64_t now =
			(int64_t)(next_random(&rng) >> random_below(&rng, 64));

		property_begin(choices(now), now);
		property_run(200);
		property_end();
	}
}
END_TEST

START_TEST(crowds)
{
	for (uint64_t i = 0; i < steps() / 50000; i++) {
		property_begin(choices((int64_t)i), (int64_t)i);
		property->slow = true;
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
