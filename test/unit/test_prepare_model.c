/* SPDX-License-Identifier: MIT */
/*
 * Many timers that are armed and disarmed, on a virtual clock, against what is
 * known of each: old entries are in all queues, and none makes a timer run.
 */
#include "config.h"

#include "prepared.h"
#include "virtual.h"

#include <string.h>

enum { TIMERS = 1000, ARMS = 20 };

static struct known {
	timerthread_id id;
	int64_t deadline;
	int64_t set; /* what the clock showed then */
	bool armed;
	int arms; /* so far */
} known[TIMERS];

static uint64_t rng;
static int64_t until; /* where the clock goes */
static int armed;     /* of all, so many */

static int64_t due(const struct known *k)
{
	return k->deadline > k->set ? k->deadline : k->set;
}

static void run(void *arg)
{
	struct known *k = arg;

	SAME(k->armed, true);
	SAME(now(), due(k));
	SAME(k->deadline <= until, true);
	k->armed = false;
	armed--;
	runs++;
}

static int64_t some_distance(void)
{
	switch (random_below(&rng, 8)) {
	case 0:
		return -(int64_t)random_below(&rng, 1000);
	case 1:
		return (int64_t)random_below(&rng, 3);
	case 2:
		return (int64_t)(next_random(&rng) >> 2);
	default:
		return (int64_t)(next_random(&rng) >>
				 (20 + random_below(&rng, 34)));
	}
}

static void arm_one(struct known *k)
{
	k->deadline = plus(now(), some_distance());
	k->set = now();
	SAME(arm(k->id, k->deadline), 0);
	armed += !k->armed;
	k->armed = true;
	k->arms++;
}

static void disarm_one(struct known *k)
{
	int expected = k->armed ? 0 : -ENOENT;

	if (random_below(&rng, 2))
		SAME(disarm(k->id), expected);
	else
		SAME(disarm_wait(k->id), expected);
	armed -= k->armed;
	k->armed = false;
}

static void look(const struct known *k)
{
	int64_t deadline = k->deadline;

	SAME(timerthread_get_deadline(tt, k->id, &deadline),
	     k->armed ? 0 : -ENOENT);
	SAME(deadline, k->deadline);
}

/* The first deadline, but not before now. */
static int64_t first_due(void)
{
	int64_t first = TIMERTHREAD_NEVER;

	for (int i = 0; i < TIMERS; i++) {
		if (known[i].armed && known[i].deadline < first)
			first = known[i].deadline;
	}
	return first < now() ? now() : first;
}

static void check_all(void)
{
	int64_t next = 0;

	for (int i = 0; i < TIMERS; i++)
		look(&known[i]);
	SAME(timerthread_get_next_deadline(tt, &next), 0);
	SAME(next, first_due());
	SAME((int64_t)stat_of(TIMERTHREAD_STAT_PENDING), armed);
	SAME((int64_t)stat_of(TIMERTHREAD_STAT_UNARMED), TIMERS - armed);
}

static void go_on(int64_t ns)
{
	int n, before = runs;

	until = plus(now(), ns);
	n = advance(ns);
	SAME(n, runs - before);
	for (int i = 0; i < TIMERS; i++) {
		SAME(known[i].armed && known[i].deadline <= until &&
			     known[i].deadline != TIMERTHREAD_NEVER,
		     false);
	}
}

static void step(struct known *k)
{
	switch (random_below(&rng, 4)) {
	case 0:
		disarm_one(k);
		break;
	case 1:
		disarm_one(k);
		arm_one(k);
		break;
	default:
		arm_one(k);
		disarm_one(k);
		if (random_below(&rng, 2))
			arm_one(k);
		break;
	}
}

static bool all_were_armed(void)
{
	for (int i = 0; i < TIMERS; i++) {
		if (known[i].arms < ARMS)
			return false;
	}
	return true;
}

static void run_program(int64_t first)
{
	memset(known, 0, sizeof(known));
	armed = 0;
	begin(first);
	for (int i = 0; i < TIMERS; i++)
		known[i].id = prepare(run, &known[i]);
	while (!all_were_armed()) {
		for (int i = 0; i < TIMERS / 10; i++)
			step(&known[random_below(&rng, TIMERS)]);
		go_on((int64_t)(next_random(&rng) >>
				(20 + random_below(&rng, 40))));
		if (random_below(&rng, 8) == 0)
			check_all();
	}
	check_all();
	go_on(INT64_MAX);
	go_on(INT64_MAX);
	check_all();
}

START_TEST(as_the_model)
{
	const int programs = is_slow() ? 1 : 5;

	rng = test_seed();
	for (int i = 0; i < programs; i++) {
		run_program(i % 2 ? -HOUR : 0);
		ck_assert_int_eq(cancel_all(), TIMERS);
		end();
	}
	ck_assert_int_gt(runs, TIMERS);
}
END_TEST

/* Each keeps its id, and none of them is another's. */
START_TEST(cancelled_at_the_end)
{
	rng = test_seed();
	run_program(1000);
	for (int i = 0; i < TIMERS; i++) {
		struct known *k = &known[i];

		if (i % 2)
			arm_one(k);
		SAME(cancel(k->id), 0);
		armed -= k->armed;
		check_gone(k->id);
	}
	ck_assert_int_eq(advance(INT64_MAX), 0);
	SAME((int64_t)stat_of(TIMERTHREAD_STAT_UNARMED), 0);
	SAME((int64_t)stat_of(TIMERTHREAD_STAT_PENDING), 0);
	end();
}
END_TEST

/*
 * Callbacks that arm and disarm others, and themselves.
 */
enum { FEW = 50, MOST = 20000 };

static void meddle(void *arg)
{
	struct known *k = arg, *other = &known[random_below(&rng, FEW)];

	run(arg);
	while (other == k)
		other = &known[random_below(&rng, FEW)];
	if (random_below(&rng, 2))
		disarm_one(other);
	if (runs < MOST && random_below(&rng, 2))
		arm_one(other);
	switch (random_below(&rng, 4)) {
	case 0:
		SAME(disarm_wait(k->id), -EDEADLK);
		break;
	case 1:
		SAME(disarm(k->id), 1);
		break;
	default:
		break;
	}
	if (runs < MOST && random_below(&rng, 2))
		arm_one(k);
	if (random_below(&rng, 8) == 0) {
		SAME(disarm(k->id), 1);
		armed -= k->armed;
		k->armed = false;
	}
	look(k);
	look(other);
}

START_TEST(callbacks_meddle)
{
	rng = test_seed();
	begin(0);
	for (int i = 0; i < FEW; i++)
		known[i].id = prepare(meddle, &known[i]);
	while (runs < MOST) {
		for (int i = 0; i < FEW / 4; i++)
			arm_one(&known[random_below(&rng, FEW)]);
		until = plus(now(), (int64_t)(next_random(&rng) >> 30));
		advance(until - now());
		SAME(now(), until);
	}
	SAME((int64_t)stat_of(TIMERTHREAD_STAT_PENDING), armed);
	SAME((int64_t)stat_of(TIMERTHREAD_STAT_UNARMED), FEW - armed);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		as_the_model,
		cancelled_at_the_end,
		callbacks_meddle,
	};

	return RUN_TESTS("prepare_model", tests);
}
