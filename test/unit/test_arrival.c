/* SPDX-License-Identifier: MIT */
/*
 * An arrival that lets go of the lock: to ask for the time, or for memory.
 * What another thread does then, this one does in those calls.
 */
#include "blocks.h"
#include "config.h"

#include "bare_intake.h"
#include "begun.h"
#include "checks/slot_heap.h"
#include "fail_alloc.h"
#include "fixture.h"
#include "intake/arrival.h"
#include "intake/collect.h"
#include "intake/unqueued.h"
#include "os/clock.h"
#include "real.h"

#include <errno.h>
#include <time.h>

#define MS   INT64_C(1000000)
#define S    (1000 * MS)
#define HOUR (3600 * S)

/* Called once, in the next call. */
static void (*at_clock)(void);

/* What all clocks show; 0: what the kernel says. */
static int64_t shown;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	int (*next)(clockid_t, struct timespec *) = (int (*)(
		clockid_t, struct timespec *))real_with_times("clock_gettime");
	int r = next(clock, t);
	void (*step)(void) = at_clock;

	real_wrote(t, sizeof(*t));
	if (shown != 0)
		*t = clock_timespec(shown);
	at_clock = NULL;
	if (step)
		step();
	return r;
}

#ifndef FAIL_ALLOC_UNAVAILABLE

/* While armed: what fail_alloc.h counts as it is taken. */
static int given_back;

void free(void *p)
{
	static void (*next)(void *);

	if (!next)
		next = (void (*)(void *))next_symbol("free");
	given_back += p && atom32_load(&fail_armed) &&
		      size_of_piece(p) >= FAIL_MIN_SIZE;
	next(p);
}

int munmap(void *p, size_t size)
{
	static int (*next)(void *, size_t);

	if (!next)
		next = (int (*)(void *, size_t))next_symbol("munmap");
	given_back += atom32_load(&fail_armed) != 0;
	return next(p, size);
}

#endif

/*
 * A bucket.
 */
static struct bucket *bucket;

static void begin_bucket(int64_t slack)
{
	watch = (struct watch){.clock = CLOCK_MONOTONIC};
	begin_intake(1);
	wakeup.slack = slack;
	bucket = &intake->bucket[0];
}

static int64_t time_now(void)
{
	return watch_now(&watch);
}

static int try_to_schedule(int64_t deadline, uint64_t *ret_id)
{
	return try_to_schedule_in(bucket, deadline, ret_id);
}

static uint64_t schedule_one(int64_t deadline)
{
	return schedule_in(bucket, deadline);
}

static int64_t deadline_of_one(uint64_t id)
{
	int64_t t;

	ck_assert_int_eq(bucket_get_deadline(bucket, slot_of(id), id, &t), 0);
	return t;
}

static void shut(void)
{
	bucket_set_open(bucket, false);
}

START_TEST(shut_while_it_asks_for_the_time)
{
	uint64_t id = 77;

	begin_bucket(0);
	at_clock = shut;
	ck_assert_int_eq(try_to_schedule(-S, &id), -ESHUTDOWN);
	ck_assert_ptr_null(at_clock);
	ck_assert_uint_eq(id, 77);
	bucket_set_open(bucket, true);
	id = schedule_one(time_now() + HOUR);
	at_clock = shut;
	ck_assert_int_eq(reschedule(id, 0), -ESHUTDOWN);
	ck_assert_int_ge(deadline_of_one(id), HOUR);
	end_intake();
}
END_TEST

static uint64_t first, second;

/* Its slot is used again. */
static void replace_first(void)
{
	struct slot *s = slot_of(first);
	struct entry e = slot_entry(s);

	ck_assert_int_eq(slot_cancel(s, first), 0);
	ck_assert_int_eq(expiry_look(bucket, s, &e), EXPIRY_OVER);
	intake_recycle(intake, s);
	intake_flush(intake);
	second = schedule_one(INT64_MAX);
	ck_assert_ptr_eq(slot_of(second), s);
}

/* Without a slack, it asks when it has found the timer, for the lane. */
START_TEST(replaced_while_it_asks_for_the_time)
{
	begin_bucket(0);
	first = schedule_one(INT64_MAX);
	at_clock = replace_first;
	ck_assert_int_eq(reschedule(first, -S), -ENOENT);
	ck_assert_ptr_null(at_clock);
	ck_assert_int_eq(deadline_of_one(second), INT64_MAX);
	ck_assert_uint_eq(counter_read(&bucket->rescheduled), 0);
	intake_destroy(intake);
	wakeup_close(&wakeup);
}
END_TEST

/*
 * Memory.
 */
#ifndef FAIL_ALLOC_UNAVAILABLE
static int64_t unqueued_nearest(void)
{
	return slot_heap_nearest(&bucket->unqueued, &bucket->slots);
}

enum { ALL = 1000000 };

START_TEST(shut_while_it_looks_for_memory)
{
	uint64_t id = 77;
	int r[2];

	begin_bucket(0);
	fail_step = shut;
	fail_arm(0, ALL);
	r[0] = try_to_schedule(HOUR, &id);
	bucket_set_open(bucket, true);
	r[1] = try_to_schedule(HOUR, &id);
	fail_disarm();
	ck_assert_ptr_null(fail_step);
	ck_assert_int_eq(r[0], -ESHUTDOWN);
	ck_assert_int_eq(r[1], -ENOMEM);
	ck_assert_uint_eq(id, 77);

	id = schedule_one(INT64_MAX);
	no_block(bucket->pool);
	fail_step = shut;
	fail_arm(0, ALL);
	r[0] = reschedule(id, time_now() + S);
	bucket_set_open(bucket, true);
	/* It has no entry then, and does without. */
	errno = E2BIG;
	r[1] = reschedule(id, time_now() + S);
	fail_disarm();
	ck_assert_int_eq(errno, E2BIG);
	ck_assert_int_eq(r[0], -ESHUTDOWN);
	ck_assert_int_eq(r[1], 0);
	ck_assert_int_eq(unqueued_nearest(), deadline_of_one(id));
	end_intake();
}
END_TEST

static void schedule_another(void)
{
	if (try_to_schedule(INT64_MAX - 1, NULL) != 0)
		abort();
}

/* Both bring what is missing, and one of them takes it away again. */
START_TEST(another_brings_memory_too)
{
	enum { N = 100 * BLOCK_ENTRIES };
	uint32_t taken;

	given_back = 0;
	fail_not = true;
	fail_arm(0, ALL);
	begin_bucket(0);
	taken = fail_disarm();
	for (int i = 0; i < N; i++) {
		fail_step = schedule_another;
		fail_arm(0, ALL);
		schedule_another();
		taken += fail_disarm();
	}
	fail_arm(0, ALL);
	end_intake();
	fail_disarm();
	ck_assert_int_eq(given_back, (int)taken);
}
END_TEST

#endif

/*
 * Deadlines that have passed.
 */
enum { NOW_S = 1000000 };

static void begin_at(int64_t now, int64_t slack)
{
	shown = now;
	begin_bucket(slack);
}

static void end_at(void)
{
	end_intake();
	shown = 0;
}

static int64_t due_of(uint64_t id)
{
	return slot_of(id)->due;
}

/* A visit by the driver, which takes what is due now. */
static void visit(void)
{
	struct block *spares = NULL;
	struct visit v;
	bool more;

	wakeup_collect(&wakeup, shown);
	visit_begin(&v, shown, shown);
	do {
		more = bucket_collect(bucket, &wakeup, &v);
		for (uint32_t i = 0; i < v.cursor.taken; i++)
			block_push(&spares, v.cursor.row[i].block);
	} while (more);
	block_free_all(spares);
}

/* It counts as the time of the call, and a driver that sleeps is woken. */
static void check_due_now(uint64_t id)
{
	ck_assert_int_eq(due_of(id), shown);
	ck_assert_int_le(bucket->nearest, shown - wakeup.slack);
	ck_assert_int_eq(wakeup.visit_at[0], bucket->nearest);
}

/* It keeps its deadline, and nobody is woken for it. */
static void check_waits(uint64_t id, int64_t nearest)
{
	ck_assert_int_eq(due_of(id), deadline_of_one(id));
	ck_assert_int_eq(bucket->nearest, nearest);
}

START_TEST(to_the_nanosecond)
{
	const int64_t now = NOW_S * S, slacks[] = {1, MS, HOUR, INT64_MAX};

	for (size_t i = 0; i < 4; i++) {
		begin_at(now, slacks[i]);
		check_waits(schedule_one(now + 1), now + 1);
		check_due_now(schedule_one(now));
		end_at();

		begin_at(now, slacks[i]);
		first = schedule_one(INT64_MAX);
		ck_assert_int_eq(reschedule(first, now + 1), 0);
		check_waits(first, now + 1);
		shown++;
		ck_assert_int_eq(reschedule(first, now + 1), 0);
		check_due_now(first);
		end_at();
	}
}
END_TEST

/*
 * One is announced, and waits.  The one that is later, and has passed too, must
 * not wait for as long.
 */
static void check_behind_one(int64_t ahead, int64_t slack)
{
	const int64_t now = NOW_S * S;

	begin_at(now, slack);
	schedule_one(now + ahead);
	shown = now + ahead + 2;
	check_due_now(schedule_one(now + ahead + 1));
	end_at();

	/* The driver has left it, and what it has announced is later. */
	begin_at(now, slack);
	schedule_one(now);
	schedule_one(now + ahead + HOUR);
	visit();
	ck_assert_int_eq(bucket->nearest, now + ahead + HOUR);
	shown = now + ahead + HOUR + 2;
	check_due_now(schedule_one(now + ahead + HOUR + 1));
	end_at();

	/* All that the slack allows. */
	begin_at(now, slack);
	schedule_one(now + ahead);
	shown = now + ahead + slack - 1;
	check_due_now(schedule_one(shown));
	end_at();
}

START_TEST(behind_one_that_waits_for_the_slack)
{
	const int64_t slacks[] = {3, MS, NEAR_NS, 50 * MS, HOUR, 100 * HOUR};

	for (size_t i = 0; i < 6; i++) {
		check_behind_one(0, slacks[i]);
		check_behind_one(MS, slacks[i]);
		check_behind_one(S, slacks[i]);
		check_behind_one(HOUR, slacks[i]);
	}
}
END_TEST

/* Without a slack there is no driver that sleeps on, but the order is kept. */
START_TEST(near_ones_that_have_passed)
{
	const int64_t now = NOW_S * S;

	for (int64_t age = 1; age < NEAR_NS; age += NEAR_NS / 8) {
		begin_at(now, 0);
		schedule_one(now + 1);
		shown = now + age + 1;
		check_due_now(schedule_one(now + age));
		end_at();

		/* The same by the time of a visit. */
		begin_at(now, 0);
		schedule_one(now);
		shown = now + HOUR;
		visit();
		schedule_one(shown + 1);
		shown += age + 1;
		check_due_now(schedule_one(shown - 1));
		end_at();
	}
}
END_TEST

static void no_look(void)
{
	ck_abort_msg("it has asked for the time");
}

/* What is later than the nearest and the slack needs no look at the clock. */
START_TEST(only_doubtful_ones_ask_for_the_time)
{
	begin_at(NOW_S * S, MS);
	schedule_one(shown + HOUR);
	at_clock = no_look;
	schedule_one(shown + HOUR + MS);
	at_clock = NULL;
	end_at();
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

/* It has no entry, and does not get in front of those that are due. */
START_TEST(unqueued_and_moved_to_the_past)
{
	int r;

	for (int slack = 0; slack < 2; slack++) {
		begin_at(NOW_S * S, slack * MS);
		first = schedule_one(INT64_MAX);
		no_block(bucket->pool);
		fail_arm(0, ALL);
		r = reschedule(first, shown + S);
		fail_disarm();
		ck_assert_int_eq(r, 0);
		ck_assert_int_eq(unqueued_nearest(), shown + S);
		ck_assert_int_eq(reschedule(first, shown - HOUR), 0);
		ck_assert_int_eq(deadline_of_one(first), shown - HOUR);
		ck_assert_int_eq(unqueued_nearest(), shown);
		check_due_now(first);
		end_at();
	}
}
END_TEST

/* The driver does not sleep on for the slack, as for one with an entry. */
START_TEST(unqueued_and_passed)
{
	int r;

	for (int slack = 0; slack < 2; slack++) {
		begin_at(NOW_S * S, slack * MS);
		fail_arm(1, ALL);
		r = try_to_schedule(shown - HOUR, &first);
		fail_disarm();
		ck_assert_int_eq(r, 0);
		ck_assert_int_eq(unqueued_nearest(), shown);
		check_due_now(first);
		end_at();
	}
}
END_TEST

#endif

static struct slot *schedule_and_visit(int64_t deadline, struct entry *e)
{
	struct slot *s;

	first = schedule_one(deadline);
	visit();
	s = slot_of(first);
	ck_assert_ptr_nonnull(s);
	*e = slot_entry(s);
	return s;
}

/* A callback on an executor's thread moves its own timer to the past. */
static struct slot *run_and_move_to_the_past(void)
{
	uint64_t overrun;
	struct entry e;
	struct slot *s = schedule_and_visit(shown, &e);

	ck_assert_int_eq(begin_entry(bucket, s, &e, shown, &overrun),
			 EXPIRY_RUN);
	ck_assert_int_eq(bucket_reschedule(bucket, &wakeup, s, first, 5, true),
			 0);
	ck_assert_int_eq(expiry_after_run(bucket, s, shown), EXPIRY_LATER);
	return s;
}

static const int64_t slacks[] = {0, 1, MS, HOUR};

#ifndef FAIL_ALLOC_UNAVAILABLE

START_TEST(unqueued_and_filed_for_the_past)
{
	for (size_t i = 0; i < 4; i++) {
		struct slot *s;
		bool filed;

		begin_at(NOW_S * S, slacks[i]);
		s = run_and_move_to_the_past();
		block_free_all(bucket->spares);
		bucket->spares = NULL;
		no_block(bucket->pool);
		fail_arm(0, ALL);
		filed = unqueued_file(bucket, &wakeup, s, shown);
		fail_disarm();
		ck_assert(!filed);
		check_due_now(first);
		end_at();
	}
}
END_TEST

#endif

START_TEST(filed_for_the_past)
{
	for (size_t i = 0; i < 4; i++) {
		struct slot *s;

		begin_at(NOW_S * S, slacks[i]);
		s = run_and_move_to_the_past();
		ck_assert(unqueued_file(bucket, &wakeup, s, shown));
		check_due_now(first);
		end_at();
	}
}
END_TEST

/* The driver has taken it, and has no memory for it. */
START_TEST(left_without_an_entry_when_it_is_due)
{
	for (size_t i = 0; i < 4; i++) {
		struct entry e;

		begin_at(NOW_S * S, slacks[i]);
		schedule_and_visit(shown - HOUR, &e);
		ck_assert(unqueued_leave(bucket, &wakeup, &e));
		check_due_now(first);
		end_at();
	}
}
END_TEST

/* No time is before the start of a clock, except as a number. */
START_TEST(a_slack_that_is_longer_than_the_uptime)
{
	begin_at(5 * S, HOUR);
	check_waits(schedule_one(6 * S), 6 * S);
	check_due_now(schedule_one(5 * S));
	ck_assert_int_lt(bucket->nearest, 0);
	first = schedule_one(INT64_MIN);
	ck_assert_int_eq(due_of(first), shown);
	end_at();
}
END_TEST

/* The wall clock is set back, or forth: what counts is what it shows. */
START_TEST(a_clock_that_is_stepped)
{
	const int64_t now = NOW_S * S;

	for (int slack = 0; slack < 2; slack++) {
		begin_at(now, slack * MS);
		watch.clock = CLOCK_REALTIME;
		schedule_one(now - 5);
		visit();
		shown = now - HOUR;
		check_waits(schedule_one(now - HOUR / 2), now - HOUR / 2);
		shown = now;
		first = schedule_one(now - 1);
		ck_assert_int_eq(due_of(first), now - 1);
		ck_assert_int_le(bucket->nearest, now - HOUR / 2);
		visit();
		shown = now + HOUR;
		first = schedule_one(now + HOUR / 2);
		ck_assert_int_eq(due_of(first), now + HOUR / 2);
		ck_assert_int_le(bucket->nearest, now + HOUR / 2 - slack * MS);
		end_at();
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		shut_while_it_asks_for_the_time,
		replaced_while_it_asks_for_the_time,
#ifndef FAIL_ALLOC_UNAVAILABLE
		shut_while_it_looks_for_memory,
		another_brings_memory_too,
#endif
		to_the_nanosecond,
		behind_one_that_waits_for_the_slack,
		near_ones_that_have_passed,
		only_doubtful_ones_ask_for_the_time,
#ifndef FAIL_ALLOC_UNAVAILABLE
		unqueued_and_moved_to_the_past,
		unqueued_and_passed,
		unqueued_and_filed_for_the_past,
#endif
		filed_for_the_past,
		left_without_an_entry_when_it_is_due,
		a_slack_that_is_longer_than_the_uptime,
		a_clock_that_is_stepped,
	};

	return RUN_TESTS("arrival", tests);
}
