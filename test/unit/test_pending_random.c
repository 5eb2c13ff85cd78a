/* SPDX-License-Identifier: MIT */
/*
 * Random steps with what is pending, against an array of the timers that live;
 * with memory and without.
 */
#include "blocks.h"
#include "config.h"

#include "bare_pending.h"
#include "fail_alloc.h"

/* A model: the timers that live. */
enum { MODEL_MAX = 4000 };
static struct {
	uint64_t id;
	int64_t deadline;
} model[MODEL_MAX];
static size_t model_n;

static int64_t random_deadline(uint64_t *rng, int spread)
{
	return now() + (int64_t)(random_below(rng, 99999) << spread);
}

static void model_schedule(int64_t deadline)
{
	model[model_n].deadline = deadline;
	model[model_n].id = schedule(deadline);
	model_n++;
}

static void model_reschedule(uint64_t *rng, int64_t deadline)
{
	size_t i = random_below(rng, model_n);

	model[i].deadline = deadline;
	must_reschedule(model[i].id, deadline);
}

static void model_cancel(uint64_t *rng)
{
	size_t i = random_below(rng, model_n);

	must_cancel(model[i].id);
	model[i] = model[--model_n];
}

/* It is the earliest, and one of those that are. */
static void model_run(void)
{
	int64_t earliest = INT64_MAX;
	const struct slot *s;
	size_t i;

	for (i = 0; i < model_n; i++) {
		if (model[i].deadline < earliest)
			earliest = model[i].deadline;
	}
	s = run();
	for (i = 0; s != slot_of(model[i].id);)
		i++;
	must(model[i].deadline == earliest);
	model[i] = model[--model_n];
}

/* What the driver does, without memory or with it. */
static void model_drive(uint64_t dice)
{
	pending_begin_turn(&pending);
	if (dice % 4 == 0)
		collect(now());
	if (dice % 10 == 1)
		earliest();
	if (model_n > 0 && dice >= 90)
		model_run();
	if (dice % 16 == 0) {
		pending_open_ahead(&pending, now());
		intake_flush(intake);
	}
}

static void model_step(uint64_t *rng, bool grow, int spread, uint64_t dice)
{
	int64_t deadline = random_deadline(rng, spread);

	if (model_n < MODEL_MAX && dice < (grow ? 85 : 30))
		model_schedule(deadline);
	else if (model_n > 0 && dice >= 75 && dice < 83)
		model_cancel(rng);
	else if (model_n > 0 && dice >= 83 && dice < 90)
		model_reschedule(rng, deadline);
	else if (dice >= 98)
		watch_set(&watch, now() + (INT64_C(50) << spread));
}

static void begin_to_fail(void)
{
	no_block(&intake->pool);
	fail_arm(0, UINT32_MAX);
}

/*
 * Random steps; times are spread by so many bits.  With fail the driver finds
 * no memory but what is there.  Returns how many allocations failed.
 */
static uint32_t random_steps(bool fail, int spread)
{
	enum { STEPS = 6000 };
	uint64_t rng = test_seed();
	uint32_t failures = 0;

	model_n = 0;
	begin_pending(2);
	for (int i = 0; i < STEPS; i++) {
		uint64_t dice = random_below(&rng, 100);

		/* What comes in needs memory of its own. */
		model_step(&rng, i / (STEPS / 2) % 2 == 0, spread, dice);
		if (fail)
			begin_to_fail();
		model_drive(dice);
		if (fail)
			failures += fail_disarm();
		check();
	}
	if (fail)
		begin_to_fail();
	while (model_n > 0)
		model_run();
	ck_assert_int_eq(earliest(), INT64_MAX);
	if (fail)
		failures += fail_disarm();
	end_pending();
	return failures;
}

START_TEST(random_against_array)
{
	ck_assert_uint_eq(random_steps(false, 0), 0);
	ck_assert_uint_eq(random_steps(false, 8), 0);
	ck_assert_uint_eq(random_steps(false, 14), 0);
	ck_assert_uint_eq(random_steps(false, 25), 0);
	ck_assert_uint_eq(random_steps(false, 40), 0);
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

START_TEST(random_out_of_memory)
{
	ck_assert_uint_gt(random_steps(true, 0), 0);
	ck_assert_uint_gt(random_steps(true, 8), 0);
	ck_assert_uint_gt(random_steps(true, 14), 0);
	ck_assert_uint_gt(random_steps(true, 30), 0);
}
END_TEST

#endif

int main(void)
{
	const TTest *const tests[] = {
		random_against_array,
#ifndef FAIL_ALLOC_UNAVAILABLE
		random_out_of_memory,
#endif
	};

	return RUN_TESTS("pending_random", tests);
}
