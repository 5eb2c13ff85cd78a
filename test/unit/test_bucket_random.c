/* SPDX-License-Identifier: MIT */
/*
 * Random steps with a bucket, against a model: the timers that live, and when
 * they are due.
 */
#include "config.h"

#include "one_bucket.h"
#include "sweeping.h"

#include <errno.h>

/* A model: the timers that live, and when they are due. */
enum { MODEL_MAX = 2000 };
static struct {
	uint64_t id;
	int64_t deadline;
} model[MODEL_MAX];
static size_t model_n;

static int64_t random_deadline(uint64_t *rng)
{
	uint64_t bits = 16 + random_below(rng, 36);

	return watch_now(&watch) + (int64_t)(next_random(rng) >> (64 - bits)) -
	       1000;
}

static void model_schedule(uint64_t *rng)
{
	if (model_n == MODEL_MAX)
		return;
	model[model_n].deadline = random_deadline(rng);
	model[model_n].id = schedule(model[model_n].deadline);
	model_n++;
}

static void model_cancel(uint64_t *rng)
{
	size_t i = random_below(rng, model_n);

	must(cancel(model[i].id) == 0);
	must(cancel(model[i].id) == -ENOENT);
	model[i] = model[--model_n];
}

static void model_reschedule(uint64_t *rng)
{
	size_t i = random_below(rng, model_n);

	model[i].deadline = random_deadline(rng);
	must(reschedule(model[i].id, model[i].deadline) == 0);
}

/* Whatever the bucket was asked to look at, all that is due runs. */
static void model_run(int64_t now)
{
	size_t due = 0;

	for (size_t i = 0; i < model_n; i++) {
		if (model[i].deadline <= now) {
			due++;
			model[i--] = model[--model_n];
		}
	}
	ck_assert_uint_eq(run_due(now), due);
}

/* No timer is due before what is announced. */
static void model_check(void)
{
	int64_t nearest = bucket->nearest;

	bucket_check(bucket);
	must(wakeup.visit_at[0] == nearest);
	for (size_t i = 0; i < model_n; i++) {
		const struct slot *s = slot_of(model[i].id);

		must(s->due >= nearest && model[i].deadline >= nearest);
		must(s->deadline == model[i].deadline);
	}
}

START_TEST(random_steps)
{
	enum { STEPS = 30000 };
	uint64_t rng = test_seed();

	model_n = 0;
	begin();
	for (int i = 0; i < STEPS; i++) {
		uint64_t dice = random_below(&rng, 1000);
		int64_t pass = (int64_t)(next_random(&rng) >>
					 (20 + random_below(&rng, 24)));

		if (dice < 550)
			model_schedule(&rng);
		else if (model_n > 0 && dice < 700)
			model_reschedule(&rng);
		else if (model_n > 0 && dice < 970)
			model_cancel(&rng);
		else if (dice < 975)
			sweep_as_driver(bucket, false);
		else if (dice < 978)
			model_run(watch_now(&watch));
		else
			watch_set(&watch, watch_now(&watch) + pass);
		model_check();
	}
	ck_assert_uint_eq(run_all(), model_n);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		random_steps,
	};

	return RUN_TESTS("bucket_random", tests);
}
