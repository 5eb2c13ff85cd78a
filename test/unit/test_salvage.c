/* SPDX-License-Identifier: MIT */
/*
 * Salvage: which dead slots are taken from under their entries, where a search
 * goes on, and what becomes of entries and lists that knew the slot before.
 */
#include "blocks.h"
#include "config.h"

#include "bare_intake.h"
#include "checks/slot_heap.h"
#include "fail_alloc.h"
#include "intake/handover.h"
#include "intake/reserve.h"
#include "salvaging.h"
#include "tasks.h"

enum { N = 5000 };

static timerthread_id ids[N];
static unsigned runs;

static void count(void *arg)
{
	(void)arg;
	runs++;
}

static struct bucket *only_bucket(void)
{
	return &tt->engine.intake->bucket[0];
}

static size_t salvage_all(void)
{
	size_t before = slots_in_use();

	salvage_all_of(only_bucket());
	return before - slots_in_use();
}

static void schedule_all(int n, int64_t deadline)
{
	for (int i = 0; i < n; i++)
		ids[i] = schedule(deadline + i, count, NULL);
}

static void cancel_all(int first, int n)
{
	for (int i = first; i < n; i++)
		ck_assert_int_eq(timerthread_cancel(tt, ids[i]), 0);
}

/*
 * An executor still has a timer that was cancelled: its slot is nobody else's
 * before run(arg) has come for it.
 */
START_TEST(what_an_executor_has_is_left_alone)
{
	runs = 0;
	start_with(VIRTUAL, keep);
	schedule_all(N, MS);
	ck_assert_int_eq(advance(2 * MS), N);
	cancel_all(0, N);
	ck_assert_uint_eq(salvage_all(), 0);
	ck_assert_uint_eq(slots_in_use(), N);
	/* Others come, and are not due when it calls. */
	for (int i = 0; i < N; i++)
		ids[i] = schedule(HOUR, count, NULL);
	call_tasks();
	ck_assert_uint_eq(runs, 0);
	ck_assert_uint_eq(slots_in_use(), N);
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(deadline_of(ids[i]), HOUR);
	cancel_all(0, N);
	ck_assert_uint_eq(salvage_all(), N);
	check_inside();
	end();
}
END_TEST

/* The entry that is left behind is not taken for that of the next timer. */
START_TEST(the_entry_left_behind_runs_nothing)
{
	setup();
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	for (int periodic = 0; periodic < 2; periodic++) {
		int64_t now = timerthread_now(tt);

		runs = 0;
		for (int i = 0; i < N; i++)
			ids[i] = periodic ? every(now + MS + i, 1, count, NULL)
					  : schedule(now + MS + i, count, NULL);
		cancel_all(0, N);
		ck_assert_uint_eq(salvage_all(), N);
		for (int i = 0; i < N; i++) {
			timerthread_id old = ids[i];

			ids[i] = periodic ? schedule(now + 3 * MS, count, NULL)
					  : every(now + 3 * MS, HOUR, count,
						  NULL);
			check_not_pending(old);
		}
		ck_assert_int_eq(advance(2 * MS), 0);
		ck_assert_int_eq(advance(1 * MS), N);
		ck_assert_uint_eq(runs, N);
		for (int i = 0; i < N; i++)
			timerthread_cancel(tt, ids[i]);
		salvage_all();
		ck_assert_uint_eq(slots_in_use(), 0);
		check_inside();
	}
	end();
}
END_TEST

/* One dead slot is found, wherever it is and wherever the last search ended. */
START_TEST(each_is_found)
{
	setup();
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	schedule_all(N, HOUR);
	for (int i = 0; i < N; i += 1 + i % 77) {
		cancel_all(i, i + 1);
		ck_assert(salvage_some_of(only_bucket()));
		ck_assert(!salvage_some_of(only_bucket()));
		ids[i] = schedule(HOUR, count, NULL);
	}
	cancel_all(0, 1);
	cancel_all(N - 1, N);
	ck_assert_uint_eq(salvage_all(), 2);
	end();
}
END_TEST

/* Each slot is looked at once in so many looks. */
START_TEST(a_search_goes_on_where_the_last_ended)
{
	uint64_t looks = UINT64_MAX;
	uint32_t slots;

	setup();
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	schedule_all(N, HOUR);
	ck_assert(!bucket_salvage(only_bucket(), &looks));
	slots = (uint32_t)(UINT64_MAX - looks);
	ck_assert_uint_ge(slots, N);
	ck_assert_uint_lt(slots, 2 * N);
	cancel_all(0, N);
	for (looks = slots; looks > 0;)
		bucket_salvage(only_bucket(), &looks);
	ck_assert_uint_eq(slots_in_use(), 0);
	end();
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

enum { FEW = 100 };

/* Timers that have slots, and no entry: there is no memory for a block. */
static void strand(int n, int64_t deadline)
{
	for (int i = 0; i < n; i++)
		ids[i] = schedule(deadline + i, count, NULL);
}

static void start_stranding(void)
{
	setup();
	ck_assert_int_eq(timerthread_start_virtual(tt, 0), 0);
	runs = 0;
	/* Slots for all of them, and no block. */
	schedule_all(2 * FEW, HOUR);
	cancel_all(0, 2 * FEW);
	ck_assert_int_eq(advance(2 * HOUR), 0);
	ck_assert_uint_eq(slots_in_use(), 0);
	block_free_all(only_bucket()->spares);
	only_bucket()->spares = NULL;
	no_slab(only_bucket()->pool);
	fail_arm(0, UINT32_MAX);
}

static size_t count_stranded(void)
{
	const struct bucket *b = only_bucket();

	return slot_heap_check(&b->stranded, &b->slots);
}

/* The heap has the others, and they run. */
START_TEST(the_stranded)
{
	for (int left = 0; left < 3; left++) {
		int64_t then;

		start_stranding();
		then = timerthread_now(tt) + 5 * MS;
		for (int round = 0; round < 3; round++) {
			strand(FEW, then);
			ck_assert_uint_ge(count_stranded(), FEW - 1);
			for (int i = 0; i < FEW; i++) {
				if (i % 3 == left || round < 2)
					cancel_all(i, i + 1);
			}
			ck_assert_uint_gt(salvage_all(), 0);
		}
		/* Of whatever entries there were room for, none counts. */
		ck_assert_uint_eq(slots_in_use(), FEW - (FEW - left + 2) / 3);
		for (int i = 0; i < FEW; i++) {
			if (i % 3 == left)
				ids[i] = schedule(then + i, count, NULL);
		}
		/* The others are in no heap any more. */
		for (int i = 0; i < FEW; i++)
			ck_assert_int_eq(
				timerthread_reschedule(tt, ids[i], then + i),
				0);
		fail_disarm();
		ck_assert_int_eq(advance(4 * MS), 0);
		ck_assert_int_eq(advance(2 * MS), FEW);
		ck_assert_uint_eq(runs, FEW);
		ck_assert_uint_eq(slots_in_use(), 0);
		check_inside();
		end();
	}
}
END_TEST

/* A slot that was stranded is in no heap when it is used again. */
START_TEST(a_slot_that_was_stranded_is_rescheduled)
{
	int64_t now;

	start_stranding();
	now = timerthread_now(tt);
	strand(FEW, now + HOUR);
	cancel_all(0, FEW);
	ck_assert_uint_ge(salvage_all(), FEW - 1);
	fail_disarm();
	for (int i = 0; i < FEW; i++)
		ids[i] = schedule(now + HOUR, count, NULL);
	for (int i = 0; i < FEW; i++)
		ck_assert_int_eq(timerthread_reschedule(tt, ids[i], now + MS),
				 0);
	ck_assert_int_eq(advance(2 * MS), FEW);
	check_inside();
	end();
}
END_TEST

/* Between two steps of a visit, when the driver has entries for some. */
START_TEST(the_stranded_that_a_visit_has_yet_to_take)
{
	struct bucket *b;
	struct visit v;
	struct block *spares = NULL;

	start_stranding();
	b = only_bucket();
	strand(FEW, timerthread_now(tt) + 5 * MS);
	ck_assert_uint_eq(count_stranded(), FEW);
	visit_begin(&v, INT64_MAX, timerthread_now(tt));
	do {
		ck_assert(bucket_collect(b, &tt->engine.wakeup, &v, &spares));
	} while (v.entries == 0);
	ck_assert_uint_eq(count_stranded(), FEW - v.entries);
	cancel_all(0, FEW);
	ck_assert_uint_eq(salvage_all(), FEW);
	ck_assert_uint_eq(slots_in_use(), 0);
	ck_assert_uint_eq(count_stranded(), 0);
	/* The entries that the driver has do not count any more. */
	for (int i = 0; i < v.entries; i++) {
		struct slot *s = slots_of(&b->slots, v.entry[i].index);

		must(expiry_look(b, s, &v.entry[i]) == EXPIRY_STALE);
	}
	check_inside();
	fail_disarm();
	block_free_all(spares);
	end();
}
END_TEST

/*
 * Two buckets without a reserve.  The first is full, and all of its timers
 * live; the second has dead ones.  A call takes a few looks only.
 */
static const struct timer far = {HOUR, 0, count, NULL, 0};

static void begin_buckets(uint32_t n)
{
	watch = WATCH_VIRTUAL(0);
	begin_intake(n);
}

/* With at least n timers, and no slot left. */
static int fill(struct bucket *b, int n)
{
	int i = 0;

	while (i < n || slots_any(&b->slots) ||
	       slots_untouched(&b->slots) > 0) {
		must(i < N);
		must(bucket_schedule(b, &wakeup, &far, &ids[i]) == 0);
		i++;
	}
	return i;
}

static int schedule_elsewhere(uint32_t bucket)
{
	return intake_schedule_elsewhere(intake, &intake->bucket[bucket],
					 &wakeup, &far, NULL, -ENOMEM);
}

START_TEST(a_search_without_a_reserve_ends_and_goes_on)
{
	enum { BUCKETS = 3, DEAD = BUCKETS - 1 };
	int n, failed = 0, failures = 0, found = 0;

	begin_buckets(BUCKETS);
	fill(&intake->bucket[0], 3 * SALVAGE_LOOKS);
	fill(&intake->bucket[1], 100);
	n = fill(&intake->bucket[DEAD], 2 * SALVAGE_LOOKS);
	fail_arm(0, UINT32_MAX);
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(schedule_elsewhere(1), -ENOMEM);
	for (int i = 0; i < n; i++)
		must(cancel(ids[i]) == 0);
	while (found < n) {
		int r = schedule_elsewhere(DEAD);

		ck_assert(r == 0 || r == -ENOMEM);
		/* All looks of a pass, and those that found nothing. */
		failed = r == 0 ? 0 : failed + 1;
		ck_assert_int_le(failed, 8);
		failures += r != 0;
		found += r == 0;
	}
	/* It has met the living first, and not looked at all of them. */
	ck_assert_int_gt(failures, 0);
	/* A call that fails says why the first attempt did. */
	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(schedule_elsewhere(0), -ENOMEM);
		ck_assert_int_eq(
			intake_schedule_elsewhere(intake, &intake->bucket[0],
						  &wakeup, &far, NULL, -EAGAIN),
			-EAGAIN);
	}
	fail_disarm();
	end_intake();
}
END_TEST

/* So few looks that a small bucket is passed in the same call. */
START_TEST(a_small_bucket_is_passed_in_one_call)
{
	int n;

	begin_buckets(2);
	fill(&intake->bucket[0], 100);
	n = fill(&intake->bucket[1], 100);
	fail_arm(0, UINT32_MAX);
	for (int i = 0; i < n; i++)
		must(cancel(ids[i]) == 0);
	for (int i = 0; i < n; i++)
		ck_assert_int_eq(schedule_elsewhere(0), 0);
	ck_assert_int_eq(schedule_elsewhere(0), -ENOMEM);
	fail_disarm();
	end_intake();
}
END_TEST

#endif

int main(void)
{
	const TTest *const tests[] = {
		what_an_executor_has_is_left_alone,
		the_entry_left_behind_runs_nothing,
		each_is_found,
		a_search_goes_on_where_the_last_ended,
#ifndef FAIL_ALLOC_UNAVAILABLE
		the_stranded,
		a_slot_that_was_stranded_is_rescheduled,
		the_stranded_that_a_visit_has_yet_to_take,
		a_search_without_a_reserve_ends_and_goes_on,
		a_small_bucket_is_passed_in_one_call,
#endif
	};

	return RUN_TESTS("salvage", tests);
}
