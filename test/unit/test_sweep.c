/* SPDX-License-Identifier: MIT */
/*
 * Sweeps, by calls and by the driver: which slots are taken from under their
 * entries, where a sweep goes on, and what becomes of entries and lists that
 * knew the slot before.
 *
 * sweep.c is compiled again here.  Before each of its steps with a slot,
 * "another thread" does its own: one that takes no lock.
 */
#include "blocks.h"
#include "config.h"

#include "bare_intake.h"
#include "checks/slot_heap.h"
#include "fail_alloc.h"
#include "intake/collect.h"
#include "intake/expiry.h"
#include "intake/reserve.h"
#include "intake/unqueued.h"
#include "os/memory.h"
#include "sweeping.h"
#include "tasks.h"

static void (*other_step)(void);
static unsigned until_step;

static void step(void)
{
	void (*other)(void) = other_step;

	if (!other || until_step-- > 0)
		return;
	other_step = NULL;
	other();
}

static uint32_t step_and_load(const atom32 *a)
{
	step();
	return atom32_load(a);
}

static uint32_t step_and_swap(atom32 *a, uint32_t from, uint32_t to)
{
	step();
	return atom32_swap(a, from, to);
}

static void step_and_free(struct slot *s, uint32_t word)
{
	step();
	slot_free(s, word);
}

#define atom32_load step_and_load
#define atom32_swap step_and_swap
#define slot_free   step_and_free
#define settle      settle_slot
#include "intake/sweep.c"
#undef atom32_load
#undef atom32_swap
#undef slot_free
#undef settle

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

static void start_empty(void)
{
	start_virtual();
	runs = 0;
}

/*
 * The three reasons to sweep.  A call sweeps a part: here all is swept.
 */
enum { BY_ONE_CALL, BY_CALLS, BY_DRIVER, WAYS };

static void sweep_for_calls(struct bucket *b)
{
	for (uint32_t seen = 0; seen < 2 * b->slots.fresh; seen++) {
		lock_acquire(&b->lock);
		b->sweep_at = 0;
		sweep_for_call(b);
		lock_release(&b->lock);
	}
}

static void sweep_bucket(struct bucket *b, int way)
{
	if (way == BY_ONE_CALL)
		sweep_all_of(b);
	else if (way == BY_CALLS)
		sweep_for_calls(b);
	else
		sweep_as_driver(b, false);
}

/* Returns how many slots were freed. */
static size_t sweep_all(int way)
{
	size_t before = slots_in_use();

	sweep_bucket(only_bucket(), way);
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

static void disarm_all(int first, int n, int step_by)
{
	for (int i = first; i < n; i += step_by)
		ck_assert_int_eq(timerthread_disarm(tt, ids[i]), 0);
}

static void arm_all(int first, int n, int step_by, int64_t deadline)
{
	for (int i = first; i < n; i += step_by)
		ck_assert_int_eq(timerthread_reschedule(tt, ids[i], deadline),
				 0);
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
	ck_assert_uint_eq(sweep_all(_i), 0);
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
	ck_assert_uint_eq(sweep_all(_i), N);
	check_inside();
	end();
}
END_TEST

/* The same for one that was disarmed: it is armed again before that, or not. */
START_TEST(disarmed_and_with_an_executor)
{
	runs = 0;
	start_with(VIRTUAL, keep);
	schedule_all(N, MS);
	ck_assert_int_eq(advance(2 * MS), N);
	disarm_all(0, N, 1);
	ck_assert_uint_eq(sweep_all(_i), 0);
	arm_all(0, N, 2, HOUR);
	call_tasks();
	arm_all(1, N, 2, HOUR);
	ck_assert_uint_eq(runs, 0);
	ck_assert_int_eq(advance(HOUR / 2), 0);
	ck_assert_int_eq(advance(HOUR), N);
	call_tasks();
	ck_assert_uint_eq(runs, N);
	ck_assert_uint_eq(slots_in_use(), 0);
	check_inside();
	end();
}
END_TEST

/* How near the timers are when they are swept: where their entries are. */
enum { IN_LANE, IN_BLOCKS, IN_HEAP, PLACES };

static const int64_t distance_of[PLACES] = {HOUR / 2, 50 * MS, 5 * MS};

/* The driver has what is near, once something that came with it is due. */
static void collect_some(int64_t now)
{
	schedule(now + 1, count, NULL);
	ck_assert_int_eq(advance(1), 1);
	runs = 0;
}

/* The entry that is left behind is not taken for that of the next timer. */
START_TEST(the_entry_left_behind_runs_nothing)
{
	for (int i = 0; i < 2 * PLACES; i++) {
		bool periodic = i % 2;
		int64_t now, then;

		start_empty();
		now = timerthread_now(tt);
		then = now + distance_of[i / 2];
		for (int k = 0; k < N; k++)
			ids[k] = periodic ? every(then + k, 1, count, NULL)
					  : schedule(then + k, count, NULL);
		collect_some(now);
		cancel_all(0, N);
		ck_assert_uint_eq(sweep_all(_i), N);
		for (int k = 0; k < N; k++) {
			timerthread_id old = ids[k];

			ids[k] = periodic ? schedule(then + HOUR, count, NULL)
					  : every(then + HOUR, HOUR, count,
						  NULL);
			check_not_pending(old);
		}
		ck_assert_int_eq(advance(then + N - now), 0);
		ck_assert_int_eq(advance(HOUR), N);
		ck_assert_uint_eq(runs, N);
		for (int k = 0; k < N; k++)
			timerthread_cancel(tt, ids[k]);
		sweep_all(_i);
		ck_assert_uint_eq(slots_in_use(), 0);
		check_inside();
		end();
	}
}
END_TEST

/*
 * The same for that of a timer that was disarmed, and is armed again for later:
 * it runs once, then.  A periodic one goes on as such.
 */
START_TEST(the_entry_of_the_disarmed_runs_nothing)
{
	for (int i = 0; i < 2 * PLACES; i++) {
		bool periodic = i % 2;
		int64_t now, then;

		start_empty();
		now = timerthread_now(tt);
		then = now + distance_of[i / 2];
		for (int k = 0; k < N; k++)
			ids[k] = periodic ? every(then + k, HOUR, count, NULL)
					  : schedule(then + k, count, NULL);
		collect_some(now);
		disarm_all(0, N, 1);
		ck_assert_uint_eq(sweep_all(_i), 0);
		for (int k = 0; k < N; k++)
			check_not_pending(ids[k]);
		/* Earlier than the entry, too. */
		arm_all(0, N / 2, 1, then + HOUR);
		arm_all(N / 2, N, 1, then - MS);
		ck_assert_int_eq(advance(then - 1 - now), N - N / 2);
		ck_assert_int_eq(advance(N + 1), 0);
		for (int k = 1; k <= 3; k++)
			ck_assert_int_eq(advance(HOUR), periodic ? N
							: k == 1 ? N / 2
								 : 0);
		for (int k = 0; k < N; k++)
			timerthread_cancel(tt, ids[k]);
		sweep_all(_i);
		ck_assert_uint_eq(slots_in_use(), 0);
		check_inside();
		end();
	}
}
END_TEST

/* One dead slot is found, wherever it is and wherever the last sweep ended. */
START_TEST(each_is_found)
{
	start_empty();
	schedule_all(N, HOUR);
	for (int i = 0; i < N; i += 1 + i % 77) {
		cancel_all(i, i + 1);
		ck_assert(sweep_some_of(only_bucket()));
		ck_assert(!sweep_some_of(only_bucket()));
		ids[i] = schedule(HOUR, count, NULL);
	}
	cancel_all(0, 1);
	cancel_all(N - 1, N);
	ck_assert_uint_eq(sweep_all(BY_ONE_CALL), 2);
	end();
}
END_TEST

/* Each slot is looked at once in so many looks. */
START_TEST(a_sweep_goes_on_where_the_last_ended)
{
	uint64_t looks = UINT64_MAX;
	uint32_t slots;

	start_empty();
	schedule_all(N, HOUR);
	ck_assert(!sweep_until_found(only_bucket(), &looks));
	slots = (uint32_t)(UINT64_MAX - looks);
	ck_assert_uint_ge(slots, N);
	ck_assert_uint_lt(slots, 2 * N);
	cancel_all(0, N);
	for (looks = slots; looks > 0;)
		sweep_until_found(only_bucket(), &looks);
	ck_assert_uint_eq(slots_in_use(), 0);
	end();
}
END_TEST

/*
 * A call that finds no slot sweeps a part; and if it finds little there, no
 * other sweeps before more slots are in use.  With a reserve, each does.
 */
START_TEST(calls_sweep_a_little)
{
	struct bucket *b;
	uint32_t swept;

	start_empty();
	schedule_all(N, HOUR);
	b = only_bucket();
	lock_acquire(&b->lock);
	b->sweep_at = 0;
	sweep_for_call(b);
	swept = b->swept;
	for (int i = 0; i < 10; i++)
		sweep_for_call(b);
	ck_assert_uint_eq(b->swept, swept);
	lock_release(&b->lock);
	cancel_all(0, N);
	lock_acquire(&b->lock);
	for (int i = 0; i < 10; i++)
		sweep_for_call(b);
	ck_assert_uint_eq(b->slots.used, N);
	atom32_store(&b->pool->fixed, 1);
	sweep_for_call(b);
	ck_assert_uint_lt(b->slots.used, N);
	ck_assert_uint_ge(b->slots.used, N - SWEEP_LOOKS);
	/* It has found many: the next one goes on. */
	atom32_store(&b->pool->fixed, 0);
	swept = b->slots.used;
	sweep_for_call(b);
	ck_assert_uint_lt(b->slots.used, swept);
	lock_release(&b->lock);
	end();
}
END_TEST

/* An eighth more are in use: of those, some may have ended. */
START_TEST(calls_sweep_again_where_there_are_more)
{
	enum { MORE = N / 8 };
	struct bucket *b;
	uint32_t swept;

	start_empty();
	schedule_all(N, HOUR);
	b = only_bucket();
	lock_acquire(&b->lock);
	b->sweep_at = 0;
	sweep_for_call(b);
	swept = b->swept;
	lock_release(&b->lock);
	for (int i = 0; i < MORE; i++) {
		ck_assert_uint_eq(b->swept, swept);
		schedule(HOUR, count, NULL);
	}
	lock_acquire(&b->lock);
	sweep_for_call(b);
	ck_assert_uint_ne(b->swept, swept);
	lock_release(&b->lock);
	end();
}
END_TEST

/*
 * The driver's.
 */

/* A step holds the lock for some looks, and says what it has seen. */
START_TEST(a_step_takes_a_part)
{
	uint64_t most = 256 + pages_size() / sizeof(struct slot), seen = 0;
	struct sweeping s = {0};
	bool more;
	int steps = 0;

	start_empty();
	schedule_all(N, HOUR);
	do {
		more = sweep_step(only_bucket(), &s);
		ck_assert_uint_le(s.seen - seen, most);
		seen = s.seen;
		steps++;
	} while (more);
	ck_assert_int_ge(steps, N / (int)most);
	ck_assert_int_le(steps, 4 + 4 * N / 256);
	ck_assert_uint_eq(s.seen, N);
	end();
}
END_TEST

START_TEST(it_counts_what_it_sees)
{
	enum { PART = N / 5 };
	struct sweeping s;

	start_empty();
	schedule_all(N, HOUR);
	cancel_all(0, PART);
	disarm_all(PART, 3 * PART, 1);
	for (int round = 0; round < 2; round++) {
		s = sweep_as_driver(only_bucket(), false);
		ck_assert_uint_eq(s.seen, round ? N - PART : N);
		ck_assert_uint_eq(s.freed, round ? 0 : PART);
		ck_assert_uint_eq(s.queued, N - 3 * PART);
		ck_assert(!s.gave);
		ck_assert_uint_eq(slots_in_use(), N - PART);
	}
	cancel_all(PART, N);
	sweep_all(BY_DRIVER);
	ck_assert_uint_eq(slots_in_use(), 0);
	end();
}
END_TEST

/*
 * Between two steps.  A bucket with one timer, whose entry the driver has.
 */
static const struct timer far = {HOUR, 0, count, NULL, 0};

static void begin_buckets(uint32_t n)
{
	watch = WATCH_VIRTUAL(0);
	begin_intake(n);
}

static struct {
	uint64_t id;
	struct slot *slot;
	struct entry entry;
	int result;
	bool done;
} one;

static struct bucket *first_bucket(void)
{
	return &intake->bucket[0];
}

static void begin_one(bool disarmed)
{
	begin_buckets(1);
	must(bucket_schedule(first_bucket(), &wakeup, &far, &one.id) == 0);
	one.slot = slot_of(one.id);
	one.entry = slot_entry(one.slot);
	one.result = -1;
	one.done = false;
	if (disarmed)
		must(bucket_disarm(first_bucket(), one.slot, one.id, false,
				   NULL) == 0);
	else
		must(cancel(one.id) == 0);
}

/* Sweeps while another thread does its step.  False: it takes fewer steps. */
static bool sweep_meanwhile(void (*other)(void), unsigned at)
{
	other_step = other;
	until_step = at;
	sweep_bucket(first_bucket(), BY_DRIVER);
	other_step = NULL;
	return one.done;
}

static void check_one_free(void)
{
	struct bucket *b = first_bucket();

	intake_flush(intake);
	bucket_check(b);
	ck_assert_uint_eq(b->slots.used, 0);
	ck_assert_int_eq(slot_state(atom32_load(&one.slot->state)), SLOT_FREE);
	ck_assert_int_eq(cancel(one.id), -ENOENT);
	ck_assert(!slot_owns(one.slot, &one.entry));
}

static void cancel_it(void)
{
	one.result = cancel(one.id);
	one.done = true;
}

START_TEST(cancelled_meanwhile)
{
	unsigned at = 0;

	for (bool more = true; more; at++) {
		begin_one(true);
		more = sweep_meanwhile(cancel_it, at);
		if (!more)
			cancel_it();
		ck_assert(one.result == 0 || one.result == SLOT_LEFT);
		/* It was unarmed by then: the caller has the slot. */
		if (one.result == SLOT_LEFT)
			bucket_give(first_bucket(), one.slot);
		check_one_free();
		end_intake();
	}
	ck_assert_uint_ge(at, 4);
}
END_TEST

/* The driver has seen it armed. */
static void hand_it_over(void)
{
	one.result = slot_hand_over(one.slot, &one.entry);
	one.done = true;
}

/* Only the executor's thread has it then, and it finds that it is over. */
START_TEST(handed_over_meanwhile)
{
	unsigned at = 0, handed = 0;

	for (bool more = true; more; at++) {
		uint64_t overrun = 0, id = 0;
		struct bucket *b;

		begin_one(false);
		b = first_bucket();
		more = sweep_meanwhile(hand_it_over, at);
		ck_assert_int_eq(b->slots.used, one.result == 1);
		must(bucket_schedule(b, &wakeup, &far, &id) == 0);
		if (one.result == 1) {
			ck_assert(slot_of(id) != one.slot);
			ck_assert_int_eq(
				expiry_begin(b, one.slot, HOUR, &overrun),
				EXPIRY_OVER);
			bucket_give(b, one.slot);
			handed++;
		} else {
			ck_assert_int_eq(
				expiry_hand_over(b, one.slot, &one.entry, HOUR),
				EXPIRY_STALE);
		}
		/* The other one lives, and its entry counts. */
		ck_assert_uint_eq(b->slots.used, 1);
		ck_assert(!slot_is_handed_over(slot_of(id)));
		ck_assert_int_eq(cancel(id), 0);
		sweep_bucket(b, BY_DRIVER);
		check_one_free();
		end_intake();
	}
	ck_assert_uint_ge(handed, 1);
	ck_assert_uint_gt(at, handed + 1);
}
END_TEST

/* Its entry does not count in the end, whoever was first. */
START_TEST(disarmed_and_handed_over_meanwhile)
{
	for (unsigned at = 0, more = 1; more; at++) {
		uint64_t overrun = 0;
		struct bucket *b;

		begin_one(true);
		b = first_bucket();
		more = sweep_meanwhile(hand_it_over, at);
		if (one.result == 1)
			ck_assert_int_eq(
				expiry_begin(b, one.slot, HOUR, &overrun),
				EXPIRY_STALE);
		else
			ck_assert_int_eq(
				expiry_hand_over(b, one.slot, &one.entry, HOUR),
				EXPIRY_STALE);
		ck_assert(!slot_is_handed_over(one.slot));
		ck_assert_uint_eq(b->slots.used, 1);
		ck_assert_int_eq(reschedule(one.id, 2 * HOUR), 0);
		ck_assert_int_eq(cancel(one.id), 0);
		sweep_bucket(b, BY_DRIVER);
		intake_flush(intake);
		ck_assert_uint_eq(b->slots.used, 0);
		end_intake();
	}
}
END_TEST

static void look_at_it(void)
{
	one.result = expiry_look(first_bucket(), one.slot, &one.entry) ==
		     EXPIRY_OVER;
	one.done = true;
}

/* By the driver, which gives it back. */
START_TEST(freed_while_it_is_swept)
{
	unsigned at = 0, freed = 0;

	for (bool more = true; more; at++) {
		begin_one(false);
		more = sweep_meanwhile(look_at_it, at);
		ck_assert_uint_eq(first_bucket()->slots.used, one.result == 1);
		if (one.result == 1) {
			intake_recycle(intake, one.slot);
			freed++;
		}
		check_one_free();
		end_intake();
	}
	ck_assert_uint_ge(freed, 1);
	ck_assert_uint_ge(at, 4);
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

enum { FEW = 100 };

/* Timers that have slots, and no entry: there is no memory for a block. */
static void mark_unqueued(int n, int64_t deadline)
{
	for (int i = 0; i < n; i++)
		ids[i] = schedule(deadline + i, count, NULL);
}

static void start_unqueued(void)
{
	start_empty();
	/* Slots for all of them, and no block. */
	schedule_all(2 * FEW, HOUR);
	cancel_all(0, 2 * FEW);
	ck_assert_int_eq(advance(2 * HOUR), 0);
	ck_assert_uint_eq(slots_in_use(), 0);
	block_free_all(only_bucket()->spares);
	only_bucket()->spares = NULL;
	no_block(only_bucket()->pool);
	fail_arm(0, UINT32_MAX);
}

static size_t count_unqueued(void)
{
	const struct bucket *b = only_bucket();

	return slot_heap_check(&b->unqueued, &b->slots);
}

/* The heap has the others, and they run. */
START_TEST(the_unqueued)
{
	for (int left = 0; left < 3; left++) {
		int64_t then;

		start_unqueued();
		then = timerthread_now(tt) + 5 * MS;
		for (int round = 0; round < 3; round++) {
			mark_unqueued(FEW, then);
			ck_assert_uint_ge(count_unqueued(), FEW - 1);
			for (int i = 0; i < FEW; i++) {
				if (i % 3 == left || round < 2)
					cancel_all(i, i + 1);
			}
			ck_assert_uint_gt(sweep_all(_i), 0);
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

/* A slot that was unqueued is in no heap when it is used again. */
START_TEST(a_slot_that_was_unqueued_is_rescheduled)
{
	int64_t now;

	start_unqueued();
	now = timerthread_now(tt);
	mark_unqueued(FEW, now + HOUR);
	cancel_all(0, FEW);
	ck_assert_uint_ge(sweep_all(_i), FEW - 1);
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
START_TEST(the_unqueued_that_a_visit_has_yet_to_take)
{
	struct bucket *b;
	struct visit v;

	start_unqueued();
	b = only_bucket();
	mark_unqueued(FEW, timerthread_now(tt) + 5 * MS);
	ck_assert_uint_eq(count_unqueued(), FEW);
	visit_begin(&v, INT64_MAX, timerthread_now(tt));
	do {
		ck_assert(bucket_collect(b, &tt->engine.wakeup, &v));
	} while (v.entries == 0);
	ck_assert_uint_eq(count_unqueued(), FEW - v.entries);
	cancel_all(0, FEW);
	ck_assert_uint_eq(sweep_all(_i), FEW);
	ck_assert_uint_eq(slots_in_use(), 0);
	ck_assert_uint_eq(count_unqueued(), 0);
	/* The entries that the driver has do not count any more. */
	for (int i = 0; i < v.entries; i++) {
		struct slot *s = slots_of(&b->slots, v.entry[i].index);

		must(expiry_look(b, s, &v.entry[i]) == EXPIRY_STALE);
	}
	check_inside();
	fail_disarm();
	end();
}
END_TEST

/*
 * Two buckets without a reserve.  The first is full, and all of its timers
 * live; the second has dead ones.  A call takes a few looks only.
 */
/* With at least n timers, and no slot left. */
static int fill(struct bucket *b, int n)
{
	int i = 0;

	while (i < n || slots_any(&b->slots) || vacancy_next(&b->slots) > 0) {
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
	size_t slots = 0;

	begin_buckets(BUCKETS);
	fill(&intake->bucket[0], 3 * SWEEP_LOOKS);
	fill(&intake->bucket[1], 100);
	n = fill(&intake->bucket[DEAD], 2 * SWEEP_LOOKS);
	for (uint32_t i = 0; i < BUCKETS; i++)
		slots += slots_room(&intake->bucket[i].slots);
	fail_arm(0, UINT32_MAX);
	/* The last few, when there is no memory for more. */
	for (int i = 0; i < 8; i++)
		must(cancel(ids[i]) == 0);
	sweep_as_driver(&intake->bucket[DEAD], false);
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(bucket_schedule(&intake->bucket[DEAD], &wakeup,
						 &far, &ids[i]),
				 0);
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(schedule_elsewhere(1), -ENOMEM);
	for (int i = 0; i < n; i++)
		must(cancel(ids[i]) == 0);
	while (found < n) {
		int r = schedule_elsewhere(DEAD);

		ck_assert(r == 0 || r == -ENOMEM);
		/* All looks of a pass, and those that found nothing. */
		failed = r == 0 ? 0 : failed + 1;
		ck_assert_uint_le((size_t)failed, slots / SWEEP_LOOKS + 2);
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

/*
 * Where there is no memory for more, words that were given back count as slots
 * of a bucket, for calls from another one.
 */
START_TEST(vacant_words_are_slots_to_take)
{
	enum { PEAK = 100000 };
	static uint64_t peak[PEAK];
	struct bucket *b;

	begin_buckets(2);
	fill(first_bucket(), 100);
	b = &intake->bucket[1];
	for (int i = 0; i < PEAK; i++)
		must(bucket_schedule(b, &wakeup, &far, &peak[i]) == 0);
	for (int i = 0; i < PEAK; i++)
		must(cancel(peak[i]) == 0);
	/* The peak is forgotten when two periods have ended. */
	for (int i = 0; i < 6; i++)
		sweep_as_driver(b, true);
	ck_assert_uint_gt(b->slots.vacancies, 0);
	fail_arm(0, UINT32_MAX);
	/* All but the last few, which it keeps for rounds. */
	for (int i = 0; i < PEAK / 4 * 3; i++)
		ck_assert_int_eq(schedule_elsewhere(0), 0);
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
		each_is_found,
		a_sweep_goes_on_where_the_last_ended,
		calls_sweep_a_little,
		calls_sweep_again_where_there_are_more,
		a_step_takes_a_part,
		it_counts_what_it_sees,
		cancelled_meanwhile,
		handed_over_meanwhile,
		disarmed_and_handed_over_meanwhile,
		freed_while_it_is_swept,
#ifndef FAIL_ALLOC_UNAVAILABLE
		a_search_without_a_reserve_ends_and_goes_on,
		a_small_bucket_is_passed_in_one_call,
		vacant_words_are_slots_to_take,
#endif
	};
	const TTest *const by_each[] = {
		what_an_executor_has_is_left_alone,
		disarmed_and_with_an_executor,
		the_entry_left_behind_runs_nothing,
		the_entry_of_the_disarmed_runs_nothing,
#ifndef FAIL_ALLOC_UNAVAILABLE
		the_unqueued,
		a_slot_that_was_unqueued_is_rescheduled,
		the_unqueued_that_a_visit_has_yet_to_take,
#endif
	};
	TCase *tcase = tcase_create("sweep");

	ADD_TESTS(tcase, tests);
	ADD_LOOP_TESTS(tcase, by_each, WAYS);
	return run_case("sweep", tcase);
}
