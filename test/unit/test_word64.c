/* SPDX-License-Identifier: MIT */
#include "base/word64.h"
#include "harness.h"
#include "must.h"

#include <pthread.h>

static struct counter counter;

START_TEST(adds_up)
{
	struct counter c = {0};

	ck_assert_uint_eq(counter_read(&c), 0);
	counter_add(&c, 0);
	ck_assert_uint_eq(counter_read(&c), 0);
	counter_add(&c, UINT32_MAX);
	ck_assert_uint_eq(counter_read(&c), UINT32_MAX);
	counter_add(&c, 1);
	ck_assert_uint_eq(counter_read(&c), UINT64_C(1) << 32);
	counter_add(&c, UINT64_C(0x123456789abcdef));
	ck_assert_uint_eq(counter_read(&c), UINT64_C(0x123456889abcdef));
}
END_TEST

/* So that the upper half of a 32-bit machine's changes often. */
enum { READS = 300000 };
#define STEP (UINT64_C(0xc0000001))

static atom32 stop;

static void *add_for_long(void *arg)
{
	while (!atom32_load(&stop))
		counter_add(&counter, STEP);
	return arg;
}

START_TEST(who_reads_gets_what_it_was)
{
	uint64_t last = 0;
	pthread_t t;

	ck_assert_int_eq(pthread_create(&t, NULL, add_for_long, NULL), 0);
	for (int i = 0; i < READS || last == 0; i++) {
		uint64_t now = counter_read(&counter);

		must(now >= last && now % STEP == 0);
		last = now;
	}
	atom32_store(&stop, 1);
	pthread_join(t, NULL);
	ck_assert_uint_gt(counter_read(&counter), 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		adds_up,
		who_reads_gets_what_it_was,
	};

	return RUN_TESTS("word64", tests);
}
