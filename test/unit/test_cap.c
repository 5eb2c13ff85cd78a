/* SPDX-License-Identifier: MIT */
/*
 * Places under a cap, on more CPUs than there are: what the library takes for
 * the CPU is what the test says.
 */
#include "config.h"

#include "checks/cap.h"
#include "cpus.h"
#include "engine/cap.h"
#include "harness.h"

#include <pthread.h>
#include <sched.h>

enum { CPUS = 64 };

static struct cap cap;

static void set_up(size_t max, uint32_t shares)
{
	cap = (struct cap){.max = max};
	ck_assert(cap_open(&cap, shares));
	ck_assert_uint_eq(cap_free(&cap), max);
}

static bool take(void)
{
	return cap_take(&cap, cpu_map_pick(&cap.cpus));
}

static void take_all(size_t n)
{
	for (size_t i = 0; i < n; i++)
		ck_assert(take());
	ck_assert(!take());
	ck_assert_uint_eq(cap_free(&cap), 0);
}

START_TEST(none)
{
	cap = (struct cap){.max = 0};
	ck_assert(cap_open(&cap, CPUS));
	ck_assert_ptr_null(cap.share);
	for (int i = 0; i < 1000; i++)
		ck_assert(cap_take(&cap, 0));
	cap_give(&cap);
	cap_close(&cap);
}
END_TEST

/* A batch, not place by place; and back. */
START_TEST(the_common_share_is_seldom_touched)
{
	enum { N = 10000 };
	size_t common, changes = 0;

	set_up(100 * N, CPUS);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < N; i++) {
			common = atomword_load(&cap.common->places);
			if (round > 0)
				cap_give(&cap);
			else if (!take())
				ck_abort_msg("refused");
			changes += atomword_load(&cap.common->places) != common;
		}
	}
	ck_assert_uint_le(changes, 2 * N / CAP_BATCH + 2);
	ck_assert_uint_le(tally_count(&cap.share[0].places), CAP_SHARE_MAX);
	ck_assert_uint_eq(cap_free(&cap), 100 * N);
	cap_close(&cap);
}
END_TEST

/* A pair on a CPU touches nothing of the others. */
START_TEST(what_is_given_is_taken_again)
{
	size_t common;

	set_up(1000000, CPUS);
	ck_assert(take());
	cap_give(&cap);
	common = atomword_load(&cap.common->places);
	for (int i = 0; i < 10000; i++) {
		ck_assert(take());
		cap_give(&cap);
	}
	ck_assert_uint_eq(atomword_load(&cap.common->places), common);
	cap_close(&cap);
}
END_TEST

/* Each CPU has some that it does not use. */
START_TEST(all_are_called_in)
{
	enum { MAX = 1000 };

	set_up(MAX, CPUS);
	for (int round = 0; round < 3; round++) {
		for (cpu_now = 0; cpu_now < CPUS; cpu_now++) {
			ck_assert(take());
			cap_give(&cap);
		}
		ck_assert_uint_le(atomword_load(&cap.common->places),
				  MAX - CPUS);
		cpu_now = round;
		take_all(MAX);
		for (int i = 0; i < MAX; i++) {
			cpu_now = i % CPUS;
			cap_give(&cap);
		}
		ck_assert_uint_eq(cap_free(&cap), MAX);
	}
	cap_close(&cap);
}
END_TEST

/* Fewer places than CPUs, and as many: each is taken, wherever it was given. */
START_TEST(few)
{
	for (size_t max = 1; max <= CPUS; max++) {
		set_up(max, CPUS);
		for (cpu_now = 0; cpu_now < 2 * CPUS; cpu_now++) {
			take_all(max);
			for (size_t i = 0; i < max; i++)
				cap_give(&cap);
		}
		cap_close(&cap);
	}
	cpu_now = 0;
}
END_TEST

START_TEST(random_against_a_number)
{
	static const size_t maxima[] = {1, 3, 100, 700, 20000};
	static const uint32_t shares[] = {1, 2, 3, CPUS};
	uint64_t rng = test_seed();

	for (int round = 0; round < 100; round++) {
		size_t max = maxima[random_below(&rng, 5)], taken = 0;

		set_up(max, shares[random_below(&rng, 4)]);
		for (int step = 0; step < 4000; step++) {
			/* It goes up and down. */
			uint64_t up = step / 1000 % 2 ? 30 : 70;
			size_t n = random_below(&rng, 1 + max / 50);

			cpu_now = (int)random_below(&rng, CPUS);
			for (bool more = random_below(&rng, 100) < up; n > 0;
			     n--) {
				if (more && take() != (taken < max))
					ck_abort_msg("%zu of %zu taken", taken,
						     max);
				if (more) {
					taken += taken < max;
				} else if (taken > 0) {
					cap_give(&cap);
					taken--;
				}
			}
			ck_assert_uint_eq(cap_free(&cap), max - taken);
		}
		cap_close(&cap);
	}
	cpu_now = 0;
}
END_TEST

enum { THREADS = 4, STEPS = 50000 };

static atom32 held, most;

static void count_taken(void)
{
	uint32_t n = AO_int_fetch_and_add_full(&held, 1) + 1;

	if (n > atom32_load(&most))
		atom32_store(&most, n);
}

static void count_given(void)
{
	AO_int_fetch_and_add_full(&held, (unsigned)-1);
}

struct racer {
	pthread_t thread;
	uint64_t rng;
	size_t share; /* that it never exceeds; 0: none */
	size_t refused;
};

static void *race(void *arg)
{
	struct racer *r = arg;
	size_t mine = 0;

	for (int i = 0; i < STEPS; i++) {
		if (random_below(&r->rng, 8) == 0)
			cpu_now = (int)random_below(&r->rng, CPUS);
		if (mine > 0 &&
		    (mine == r->share || random_below(&r->rng, 2))) {
			count_given();
			cap_give(&cap);
			mine--;
		} else if (take()) {
			count_taken();
			mine++;
		} else {
			r->refused++;
		}
	}
	for (; mine > 0; mine--) {
		count_given();
		cap_give(&cap);
	}
	return NULL;
}

/* Returns how often one was refused. */
static size_t run_race(size_t max, uint32_t shares, size_t share)
{
	struct racer racer[THREADS];
	uint64_t rng = test_seed();
	size_t refused = 0;

	atom32_store(&most, 0);
	set_up(max, shares);
	for (int i = 0; i < THREADS; i++) {
		racer[i] = (struct racer){.rng = next_random(&rng),
					  .share = share};
		ck_assert_int_eq(
			pthread_create(&racer[i].thread, NULL, race, &racer[i]),
			0);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(racer[i].thread, NULL);
		refused += racer[i].refused;
	}
	ck_assert_uint_le(atom32_load(&most), max);
	ck_assert_uint_eq(cap_free(&cap), max);
	cap_close(&cap);
	return refused;
}

START_TEST(never_more)
{
	ck_assert_uint_gt(run_race(3, CPUS, 0), 0);
	ck_assert_uint_gt(run_race(8, 2, 0), 0);
	run_race(40, 3, 0);
	run_race(300, CPUS, 0);
}
END_TEST

START_TEST(none_is_refused_its_share)
{
	for (size_t share = 1; share <= 200; share = share * 3 + 1) {
		ck_assert_uint_eq(run_race(THREADS * share, 2, share), 0);
		ck_assert_uint_eq(run_race(THREADS * share, CPUS, share), 0);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		none,
		the_common_share_is_seldom_touched,
		what_is_given_is_taken_again,
		all_are_called_in,
		few,
		random_against_a_number,
		never_more,
		none_is_refused_its_share,
	};

	return RUN_TESTS("cap", tests);
}
