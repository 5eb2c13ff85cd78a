/* SPDX-License-Identifier: MIT */
/*
 * CPUs that are many or few, that are not known, that a thread may not use, and
 * that come and go.  What the library takes for the CPU is what the test says,
 * unless it leaves that to the system.
 */
#include "config.h"

#include "os/cpu.h"
#include "timers.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { SYSTEM = -2, UNKNOWN = -1 };

static _Thread_local int cpu_now = SYSTEM;

int sched_getcpu(void)
{
	int (*next)(void);

	if (cpu_now >= 0)
		return cpu_now;
	if (cpu_now == UNKNOWN) {
		errno = ENOSYS;
		return -1;
	}
	next = (int (*)(void))dlsym(RTLD_NEXT, "sched_getcpu");
	return next();
}

static void start_with(unsigned buckets)
{
	setup();
	ck_assert_int_eq(timerthread_set_buckets(tt, buckets), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
}

static struct intake *intake(void)
{
	return tt->engine.intake;
}

static uint32_t bucket_of(timerthread_id id)
{
	return intake_bucket(intake(), slot_index(id))->slots.bucket;
}

static timerthread_id far_timer(void)
{
	return schedule(timerthread_now(tt) + HOUR, never, NULL);
}

START_TEST(each_has_its_bucket)
{
	start_with(64);
	for (cpu_now = 0; cpu_now < 64; cpu_now++)
		ck_assert_uint_eq(bucket_of(far_timer()), (uint32_t)cpu_now);
	/* Its memory is its own, and an idle CPU has none. */
	for (uint32_t i = 0; i < 64; i++)
		ck_assert_uint_eq(intake()->bucket[i].slots.used, 1);
	end();

	start_with(64);
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
	start_with(3);
	for (cpu_now = 0; cpu_now < 2000; cpu_now += 37) {
		timerthread_id id = far_timer();

		ck_assert_uint_eq(bucket_of(id), (uint32_t)cpu_now % 3);
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
	start_with(8);
	errno = EDOM;
	for (int i = 0; i < 100; i++)
		ck_assert_uint_eq(bucket_of(far_timer()), 0);
	ck_assert_int_eq(errno, EDOM);
	cpu_now = SYSTEM;
	end();
}
END_TEST

/* Runs fn where the thread may use one CPU only. */
static void on_one_cpu(int cpu, void (*fn)(int cpu))
{
	cpu_set_t one, before;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	if (!CPU_ISSET(cpu, &before))
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	fn(cpu);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* As under taskset(1): there is a bucket for each CPU that there may be. */
static void start_here(int cpu)
{
	timerthread_id id;

	setup();
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	ck_assert_uint_eq(intake()->n, intake_default_buckets());
	ck_assert_int_ge(intake()->n, sysconf(_SC_NPROCESSORS_ONLN));
	id = far_timer();
	ck_assert_uint_eq(bucket_of(id), (uint32_t)cpu % intake()->n);
	schedule(0, post, &ran);
	wait_for(&ran);
	end();
}

START_TEST(restricted_to_one)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		on_one_cpu(cpu, start_here);
}
END_TEST

static void schedule_here(int cpu)
{
	ck_assert_uint_eq(bucket_of(far_timer()), (uint32_t)cpu % intake()->n);
}

/* The thread is moved while the instance runs. */
START_TEST(moved)
{
	setup();
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	for (int i = 0; i < 20; i++) {
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			on_one_cpu(cpu, schedule_here);
	}
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
		each_has_its_bucket,
		fewer_buckets_than_cpus,
		no_cpu_is_known,
		restricted_to_one,
		moved,
		cpus_go,
		threads_wander,
	};

	return RUN_TESTS("cpu", tests);
}
