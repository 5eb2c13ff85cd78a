/* SPDX-License-Identifier: MIT */
/*
 * What grows with a peak does not come from malloc: there it would keep the
 * memory of the program that lies below it.
 *
 * memory.c is compiled again here, to count what is asked of malloc.
 */
#include "config.h"

#define memory_alloc real_memory_alloc
#include "os/memory.c"
#undef memory_alloc

void *memory_alloc(size_t size);

#include "virtual.h"

enum { N = 100000 };

static size_t asked; /* bytes of malloc's */

void *memory_alloc(size_t size)
{
	asked += size;
	return real_memory_alloc(size);
}

/* Far, in no order and near; and at the same time, so that the heap has all. */
START_TEST(timers_are_not)
{
	uint64_t rng = test_seed();

	begin(0);
	asked = 0;
	for (int i = 0; i < N; i++) {
		schedule(HOUR, note, NULL);
		schedule((int64_t)random_below(&rng, MS), note, NULL);
	}
	ck_assert_int_eq(advance(MS), N);
	ck_assert_int_eq(advance(HOUR), N);
	ck_assert_uint_eq(asked, 0);
	timerthread_destroy(tt);
}
END_TEST

START_TEST(a_reserve_is_not)
{
	size_t before;

	asked = 0;
	begin(0);
	timerthread_destroy(tt);
	before = asked;
	asked = 0;
	setup();
	ck_assert_int_eq(timerthread_set_reserve(tt, N), 0);
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	ck_assert_uint_eq(asked, before);
	timerthread_destroy(tt);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		timers_are_not,
		a_reserve_is_not,
	};

	return RUN_TESTS("peak", tests);
}
