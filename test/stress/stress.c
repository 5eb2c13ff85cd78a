/* SPDX-License-Identifier: MIT */
/*
 * Rounds (rounds.h), one after the other.
 *
 * TT_STRESS_SECONDS says how long (4), TT_SEED which random numbers, TT_DRIVER
 * which driver, for all rounds (see drivers.h).
 */
#include "config.h"

#include "harness.h"
#include "rounds.h"

#include <time.h>

START_TEST(histories_are_right)
{
	const char *s = getenv("TT_STRESS_SECONDS");
	uint64_t rng = test_seed();
	time_t end = time(NULL) + (s ? atoi(s) : 4);
	struct totals totals = {0};

	/* A tenth of a second would do; valgrind is slow. */
	rounds_begin(rng, 600);
	do {
		rounds_run_one(&rng, &totals);
	} while (time(NULL) < end || !rounds_have_seen_all(&totals));
	rounds_end(&totals);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		histories_are_right,
	};

	return RUN_TESTS("stress", tests);
}
