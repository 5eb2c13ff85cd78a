/* SPDX-License-Identifier: MIT */
/*
 * CPUs that are many or few, that are not known, and that come and go.
 */
#include "config.h"

#define CPU_AT_FIRST SYSTEM
#include "cpus.h"
#include "os/cpu.h"
#include "placed.h"

#include <pthread.h>
#include <unistd.h>

static void start_with(unsigned buckets)
{
	setup();
	ck_assert_int_eq(timerthread_set_buckets(tt, buckets), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
}

/* A driver that holds no bucket's lock while the test schedules. */
static void start_quiet(unsigned buckets)
{
	int fd;

	setup();
	ck_assert_int_eq(timerthread_set_buckets(tt, buckets), 0);
	ck_assert_int_eq(timerthread_start_polled(tt, &fd), 0);
}

START_TEST(each_has_its_bucket)
{
	start_quiet(65);
	for (cpu_now = 0; cpu_now < 64; cpu_now++)
		ck_assert_uint_eq(bucket_of(far_timer()), (uint32_t)cpu_now);
	/* Its memory is its own, and an idle CPU has none. */
	for (uint32_t i = 0; i < 64; i++)
		ck_assert_uint_eq(intake()->bucket[i].slots.used, 1);
	end();

	start_quiet(64);
	cpu_now = 17;
	for (int i = 0; i < 1000; i++)
		far_timer();
	for (uint32_t i = 0; i < 64; i++)
		ck_assert(!slots_at(&intake()->bucket[i].slots,
				    SLOT_FIRST_NUMBER) == (i != 17));
	cpu_now = SYSTEM;
	end();
}
END_TEST

/* As in a container that shows fewer CPUs than it runs on. */
START_TEST(fewer_buckets_than_cpus)
{
	start_quiet(3);
	for (cpu_now = 0; cpu_now < 2000; cpu_now += 37) {
		timerthread_id id = far_timer();

		ck_assert_uint_eq(bucket_of(id),
				  (uint32_t)cpu_now % intake()->cpus.n);
		ck_assert_int_eq(timerthread_cancel(tt, id), 0);
	}
	cpu_now = SYSTEM;
	end();
}
END_TEST

/* All share the first bucket, and errno is left alone. */
START_TEST(no_cpu_is_known)
{
	cpu_now = UNKNOWN;
	start_quiet(8);
	errno = EDOM;
	for (int i = 0; i < 100; i++)
		ck_assert_uint_eq(bucket_of(far_timer()), 0);
	ck_assert_int_eq(errno, EDOM);
	cpu_now = SYSTEM;
	end();
}
END_TEST

/*
 * Timers of CPUs that have gone run, and those that were cancelled give their
 * slots back although nobody schedules there again.
 */
START_TEST(cpus_go)
{
	enum { GONE = 8, EACH = 500 };
	static timerthread_id id[GONE][EACH];

	start_with(GONE + 1);
	for (cpu_now = 0; cpu_now < GONE; cpu_now++) {
		for (int i = 0; i < EACH; i++)
			id[cpu_now][i] = schedule(timerthread_now(tt) + HOUR,
						  post, &ran);
	}
	cpu_now = GONE;
	for (int c = 0; c < GONE; c++) {
		ck_assert_int_eq(timerthread_reschedule(tt, id[c][0], 0), 0);
		for (int i = 1; i < EACH; i++)
			ck_assert_int_eq(timerthread_cancel(tt, id[c][i]), 0);
		wait_for(&ran);
	}
	/* The driver looks when it is awake anyway. */
	while (slots_in_use() > 1) {
		schedule(0, post, &ran);
		wait_for(&ran);
		usleep(1000);
	}
	cpu_now = SYSTEM;
	end();
}
END_TEST

enum { STEPS = 20000, MINE = 50, THREADS = 4 };

static void *wander(void *arg)
{
	uint64_t rng = test_seed() + (uintptr_t)arg;
	timerthread_id mine[MINE] = {0};
	void *wrong = NULL;

	for (int i = 0; i < STEPS; i++) {
		timerthread_id *id = &mine[random_below(&rng, MINE)];
		int64_t far = timerthread_now(tt) + HOUR;

		cpu_now = (int)random_below(&rng, 300);
		if (*id && timerthread_reschedule(tt, *id, far - i) != 0)
			wrong = arg;
		cpu_now = (int)random_below(&rng, 300);
		if (*id && timerthread_cancel(tt, *id) != 0)
			wrong = arg;
		if (timerthread_schedule(tt, far, never, NULL, id) != 0)
			wrong = arg;
	}
	return wrong;
}

/* Between any two calls a thread may be on another CPU. */
START_TEST(threads_wander)
{
	setup();
	ck_assert_int_eq(timerthread_set_buckets(tt, 256), 0);
	ck_assert_int_eq(timerthread_set_max_timers(tt, THREADS * MINE), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	run_threads(wander, THREADS);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		each_has_its_bucket, fewer_buckets_than_cpus,
		no_cpu_is_known,     cpus_go,
		threads_wander,
	};

	return RUN_TESTS("cpu", tests);
}
