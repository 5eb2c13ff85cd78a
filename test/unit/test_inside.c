/* SPDX-License-Identifier: MIT */
/*
 * What is seen from outside of a callback that is running belongs together; the
 * rest of inside.h is tested with the calls that use it.
 */
#include "engine/inside.h"
#include "harness.h"
#include "must.h"

#include <pthread.h>

static struct inside inside;
static atom32 done;

/* The argument is what all else is, too. */
static void nothing(void *arg)
{
	(void)arg;
}

static struct run run_number(uint32_t n)
{
	return (struct run){
		.id = n,
		.since = n,
		.fn = nothing,
		.arg = (void *)(uintptr_t)n,
	};
}

static void call(uint32_t n)
{
	const struct task_id threads = {NULL, NULL};
	const struct run run = run_number(n);

	must(inside_call(NULL, &inside, &threads, &run, run.fn, run.arg));
}

static void look_inside(void *arg)
{
	struct run s;

	*(bool *)arg = inside_look(&inside, &s) && s.id == 7 && s.since == 7 &&
		       s.fn == nothing && s.arg == (void *)(uintptr_t)7;
}

START_TEST(while_it_runs)
{
	const struct task_id threads = {NULL, NULL};
	struct run run = run_number(7);
	struct run s;
	bool seen = false;

	ck_assert(!inside_look(&inside, &s));
	must(inside_call(NULL, &inside, &threads, &run, look_inside, &seen));
	ck_assert(seen);
	ck_assert(!inside_look(&inside, &s));

	/* What is no timer's is not shown. */
	run.id = 0;
	seen = false;
	must(inside_call(NULL, &inside, &threads, &run, look_inside, &seen));
	ck_assert(!seen);
	ck_assert(!inside_look(&inside, &s));
}
END_TEST

static void *call_for_long(void *arg)
{
	for (uint32_t n = 1; !atom32_load(&done); n += n < UINT32_MAX)
		call(n);
	return arg;
}

enum { LOOKS = 1000000, SIGHTS = 20000 };

static void check_whole(const struct run *s, uint64_t last)
{
	must(s->id >= last);
	must(s->since == (int64_t)s->id);
	must(s->fn == nothing);
	must((uintptr_t)s->arg == s->id);
}

START_TEST(while_it_changes)
{
	uint64_t last = 0;
	pthread_t t;
	int seen = 0;

	ck_assert_int_eq(pthread_create(&t, NULL, call_for_long, NULL), 0);
	for (int i = 0; i < LOOKS || seen < SIGHTS; i++) {
		struct run s;

		if (!inside_look(&inside, &s))
			continue;
		check_whole(&s, last);
		last = s.id;
		seen++;
	}
	atom32_store(&done, 1);
	pthread_join(t, NULL);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		while_it_runs,
		while_it_changes,
	};

	return RUN_TESTS("inside", tests);
}
