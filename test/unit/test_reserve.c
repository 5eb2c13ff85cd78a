/* SPDX-License-Identifier: MIT */
/*
 * A reserve: as long as no more timers exist than it is for, nothing takes
 * memory, and nothing fails for it.  And what is done where there is none:
 * other buckets' slots, and sweeps.
 */
#include "blocks.h"
#include "config.h"

#include "checks/bucket.h"
#include "checks/pending.h"
#include "cpus.h"
#include "fail_alloc.h"
#include "intake/reserve.h"
#include "owing.h"
#include "random.h"
#include "sweeping.h"
#include "timers.h"

#include <sched.h>

enum { N = 10000, CPUS = 4, FAR_LANES = 6 };

static timerthread_id ids[N];
static atom32 fired;

static void count(void *arg)
{
	(void)arg;
	atom32_add(&fired, 1);
}

/*
 * Where there are buckets for several CPUs, and one of no CPU; and from now on
 * there is no memory.
 */
static void start_with(size_t reserve, size_t cap)
{
	unsigned n = (unsigned)cpu_count() + CPUS;

	setup();
	atom32_store(&fired, 0);
	ck_assert_int_eq(timerthread_set_buckets(tt, n), 0);
	ck_assert_int_eq(timerthread_set_reserve(tt, reserve), 0);
	ck_assert_int_eq(timerthread_set_max_timers(tt, cap), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	settle();
	if (cap > 0)
		wait_for_places(cap);
	fail_arm(0, UINT32_MAX);
}

static void start_virtual_with(size_t reserve)
{
	setup();
	ck_assert_int_eq(timerthread_set_reserve(tt, reserve), 0);
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
}

static void end_without(void)
{
	ck_assert_uint_eq(fail_disarm(), 0);
	end();
}

/* For which there are buckets: one on a virtual clock. */
static unsigned cpus(void)
{
	return tt->engine.intake->cpus.n;
}

/* A lane each, and far enough that it does not come while a test runs. */
static int64_t lane_time(unsigned lane)
{
	return timerthread_now(tt) + (INT64_C(30000) << 4 * lane) * MS;
}

static void schedule_one(int i, int64_t deadline)
{
	int r = timerthread_schedule(tt, deadline, count, NULL, &ids[i]);

	if (r != 0)
		ck_abort_msg("timer %d: %d", i, r);
}

static void cancel_one(int i)
{
	ck_assert_int_eq(timerthread_cancel(tt, ids[i]), 0);
}

START_TEST(option)
{
	ck_assert_int_eq(timerthread_set_reserve(NULL, 1), -EINVAL);
	setup();
	ck_assert_int_eq(timerthread_set_reserve(tt, SIZE_MAX), -EINVAL);
	ck_assert_int_eq(timerthread_set_reserve(tt, (1u << 30) + 1), -EINVAL);
	ck_assert_int_eq(timerthread_set_reserve(tt, 1u << 30), 0);
	ck_assert_int_eq(timerthread_set_reserve(tt, 0), 0);
	ck_assert_int_eq(timerthread_set_reserve(tt, 10), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	ck_assert_int_eq(timerthread_set_reserve(tt, 10), -EBUSY);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	ck_assert_int_eq(timerthread_set_reserve(tt, 10), -EBUSY);
	end();
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

/* Then nothing is started, and another start may do. */
START_TEST(no_memory_for_it)
{
	uint32_t n;

	setup();
	ck_assert_int_eq(timerthread_set_reserve(tt, N), 0);
	for (n = 0;; n++) {
		int r;

		fail_arm(n, 1);
		errno = 7;
		r = timerthread_start_virtual(tt, 0);
		ck_assert_int_eq(errno, 7);
		fail_disarm();
		if (r == 0)
			break;
		ck_assert_int_eq(r, -ENOMEM);
	}
	/* Slabs of blocks, slots, rows and heaps. */
	ck_assert_uint_gt(n, 25);
	end();

	/* Late, then early: what the first has freed is not freed again. */
	setup();
	ck_assert_int_eq(timerthread_set_max_timers(tt, N), 0);
	ck_assert_int_eq(timerthread_set_reserve(tt, N), 0);
	while (n-- > 0) {
		fail_arm(n, 1);
		ck_assert_int_eq(timerthread_start_virtual(tt, 0), -ENOMEM);
		fail_disarm();
	}
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	end();
}
END_TEST

#endif

/* From one CPU alone, and from the one that nobody else is on. */
START_TEST(all_from_one_cpu)
{
	start_with(N, N);
	for (unsigned c = 0; c < cpus(); c++) {
		cpu_now = (int)c;
		for (int i = 0; i < N; i++)
			schedule_one(i, lane_time((unsigned)i % FAR_LANES));
		ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, NULL),
				 -EAGAIN);
		for (int i = 0; i < N; i++)
			cancel_one(i);
	}
	end_without();
}
END_TEST

/* All of them have the same bucket, which has a few slots only. */
START_TEST(all_repeat_often)
{
	start_with(N, N);
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(timerthread_schedule_every(
					 tt, lane_time(0), TIMERTHREAD_SEC,
					 count, NULL, &ids[i]),
				 0);
	for (int i = 0; i < N; i++)
		cancel_one(i);
	end_without();
}
END_TEST

/*
 * What was cancelled lies in lanes where nobody comes by any more, and all of
 * the reserve is needed each time.
 */
START_TEST(what_is_dead_is_where_nobody_looks)
{
	start_with(N, N);
	for (unsigned round = 0; round < 4 * FAR_LANES; round++) {
		cpu_now = (int)(round / FAR_LANES % cpus());
		for (int i = 0; i < N; i++)
			schedule_one(i, lane_time(round % FAR_LANES));
		for (int i = 0; i < N; i++)
			cancel_one(i);
	}
	end_without();
}
END_TEST

/* It has taken them, and is in a callback. */
START_TEST(what_is_dead_is_with_the_driver)
{
	enum { OTHERS = N - 2 };

	start_with(N, N);
	for (int round = 0; round < 20; round++) {
		hold_thread();
		schedule(1, hold, &ran);
		for (int i = 0; i < OTHERS; i++)
			schedule_one(i, timerthread_now(tt) + 7 * MS);
		sem_post(&go);
		wait_for(&ran);
		for (int k = 0; k < 3; k++) {
			for (int i = 0; i < OTHERS; i++)
				cancel_one(i);
			for (int i = 0; i < OTHERS; i++)
				schedule_one(i, timerthread_now(tt) + HOUR);
		}
		for (int i = 0; i < OTHERS; i++)
			cancel_one(i);
		sem_post(&go);
		settle();
	}
	end_without();
}
END_TEST

/* Each to any time, and back; entries that do not count pile up. */
START_TEST(rescheduled_again_and_again)
{
	uint64_t rng = test_seed();

	start_with(N, N);
	for (int i = 0; i < N; i++)
		schedule_one(i, lane_time(4));
	for (int k = 0; k < 20 * N; k++) {
		int i = (int)random_below(&rng, N);
		unsigned lane = (unsigned)random_below(&rng, FAR_LANES);

		ck_assert_int_eq(
			timerthread_reschedule(tt, ids[i], lane_time(lane)), 0);
	}
	for (int i = 0; i < N; i++)
		cancel_one(i);
	end_without();
}
END_TEST

/* Not even blocks: then there is nothing but the slots. */
START_TEST(nothing_but_slots)
{
	struct block *chain = NULL, *b;

	start_with(N, N);
	while ((b = block_pool_take(&tt->engine.intake->pool)) != NULL)
		block_push(&chain, b);
	for (unsigned round = 0; round < 2 * FAR_LANES; round++) {
		for (int i = 0; i < N; i++)
			schedule_one(i, lane_time(round % FAR_LANES));
		for (int i = 0; i < N; i++)
			ck_assert_int_eq(timerthread_reschedule_after(
						 tt, ids[i], 20000 * MS),
					 0);
		for (int i = 0; i < N; i++)
			cancel_one(i);
	}
	for (int i = 0; i < N; i++)
		schedule_one(i, lane_time((unsigned)i % FAR_LANES));
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(timerthread_reschedule(tt, ids[i], 0), 0);
	while (atom32_load_acquire(&fired) < N)
		sched_yield();
	block_pool_give(&tt->engine.intake->pool, chain);
	end_without();
}
END_TEST

/* The worst of all of these, by chance, and all that is left runs. */
START_TEST(at_random)
{
	uint64_t rng = test_seed();
	bool pending[N] = {false};
	uint32_t left = 0;

	start_with(N, 0);
	for (int k = 0; k < 40 * N; k++) {
		int i = (int)random_below(&rng, N);
		unsigned lane = (unsigned)random_below(&rng, FAR_LANES);

		cpu_now = (int)random_below(&rng, cpus());
		if (pending[i] && random_below(&rng, 2)) {
			ck_assert_int_eq(timerthread_reschedule(
						 tt, ids[i], lane_time(lane)),
					 0);
			continue;
		}
		if (pending[i])
			cancel_one(i);
		else
			schedule_one(i, lane_time(lane));
		pending[i] = !pending[i];
	}
	for (int i = 0; i < N; i++) {
		if (!pending[i])
			continue;
		ck_assert_int_eq(timerthread_reschedule(tt, ids[i], 0), 0);
		left++;
	}
	settle();
	settle();
	ck_assert_uint_eq(atom32_load(&fired), left);
	end_without();
}
END_TEST

static void *race(void *arg)
{
	uint64_t rng = (uintptr_t)arg;
	timerthread_id id[N / 8];
	void *wrong = NULL;

	cpu_now = (int)((uintptr_t)arg % cpus());
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < N / 8; i++) {
			int64_t t = lane_time(
				(unsigned)random_below(&rng, FAR_LANES));

			if (timerthread_schedule(tt, t, never, NULL, &id[i]) !=
			    0)
				wrong = arg;
		}
		cpu_now = (int)random_below(&rng, cpus());
		for (int i = 0; i < N / 8; i++)
			timerthread_cancel(tt, id[i]);
	}
	return wrong;
}

/* For twice its share, in each lane; and they stay. */
START_TEST(rows)
{
	enum { MANY = 100000 };

	start_with(MANY, 0);
	for (uint32_t i = 0; i < cpus(); i++) {
		for (int k = 0; k < LANES; k++) {
			const struct queue *q =
				&tt->engine.intake->bucket[i].lane[k].queue;

			ck_assert_uint_ge(q->size / 8 * 7 * BLOCK_ENTRIES,
					  2 * MANY / cpus());
			ck_assert_uint_eq(queue_wants_rows(q), q->size);
		}
	}
	end();
}
END_TEST

/* All of them together use up all of it. */
START_TEST(many_threads)
{
	setup();
	ck_assert_int_eq(timerthread_set_buckets(tt, CPUS), 0);
	ck_assert_int_eq(timerthread_set_reserve(tt, N), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	settle();
	fail_arm(0, 0);
	for (int i = 0; i < 4; i++)
		run_threads(race, 8);
	/* Threads are made, whose stacks are memory. */
	atom32_store(&fail_armed, 0);
	for (uint32_t i = 0; i < cpus(); i++)
		ck_assert(!block_pool_grows(&tt->engine.intake->pool));
	end();
}
END_TEST

static void *go_beyond(void *arg)
{
	cpu_now = (int)((uintptr_t)arg % cpus());
	for (int i = 0; i < N / 4; i++) {
		if (timerthread_schedule_after(tt, HOUR, count, NULL, NULL) !=
		    0)
			return arg;
	}
	return NULL;
}

/* Whoever comes upon that first, no call fails for it. */
START_TEST(beyond_it_together)
{
	for (int round = 0; round < 20; round++) {
		setup();
		ck_assert_int_eq(timerthread_set_buckets(tt, 1 + round % 2), 0);
		ck_assert_int_eq(timerthread_set_reserve(tt, N / 2), 0);
		ck_assert_int_eq(driver_start(tt), 0);
		run_threads(go_beyond, 8);
		for (uint32_t i = 0; i < cpus(); i++)
			ck_assert(block_pool_grows(&tt->engine.intake->pool));
		end();
	}
}
END_TEST

/* Then memory is taken as ever. */
START_TEST(more_than_the_reserve)
{
	enum { MORE = 4 * N };
	static timerthread_id id[MORE];

	start_with(N, 0);
	atom32_store(&fail_armed, 0);
	for (int i = 0; i < MORE; i++)
		id[i] = schedule(lane_time((unsigned)i % FAR_LANES), count,
				 NULL);
	for (int i = 0; i < MORE; i++)
		ck_assert_int_eq(timerthread_reschedule(tt, id[i], 0), 0);
	settle();
	settle();
	ck_assert_uint_eq(atom32_load(&fired), MORE);
	end();
}
END_TEST

/* One at a time, wherever they are, once; and none that an executor has. */
START_TEST(sweep)
{
	struct bucket *b;

	setup();
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	b = &tt->engine.intake->bucket[0];
	for (int i = 0; i < N; i++)
		schedule_one(i, (i + 1) * MS);
	ck_assert(!sweep_some_of(b));
	/* Some of them are with the driver then. */
	ck_assert_int_eq(timerthread_advance(tt, 1), 0);
	for (int i = 0; i < N; i += 3)
		cancel_one(i);
	sweep_all_of(b);
	ck_assert_uint_eq(slots_in_use(), N - (N + 2) / 3);
	bucket_check(b);
	for (int i = 0; i < N; i += 3) {
		ck_assert_int_eq(timerthread_cancel(tt, ids[i]), -ENOENT);
		schedule_one(i, (i + 1) * MS);
	}
	ck_assert_int_eq(timerthread_advance(tt, HOUR), N);
	bucket_check(b);
	end();
}
END_TEST

/*
 * The driver, when it comes upon what it has, finds that it is another's.  And
 * it drops that before it takes memory.
 */
START_TEST(swept_before_it_is_found)
{
	struct bucket *b;

	setup();
	ck_assert_int_eq(timerthread_set_reserve(tt, N), 0);
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	fail_arm(0, UINT32_MAX);
	b = &tt->engine.intake->bucket[0];
	for (int round = 0; round < 10; round++) {
		/* One in each block is due, so all others are filed. */
		for (int i = round % 2; i < N; i += 2)
			schedule_one(i, i % 100 < 2 ? round + 1 : MS + i);
		ck_assert_int_eq(timerthread_advance(tt, 1), N / 100);
		ck_assert_uint_le(tt->engine.pending.heap.n,
				  tt->engine.pending.heap.kept);
		pending_check(&tt->engine.pending);
		for (int i = 1 - round % 2; i < N && round > 0; i += 2)
			timerthread_cancel(tt, ids[i]);
		sweep_all_of(b);
		ck_assert_uint_eq(slots_in_use(), N / 2 - N / 100);
	}
	ck_assert_int_eq(timerthread_advance(tt, HOUR), N / 2 - N / 100);
	ck_assert_uint_eq(slots_in_use(), 0);
	end_without();
}
END_TEST

/* After a time at its peak, and as many rounds as one likes. */
START_TEST(it_stays)
{
	enum { LARGE = 100000 };
	uint64_t before;

	start_virtual_with(LARGE);
	/* As other drivers do, it gives memory back. */
	tt->engine.reclaim.if_told = false;
	before = stat_of(TIMERTHREAD_STAT_SLOTS);
	for (int i = 0; i < LARGE; i++)
		schedule(MS, count, NULL);
	ck_assert_int_eq(timerthread_advance(tt, 2 * MS), LARGE);
	for (int i = 0; i < 5; i++) {
		owe_round(&tt->engine);
		ck_assert_int_eq(timerthread_advance(tt, MS), 0);
	}
	ck_assert_uint_eq(stat_of(TIMERTHREAD_STAT_SLOTS), before);
	end();
}
END_TEST

/* What was kept comes back, and no more than that. */
START_TEST(pool)
{
	enum { BLOCKS = 5 };
	struct block *b, *chain = NULL;
	struct block_pool p = {.fixed = 1};

	ck_assert_ptr_null(block_pool_take(&p));
	atom32_store(&p.fixed, 0);
	ck_assert(block_pool_fill(&p, BLOCKS));
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < BLOCKS; i++) {
			b = block_pool_take(&p);
			ck_assert_ptr_nonnull(b);
			ck_assert_ptr_null(b->next);
			block_push(&chain, b);
		}
		ck_assert_ptr_null(block_pool_take(&p));
		if (round == 1)
			block_push(&chain, block_alloc());
		block_pool_give(&p, chain);
		block_pool_give(&p, NULL);
		chain = NULL;
		ck_assert_uint_eq(p.n, BLOCKS);
	}
	block_pool_destroy(&p);
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

/* Where there is no reserve either, before a call fails. */
START_TEST(elsewhere_without_a_reserve)
{
	int n = 0, r = 0;

	setup();
	ck_assert_int_eq(timerthread_set_buckets(tt, 2), 0);
	ck_assert_int_eq(driver_start(tt), 0);
	settle();
	if (cpus() == 1) {
		end();
		return;
	}
	cpu_now = 1;
	schedule_one(0, HOUR + timerthread_now(tt));
	cpu_now = 0;
	schedule_one(1, HOUR + timerthread_now(tt));
	fail_arm(0, UINT32_MAX);
	for (n = 2; r == 0 && n < N; n++)
		r = timerthread_schedule(tt, HOUR + timerthread_now(tt), never,
					 NULL, &ids[n]);
	ck_assert_int_eq(r, -ENOMEM);
	/* What is dead in the other bucket will do. */
	for (int i = 0; i < n - 1; i++)
		cancel_one(i);
	for (int i = 0; i < n - 1; i++)
		schedule_one(i, HOUR + timerthread_now(tt));
	ck_assert_uint_gt(fail_disarm(), 0);
	end();
}
END_TEST

#endif

int main(void)
{
	const TTest *const any[] = {
		option,
		all_from_one_cpu,
		all_repeat_often,
		what_is_dead_is_where_nobody_looks,
		rescheduled_again_and_again,
		nothing_but_slots,
		at_random,
		many_threads,
		beyond_it_together,
		more_than_the_reserve,
#ifndef FAIL_ALLOC_UNAVAILABLE
		elsewhere_without_a_reserve,
#endif
	};
	const TTest *const once[] = {
#ifndef FAIL_ALLOC_UNAVAILABLE
		no_memory_for_it,
#endif
		sweep,
		swept_before_it_is_found,
		it_stays,
		pool,
		rows,
	};
	/* An executor keeps what it has, dead or not. */
	const TTest *const without_executor[] = {
		what_is_dead_is_with_the_driver,
	};
	TCase *tcase = tcase_create("reserve");

	ADD_TESTS(tcase, any);
	if (driver_tested() != ON_EXECUTOR)
		ADD_TESTS(tcase, without_executor);
	if (driver_tested() == ON_THREAD)
		ADD_TESTS(tcase, once);
	return run_case("reserve", tcase);
}
