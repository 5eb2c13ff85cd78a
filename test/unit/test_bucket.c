/* SPDX-License-Identifier: MIT */
#include "blocks.h"
#include "checks/bucket.h"
#include "contents.h"
#include "fail_alloc.h"
#include "harness.h"
#include "intake/arrival.h"
#include "intake/bucket.h"
#include "intake/expiry.h"
#include "intake/handover.h"
#include "intake/intake.h"
#include "intake/rent.h"
#include "must.h"
#include "use_all.h"

#include <errno.h>

#define NOW    (INT64_C(1) << 50)
#define MS     INT64_C(1000000)
#define SECOND (1000 * MS)
#define HOUR   (3600 * SECOND)

static struct watch watch;
static struct wakeup wakeup;
static struct bucket *bucket;
static struct intake *intake;

/* What the last visit took, and the blocks that it left. */
enum { MAX_TAKEN = 200000 };
static struct entry taken[MAX_TAKEN];
static struct block *spares;

static void fn(void *arg)
{
	(void)arg;
}

/* So many buckets, open. */
static void begin_all(uint32_t n)
{
	wakeup_init(&wakeup, &watch);
	ck_assert(wakeup_open(&wakeup, n));
	intake = intake_create(n);
	ck_assert_ptr_nonnull(intake);
	intake_open(intake);
	use_all(intake);
	bucket = &intake->bucket[0];
	spares = NULL;
}

static void begin_on(clockid_t clock)
{
	watch_init(&watch, CLOCK_MONOTONIC);
	watch.clock = clock;
	begin_all(1);
}

static size_t take(int64_t by);

/* At a time that stands still, which the bucket knows. */
static void begin(void)
{
	watch_init_virtual(&watch, NOW);
	begin_all(1);
	ck_assert_uint_eq(take(NOW), 0);
}

static void end(void)
{
	if (intake->n == 1)
		bucket_check(bucket);
	intake_destroy(intake);
	wakeup_close(&wakeup);
	block_free_all(spares);
}

static int try_to_schedule(int64_t deadline, uint64_t *ret_id)
{
	return bucket_schedule(bucket, &wakeup,
			       &(struct timer){deadline, 0, fn, NULL, 0},
			       ret_id);
}

/* Many are scheduled: a ck_assert for each would take longer than that. */
static uint64_t schedule(int64_t deadline)
{
	uint64_t id = 0;

	must(try_to_schedule(deadline, &id) == 0 && id != 0);
	return id;
}

static int cancel(uint64_t id)
{
	return slot_cancel(intake_slot(intake, id), id);
}

static void cancel_all(const uint64_t *id, size_t n)
{
	for (size_t i = 0; i < n; i++)
		must(cancel(id[i]) == 0);
}

static int reschedule(uint64_t id, int64_t deadline)
{
	return bucket_reschedule(bucket, &wakeup, intake_slot(intake, id), id,
				 deadline, false);
}

static struct slot *slot_of(uint64_t id)
{
	return intake_slot(intake, id);
}

static size_t in_lane(unsigned lane)
{
	return queue_size(&bucket->lane[lane].queue);
}

/* The lane that has all that there is. */
static unsigned the_lane(void)
{
	size_t n = bucket_size(bucket);

	for (unsigned lane = 0; lane < LANES; lane++) {
		if (in_lane(lane) == n)
			return lane;
	}
	ck_abort_msg("more than one has some");
}

/* A time that is so far away as the middle of this lane is. */
static int64_t in_middle_of(unsigned lane)
{
	int bit = 0;

	if (lane == 0)
		return NEAR_NS / 2;
	while (distance_lanes[bit] < lane)
		bit++;
	return INT64_C(3) << (TICK_LOG2 + bit - 1);
}

/* The lane for what is so far away. */
static unsigned lane_at(int64_t distance)
{
	return distance_lane(distance_base(NOW), NOW + distance);
}

/* What the bucket has announced. */
static int64_t announced(void)
{
	ck_assert_int_eq(wakeup.visit[0], bucket->nearest);
	ck_assert_int_eq(wakeup_arrivals(&wakeup), bucket->nearest);
	return bucket->nearest;
}

static size_t copy(struct row r, size_t n)
{
	for (size_t i = 0; i < r.block->n; i++) {
		must(n < MAX_TAKEN && r.block->entry[i].deadline >= r.nearest);
		if (!entry_is_hole(&r.block->entry[i]))
			taken[n++] = r.block->entry[i];
	}
	return n;
}

/* What a step has taken goes behind the n that there are. */
static size_t copy_all(const struct visit *v, size_t n)
{
	const struct queue_cursor *c = &v->cursor;
	struct slot *s = v->stranded;

	for (uint32_t i = 0; i < c->taken; i++) {
		n = copy(c->row[i], n);
		block_push(&spares, c->row[i].block);
	}
	while (s) {
		struct slot *next = s->next;

		taken[n++] = handover_collect(bucket, s);
		s = next;
	}
	return n;
}

/* The wake-up asks for it. */
static void visit_of(struct visit *v, int64_t by)
{
	struct bucket_set due;

	wakeup_collect(&wakeup, by, &due);
	visit_begin(v, by, watch_now(&watch));
}

/* Returns as bucket_collect. */
static bool step(struct visit *v)
{
	return bucket_collect(bucket, &wakeup, v, &spares);
}

/* A visit; returns how many entries it took. */
static size_t take(int64_t by)
{
	struct visit v;
	size_t n = 0;
	bool more;

	visit_of(&v, by);
	do {
		more = step(&v);
		n = copy_all(&v, n);
	} while (more);
	block_free_all(spares);
	spares = NULL;
	announced();
	return n;
}

/* Runs the timer of an entry that is due.  True: there was one. */
static bool run(struct entry e, int64_t now)
{
	struct slot *s = intake_slot_of(intake, &e);
	uint64_t overrun = 0;
	enum expiry x = expiry_begin(bucket, s, &e, now, &overrun);

	if (x == EXPIRY_LATER && e.deadline <= now)
		return run(e, now);
	if (x == EXPIRY_LATER)
		must(bucket_put(bucket, &wakeup, &spares, &e, 1) == 0);
	if (x == EXPIRY_RUN)
		must(s->deadline <= now && !expiry_end(s));
	if (x == EXPIRY_RUN || x == EXPIRY_OVER)
		intake_recycle(intake, s);
	return x == EXPIRY_RUN;
}

/* As the driver does, with a bucket and nothing else. */
static size_t run_due(int64_t now)
{
	size_t n = take(now), live = 0;

	for (size_t i = 0; i < n; i++) {
		if (taken[i].deadline <= now)
			live += run(taken[i], now);
		else
			must(bucket_put(bucket, &wakeup, &spares, &taken[i],
					1) == 0);
	}
	intake_flush(intake);
	return live;
}

/* Empties the bucket; returns how many were live. */
static size_t run_all(void)
{
	return run_due(INT64_MAX);
}

START_TEST(only_while_open)
{
	uint64_t id = 77;

	begin();
	bucket_shut(bucket);
	ck_assert_int_eq(try_to_schedule(1, &id), -ESHUTDOWN);
	ck_assert_uint_eq(id, 77);
	bucket_open(bucket);
	schedule(1);
	ck_assert_uint_eq(run_all(), 1);
	end();
}
END_TEST

START_TEST(announces_what_is_earlier)
{
	begin();
	ck_assert_int_eq(announced(), INT64_MAX);
	schedule(NOW + HOUR);
	ck_assert_int_eq(announced(), NOW + HOUR);
	schedule(NOW + 2 * HOUR);
	ck_assert_int_eq(announced(), NOW + HOUR);
	schedule(NOW + SECOND);
	ck_assert_int_eq(announced(), NOW + SECOND);
	schedule(NOW + MS);
	ck_assert_int_eq(announced(), NOW + MS);
	schedule(NOW - 5);
	ck_assert_int_eq(announced(), NOW - 5);
	ck_assert_uint_eq(run_all(), 5);
	ck_assert_int_eq(announced(), INT64_MAX);
	end();
}
END_TEST

/* The first in its lane, but not in the bucket, is not news. */
START_TEST(announces_nothing_twice)
{
	begin();
	for (int64_t i = 0; i < 3; i++) {
		int64_t first = NOW + MS - i;

		schedule(first);
		wakeup.visit[0] = INT64_MIN;
		schedule(first);
		for (unsigned lane = LANES; lane-- > 0;) {
			schedule(NOW + in_middle_of(lane) - i);
			schedule(NOW + in_middle_of(lane));
		}
		ck_assert_int_eq(wakeup.visit[0], INT64_MIN);
		wakeup.visit[0] = first;
	}
	end();
}
END_TEST

/* It is found when it is cancelled, by those who come later. */
START_TEST(never_is_not_announced)
{
	begin();
	schedule(TIMERTHREAD_NEVER);
	ck_assert_int_eq(announced(), INT64_MAX);
	ck_assert_uint_eq(in_lane(LANES - 1), 1);
	ck_assert_uint_eq(take(INT64_MAX - 1), 0);
	ck_assert_int_eq(announced(), INT64_MAX);
	end();
}
END_TEST

START_TEST(near_and_far_do_not_mix)
{
	enum { N = 3000 };
	uint64_t rng = test_seed();

	begin();
	for (int i = 0; i < N; i++)
		schedule(NOW +
			 in_middle_of((unsigned)random_below(&rng, LANES)));
	for (unsigned lane = 0; lane < LANES; lane++) {
		struct queue *q = &bucket->lane[lane].queue;

		ck_assert_uint_gt(in_lane(lane), N / LANES / 2);
		for (size_t i = 0; i < queue_span(q); i++) {
			const struct entry *e = queue_at(q, i);

			must(!e || e->deadline == NOW + in_middle_of(lane));
		}
	}
	ck_assert_uint_eq(run_all(), N);
	end();
}
END_TEST

/* Distances are counted from the time of the last visit. */
START_TEST(the_base_follows_the_visits)
{
	begin();
	schedule(NOW + HOUR);
	ck_assert_uint_eq(the_lane(), lane_at(HOUR));
	watch_set(&watch, NOW + HOUR - SECOND);
	ck_assert_uint_eq(take(NOW + HOUR), 1);
	schedule(NOW + HOUR);
	ck_assert_uint_eq(the_lane(), lane_at(SECOND));
	ck_assert_uint_eq(run_all(), 1);
	end();
}
END_TEST

/* No visit for hours: who is earlier than all in its lane by much sees that. */
START_TEST(a_stale_base_is_mended)
{
	const int64_t now = NOW + HOUR;

	begin();
	watch_set(&watch, now);
	schedule(now + MS);
	ck_assert_uint_eq(the_lane(), 0);
	ck_assert_int_eq(bucket->base, distance_base(now));
	ck_assert_int_eq(announced(), now + MS);
	schedule(now + HOUR);
	ck_assert_uint_eq(in_lane(lane_at(HOUR)), 1);
	end();
}
END_TEST

/* A reschedule is an arrival, too. */
START_TEST(a_stale_base_is_mended_by_reschedule)
{
	const int64_t now = NOW + HOUR;
	uint64_t id;

	begin();
	id = schedule(NOW + 100 * HOUR);
	watch_set(&watch, now);
	ck_assert_int_eq(reschedule(id, now + MS), 0);
	ck_assert_uint_eq(in_lane(0), 1);
	ck_assert_int_eq(announced(), now + MS);
	ck_assert_uint_eq(run_all(), 1);
	end();
}
END_TEST

/* In the wrong lane it is as safe. */
START_TEST(who_is_not_the_earliest_takes_the_lane_that_it_is_given)
{
	const int64_t now = NOW + HOUR;

	begin();
	schedule(now - 60 * SECOND);
	watch_set(&watch, now);
	schedule(now + MS);
	ck_assert_uint_eq(the_lane(), lane_at(HOUR));
	ck_assert_uint_eq(run_due(now + MS), 2);
	ck_assert_uint_eq(bucket_size(bucket), 0);
	end();
}
END_TEST

/* Each a little earlier than the last: the clock is not read each time. */
START_TEST(a_little_earlier_is_not_worth_a_look_at_the_clock)
{
	for (unsigned lane = 1; lane < LANES; lane++) {
		int64_t first = NOW + in_middle_of(lane);
		int64_t little = distance_ahead(lane);
		int64_t base;

		begin();
		schedule(first);
		base = bucket->base;
		watch_set(&watch, NOW + 2 * NEAR_NS);
		for (int64_t i = 1; i <= 1000; i++)
			schedule(first - i);
		schedule(first - 1000 - little);
		ck_assert_int_eq(bucket->base, base);
		ck_assert_int_le(announced(), first - 1000 - little);
		schedule(first - 1000 - 2 * little - 1);
		ck_assert_int_ne(bucket->base, base);
		ck_assert_uint_eq(run_all(), 1003);
		end();
	}
}
END_TEST

/*
 * What is far and falls, a little each time, is seldom announced, but never too
 * late; and a visit finds when it is due.
 */
START_TEST(what_falls_is_seldom_announced)
{
	enum { N = 1000, FEW = 20 };

	for (unsigned lane = 1; lane < LANES; lane++) {
		int64_t first = NOW + in_middle_of(lane), last;
		int times = 0;

		begin();
		schedule(first);
		last = announced();
		for (int64_t i = 1; i <= N; i++) {
			schedule(first - i);
			times += announced() != last;
			last = announced();
			ck_assert_int_le(last, first - i);
		}
		ck_assert_int_le(times, first - NOW > 3 * SECOND ? FEW : N);
		ck_assert_uint_eq(run_due(first - N - 1), 0);
		ck_assert_int_eq(announced(), first - N);
		ck_assert_uint_eq(run_all(), N + 1);
		end();
	}
}
END_TEST

/* The only entry there is. */
static struct entry take_one(void)
{
	ck_assert_uint_eq(take(INT64_MAX - 1), 1);
	return taken[0];
}

/* Whatever the bucket has seen before. */
static void check_passed(int64_t deadline, bool visited)
{
	struct entry e;
	int64_t before, shown;
	uint64_t id;

	begin_on(CLOCK_MONOTONIC);
	if (visited)
		take(watch_now(&watch));
	before = watch_now(&watch);
	id = schedule(deadline);
	ck_assert_int_ge(announced(), before);
	ck_assert_int_le(announced(), watch_now(&watch));
	e = take_one();
	ck_assert_int_ge(e.deadline, before);
	ck_assert_int_eq(e.deadline, slot_of(id)->queued);
	ck_assert_int_eq(bucket_get_deadline(bucket, slot_of(id), id, &shown),
			 0);
	ck_assert_int_eq(shown, deadline);
	ck_assert(run(e, watch_now(&watch)));
	end();
}

/* Nobody gains by asking for what is long ago. */
START_TEST(what_has_passed_is_due_now)
{
	for (int visited = 0; visited < 2; visited++) {
		check_passed(INT64_MIN, visited);
		check_passed(-1, visited);
		check_passed(0, visited);
		check_passed(1, visited);
		check_passed(NEAR_NS - 1, visited);
		check_passed(clock_now(CLOCK_MONOTONIC) - SECOND, visited);
		check_passed(clock_now(CLOCK_MONOTONIC) - 1, visited);
	}
}
END_TEST

/* Also where another one is due in a moment, and not yet. */
START_TEST(what_has_just_passed_is_due_now)
{
	const int64_t moment = 100000;

	for (int i = 0; i < 20; i++) {
		int64_t before, after;
		uint64_t id;

		begin_on(CLOCK_MONOTONIC);
		schedule(watch_now(&watch) + HOUR);
		before = watch_now(&watch);
		schedule(before + moment);
		id = schedule(before - 1000);
		after = watch_now(&watch);
		/* This thread was not interrupted. */
		if (after < before + moment)
			ck_assert_int_ge(slot_of(id)->queued, before);
		end();
	}
}
END_TEST

/* It is due now, and the driver does not sleep on for the slack. */
static void check_at_once(int64_t deadline)
{
	int64_t before = watch_now(&watch), due;
	uint64_t id = schedule(deadline);

	due = slot_of(id)->queued;
	ck_assert_int_ge(due, before);
	ck_assert_int_le(due, watch_now(&watch));
	ck_assert_int_le(announced(), due - wakeup.slack);
}

/* Something that has expired waits in its lane for the slack. */
static uint64_t wait_for_one_to_expire(void)
{
	int64_t soon = watch_now(&watch) + 1000;
	uint64_t id = schedule(soon);

	while (watch_now(&watch) <= soon)
		;
	return id;
}

START_TEST(what_has_passed_does_not_wait_for_the_slack)
{
	begin_on(CLOCK_MONOTONIC);
	wakeup.slack = HOUR;
	for (int i = 1; i < 100; i++) {
		int64_t t = watch_now(&watch);

		/* Also one that is later than what waits. */
		wait_for_one_to_expire();
		check_at_once(watch_now(&watch));
		check_at_once(t - i * HOUR / 50);
		check_at_once(i % 2 ? INT64_MIN : t - i * SECOND);
		run_due(watch_now(&watch));
	}
	end();
}
END_TEST

/* The same for a slack that is short, and lanes that are far. */
START_TEST(what_has_passed_goes_to_no_other_lane)
{
	begin_on(CLOCK_MONOTONIC);
	wakeup.slack = 50 * MS;
	wait_for_one_to_expire();
	/* As if the clock had not been read for long. */
	bucket->base -= distance_base(HOUR);
	bucket->now -= HOUR;
	bucket_set_doubtful(bucket, &wakeup);
	check_at_once(watch_now(&watch));
	end();
}
END_TEST

START_TEST(moved_to_what_has_passed_it_does_not_wait)
{
	int64_t before;
	uint64_t id;

	begin_on(CLOCK_MONOTONIC);
	wakeup.slack = HOUR;
	id = wait_for_one_to_expire();
	before = watch_now(&watch);
	ck_assert_int_eq(reschedule(id, before), 0);
	ck_assert_int_ge(slot_of(id)->queued, before);
	ck_assert_int_le(announced(), slot_of(id)->queued - HOUR);
	ck_assert_uint_eq(run_due(watch_now(&watch)), 1);
	end();
}
END_TEST

/* What was announced last is the same, and nobody has woken the driver. */
static void hold_up_a_caller(int64_t deadline)
{
	/* A row of wake-ups would shorten its sleep. */
	wakeup.woken = 0;
	wakeup_lie_down(&wakeup, INT64_MAX);
	ck_assert(arrival_announce(bucket, &wakeup, deadline));
	ck_assert(wakeup_owes_kick(&wakeup));
}

START_TEST(others_wake_the_driver_for_one_that_is_held_up)
{
	int64_t far;
	uint64_t id;

	begin_on(CLOCK_MONOTONIC);
	ck_assert_int_eq(sleeper_open(&wakeup.sleeper, CLOCK_MONOTONIC, true),
			 0);
	far = watch_now(&watch) + HOUR;
	hold_up_a_caller(far);
	id = schedule(far + 1);
	ck_assert(!wakeup_owes_kick(&wakeup));
	schedule(far + 2);
	ck_assert_int_eq(bucket->state, BUCKET_OPEN);

	wakeup_rise(&wakeup);
	hold_up_a_caller(far - MS);
	ck_assert_int_eq(reschedule(id, far), 0);
	ck_assert(!wakeup_owes_kick(&wakeup));

	/* A driver that is awake needs no call. */
	wakeup_rise(&wakeup);
	hold_up_a_caller(far - 2 * MS);
	wakeup_rise(&wakeup);
	schedule(far + 3);
	ck_assert_int_eq(bucket->state, BUCKET_OPEN);

	/* Also who finds no room, and strands its timer. */
	wakeup_rise(&wakeup);
	hold_up_a_caller(far - 2 * MS - 1);
	ck_assert_int_eq(arrival_without_room(bucket, &wakeup, false, -ENOMEM),
			 ARRIVAL_NO_ROOM);
	lock_release(&bucket->lock);
	ck_assert(!wakeup_owes_kick(&wakeup));

	/* And who moves one, which may be stranded. */
	wakeup_rise(&wakeup);
	hold_up_a_caller(far - 2 * MS - 2);
	ck_assert_int_eq(reschedule(id, far + 4), 0);
	ck_assert(!wakeup_owes_kick(&wakeup));

	/* Nor does this open a bucket that is shut. */
	hold_up_a_caller(far - 3 * MS);
	bucket_shut(bucket);
	ck_assert_int_eq(try_to_schedule(far, NULL), -ESHUTDOWN);
	ck_assert_int_eq(arrival_without_room(bucket, &wakeup, false, -ENOMEM),
			 -ESHUTDOWN);
	ck_assert_int_eq(reschedule(id, far + 5), -ESHUTDOWN);
	ck_assert(arrival_announce(bucket, &wakeup, far - 4 * MS));
	ck_assert_int_eq(bucket->state, BUCKET_SHUT);
	sleeper_close(&wakeup.sleeper, false);
	end();
}
END_TEST

/* Again and again: none comes before those before it. */
START_TEST(what_has_passed_keeps_its_turn)
{
	enum { N = 1000 };
	int64_t last = INT64_MIN;
	uint64_t id;

	begin_on(CLOCK_MONOTONIC);
	for (int i = 0; i < N; i++) {
		id = schedule(watch_now(&watch));
		must(slot_of(id)->queued >= last);
		last = slot_of(id)->queued;
		id = schedule(i % 2 ? 0 : -i);
		ck_assert_int_ge(announced(), NEAR_NS);
	}
	ck_assert_uint_eq(run_due(watch_now(&watch)), 2 * N);
	end();
}
END_TEST

START_TEST(rescheduled_to_what_has_passed)
{
	int64_t before, shown;
	uint64_t id;

	begin_on(CLOCK_MONOTONIC);
	before = watch_now(&watch);
	id = schedule(before + HOUR);
	ck_assert_int_eq(reschedule(id, -5), 0);
	ck_assert_int_ge(announced(), before);
	ck_assert_int_ge(slot_of(id)->queued, before);
	ck_assert_int_eq(bucket_get_deadline(bucket, slot_of(id), id, &shown),
			 0);
	ck_assert_int_eq(shown, -5);
	ck_assert_uint_eq(run_due(watch_now(&watch)), 1);
	end();
}
END_TEST

/* The wall clock may be set back, and a virtual one stands still. */
START_TEST(on_some_clocks_it_keeps_its_deadline)
{
	for (int i = 0; i < 2; i++) {
		if (i == 0)
			begin_on(CLOCK_REALTIME);
		else
			begin();
		schedule(-5);
		ck_assert_int_eq(announced(), -5);
		schedule(-6);
		ck_assert_int_eq(announced(), -6);
		ck_assert_uint_eq(take(INT64_MAX - 1), 2);
		ck_assert_int_eq(taken[0].deadline + taken[1].deadline, -11);
		end();
	}
}
END_TEST

/* Fills each lane, with entries of its middle. */
static void fill_lanes(size_t n)
{
	for (unsigned lane = 0; lane < LANES; lane++) {
		for (size_t i = 0; i < n; i++)
			schedule(NOW + in_middle_of(lane));
	}
}

START_TEST(a_visit_leaves_what_is_far)
{
	enum { N = 2 * BLOCK_ENTRIES + 9 };

	begin();
	fill_lanes(N);
	for (unsigned due = 0; due < LANES; due++) {
		int64_t now = NOW + in_middle_of(due);

		ck_assert_uint_eq(take(now - 1), 0);
		ck_assert_int_eq(announced(), now);
		ck_assert_uint_eq(take(now), N);
		for (unsigned lane = 0; lane < LANES; lane++)
			ck_assert_uint_eq(in_lane(lane), lane > due ? N : 0);
	}
	ck_assert_int_eq(announced(), INT64_MAX);
	end();
}
END_TEST

/* Of a lane, only the blocks that hold what is due, or nearly. */
START_TEST(a_visit_leaves_what_is_later)
{
	const unsigned lane = 4;
	const int64_t first = NOW + in_middle_of(lane);
	const int64_t ahead = distance_ahead(lane);

	begin();
	for (int64_t i = 0; i < 6; i++) {
		int64_t later = i < 3 ? i : ahead + i;

		for (size_t k = 0; k < BLOCK_ENTRIES; k++)
			schedule(first + later);
	}
	/* Ahead of its time, but not alone. */
	ck_assert_uint_eq(take(first - 1), 0);
	ck_assert_uint_eq(take(first), 3 * BLOCK_ENTRIES);
	ck_assert_int_eq(announced(), first + ahead + 3);
	ck_assert_uint_eq(take(first + ahead + 2), 0);
	ck_assert_uint_eq(take(first + ahead + 3), 3 * BLOCK_ENTRIES);
	end();
}
END_TEST

/* As many as a step takes, in lane 0. */
static void fill_a_step(void)
{
	for (unsigned i = 0; i < QUEUE_STEP * BLOCK_ENTRIES; i++)
		schedule(NOW + MS);
}

START_TEST(a_visit_goes_by_steps)
{
	struct visit v;
	size_t n = 0;
	int steps = 0;
	bool more;

	begin();
	schedule(NOW + SECOND);
	schedule(NOW + 60 * SECOND);
	fill_a_step();
	schedule(NOW + MS);
	visit_of(&v, NOW + HOUR);
	do {
		size_t before = n;

		more = step(&v);
		n = copy_all(&v, n);
		ck_assert_uint_le(n - before, QUEUE_STEP * BLOCK_ENTRIES);
		bucket_check(bucket);
		steps++;
	} while (more);
	ck_assert_uint_eq(n, QUEUE_STEP * BLOCK_ENTRIES + 3);
	ck_assert_int_eq(steps, 2);
	end();
}
END_TEST

/* The visit finds them, or announces them. */
START_TEST(arrivals_between_steps)
{
	struct visit v;
	size_t n;

	begin();
	schedule(NOW + SECOND);
	schedule(NOW + 60 * SECOND);
	fill_a_step();
	visit_of(&v, NOW + 2 * SECOND);
	ck_assert(step(&v));
	ck_assert_uint_eq(copy_all(&v, 0), QUEUE_STEP * BLOCK_ENTRIES);
	/* That lane is done, the next ones are not. */
	schedule(NOW + 2 * MS);
	schedule(NOW + SECOND + 1);
	schedule(NOW + 50 * SECOND);
	bucket_check(bucket);
	for (n = 0; step(&v);)
		n = copy_all(&v, n);
	n = copy_all(&v, n);
	ck_assert_uint_eq(n, 2);
	ck_assert_int_eq(announced(), NOW + 2 * MS);
	ck_assert_uint_eq(take(NOW + 2 * MS), 1);
	ck_assert_int_eq(announced(), NOW + 50 * SECOND);
	end();
}
END_TEST

/* One that is earlier than all is announced at once, whoever visits. */
START_TEST(an_earlier_one_between_steps)
{
	struct visit v;

	begin();
	schedule(NOW + SECOND);
	fill_a_step();
	visit_of(&v, NOW + SECOND);
	ck_assert(step(&v));
	copy_all(&v, 0);
	schedule(NOW + MS / 2);
	ck_assert_int_eq(announced(), NOW + MS / 2);
	while (step(&v))
		copy_all(&v, 0);
	copy_all(&v, 0);
	ck_assert_int_eq(announced(), NOW + MS / 2);
	ck_assert_uint_eq(run_all(), 1);
	end();
}
END_TEST

/* Where the first of a block was cancelled that is seen when it has gone. */
START_TEST(announces_what_is_left)
{
	uint64_t id;

	begin();
	id = schedule(NOW + SECOND);
	for (size_t i = 1; i < BLOCK_ENTRIES; i++)
		schedule(NOW + 2 * SECOND);
	schedule(NOW + 3 * SECOND);
	ck_assert_int_eq(cancel(id), 0);
	take(NOW + SECOND - 1);
	ck_assert_int_eq(announced(), NOW + SECOND);
	ck_assert_uint_eq(take(NOW + SECOND), BLOCK_ENTRIES);
	ck_assert_int_eq(announced(), NOW + 3 * SECOND);
	schedule(NOW + HOUR);
	ck_assert_uint_eq(take(NOW + 3 * SECOND), 1);
	ck_assert_int_eq(announced(), NOW + HOUR);
	end();
}
END_TEST

/* What is left in one lane says nothing of the next one. */
START_TEST(what_is_left_is_known_by_lane)
{
	const unsigned first = lane_at(SECOND), last = first + 1;
	const int64_t due = NOW + in_middle_of(first), later = due + SECOND;

	begin();
	/* Free slots, so that none is looked for elsewhere. */
	fill_lanes(BLOCK_ENTRIES);
	run_all();
	for (unsigned lane = first; lane <= last; lane++) {
		for (size_t i = 0; i < BLOCK_ENTRIES; i++)
			schedule(due);
		schedule(later + lane);
		/* All that comes now is farther away. */
		watch_set(&watch, NOW - in_middle_of(last));
		take(NOW);
	}
	ck_assert_uint_eq(in_lane(first), BLOCK_ENTRIES + 1);
	ck_assert_uint_eq(in_lane(last), BLOCK_ENTRIES + 1);
	ck_assert_uint_eq(take(due), 2 * BLOCK_ENTRIES);
	ck_assert_int_eq(bucket->lane[first].queue.nearest, later + first);
	ck_assert_int_eq(bucket->lane[last].queue.nearest, later + last);
	ck_assert_int_eq(announced(), later + first);
	end();
}
END_TEST

/* The bucket keeps one, and the driver gets the others. */
START_TEST(spare_blocks_are_exchanged)
{
	struct visit v;

	begin();
	block_push(&spares, block_alloc());
	block_push(&spares, block_alloc());
	visit_of(&v, NOW);
	ck_assert(!step(&v));
	ck_assert_uint_eq(count_blocks(spares), 1);
	ck_assert_uint_eq(count_blocks(bucket->spares), 1);
	block_push(&bucket->spares, block_alloc());
	block_push(&bucket->spares, block_alloc());
	ck_assert(!step(&v));
	ck_assert_uint_eq(count_blocks(spares), 3);
	ck_assert_uint_eq(count_blocks(bucket->spares), 1);
	end();
}
END_TEST

/* They are counted as near as they are by now. */
START_TEST(puts_back)
{
	enum { N = 3 * BLOCK_ENTRIES };
	const int64_t then = NOW + 5 * HOUR;
	size_t n;

	begin();
	for (unsigned i = 0; i < N; i++)
		schedule(then + (i % 2 ? 60 * SECOND : 0));
	ck_assert_uint_eq(the_lane(), lane_at(5 * HOUR));
	watch_set(&watch, then - MS);
	n = take(then);
	ck_assert_uint_eq(n, N);
	ck_assert_int_eq(announced(), INT64_MAX);
	ck_assert_uint_eq(bucket_put(bucket, &wakeup, &spares, taken, n), 0);
	bucket_check(bucket);
	ck_assert_uint_eq(in_lane(0), (N + 1) / 2);
	ck_assert_uint_eq(in_lane(lane_at(60 * SECOND)), N / 2);
	ck_assert_int_eq(announced(), then);
	ck_assert_uint_eq(run_due(then + MS), (N + 1) / 2);
	ck_assert_int_eq(announced(), then + 60 * SECOND);
	ck_assert_uint_eq(run_all(), N / 2);
	end();
}
END_TEST

START_TEST(puts_back_nothing)
{
	begin();
	ck_assert_uint_eq(bucket_put(bucket, &wakeup, &spares, NULL, 0), 0);
	ck_assert_int_eq(announced(), INT64_MAX);
	end();
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

/* There is room for those that one spare block takes, the last ones. */
START_TEST(puts_back_what_it_has_room_for)
{
	enum { N = 3 * BLOCK_ENTRIES };
	unsigned lane;
	size_t n, left;

	begin();
	for (unsigned i = 0; i < N; i++)
		schedule(NOW + SECOND + i);
	n = take(NOW + 2 * SECOND);
	ck_assert_uint_eq(n, N);
	block_free_all(spares);
	spares = NULL;
	block_free_all(bucket->spares);
	bucket->spares = block_alloc();
	bucket->spares->next = NULL;
	fail_arm(0, UINT32_MAX);
	left = bucket_put(bucket, &wakeup, &spares, taken, n);
	ck_assert_uint_eq(bucket_put(bucket, &wakeup, &spares, taken, left),
			  left);
	ck_assert_uint_ge(fail_disarm(), 2);
	ck_assert_uint_eq(left, N - BLOCK_ENTRIES);
	bucket_check(bucket);
	lane = lane_at(SECOND);
	ck_assert_uint_eq(in_lane(lane), BLOCK_ENTRIES);
	for (size_t i = 0; i < BLOCK_ENTRIES; i++)
		must(queue_at(&bucket->lane[lane].queue, i)->ticket ==
		     taken[n - 1 - i].ticket);
	ck_assert_uint_eq(bucket_put(bucket, &wakeup, &spares, taken, left), 0);
	ck_assert_uint_eq(run_all(), N);
	end();
}
END_TEST

/* Nothing has changed, and the next call may find some. */
START_TEST(schedules_nothing_without_memory)
{
	uint64_t id = 77;

	begin();
	fail_arm(0, UINT32_MAX);
	errno = 5;
	ck_assert_int_eq(try_to_schedule(NOW + MS, &id), -ENOMEM);
	ck_assert_int_eq(errno, 5);
	ck_assert_uint_gt(fail_disarm(), 0);
	ck_assert_uint_eq(id, 77);
	ck_assert_uint_eq(bucket_size(bucket), 0);
	ck_assert_int_eq(announced(), INT64_MAX);
	bucket_check(bucket);
	schedule(NOW + MS);
	ck_assert_uint_eq(run_all(), 1);
	end();
}
END_TEST

/* A slot is enough. */
START_TEST(schedules_without_room)
{
	uint64_t id[3];

	begin();
	fail_arm(1, UINT32_MAX);
	errno = 5;
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(try_to_schedule(NOW + (3 - i) * MS, &id[i]),
				 0);
	ck_assert_int_eq(errno, 5);
	ck_assert_uint_gt(fail_disarm(), 1);
	ck_assert_uint_eq(bucket_size(bucket), 0);
	ck_assert_int_eq(announced(), NOW + MS);
	bucket_check(bucket);
	ck_assert_int_eq(cancel(id[1]), 0);
	ck_assert_uint_eq(run_due(NOW + MS), 1);
	ck_assert_uint_eq(run_all(), 1);
	end();
}
END_TEST

#endif

/* Without an entry a timer waits all the same. */
START_TEST(the_stranded_wait)
{
	struct entry e;
	uint64_t id;

	begin();
	id = schedule(NOW + SECOND);
	ck_assert_uint_eq(take(NOW + SECOND), 1);
	e = taken[0];
	handover_strand(bucket, &wakeup, &e);
	ck_assert_uint_eq(bucket_size(bucket), 0);
	ck_assert_int_eq(announced(), NOW + SECOND);
	bucket_check(bucket);
	schedule(NOW + MS);
	ck_assert_uint_eq(run_due(NOW + MS), 1);
	ck_assert_int_eq(announced(), NOW + SECOND);
	ck_assert_int_eq(reschedule(id, NOW + 2 * MS), 0);
	ck_assert_int_eq(announced(), NOW + 2 * MS);
	ck_assert_uint_eq(take(NOW + MS), 0);
	ck_assert_uint_eq(run_due(NOW + 2 * MS), 1);
	ck_assert_int_eq(announced(), INT64_MAX);
	ck_assert_uint_eq(take(INT64_MAX - 1), 0);
	end();
}
END_TEST

/* All of them are handed out when the first is due, the dead too. */
START_TEST(the_stranded_are_handed_out)
{
	enum { N = 10 };
	uint64_t id[N];

	begin();
	for (int i = 0; i < N; i++)
		id[i] = schedule(NOW + SECOND + i);
	ck_assert_int_eq(reschedule(id[1], NOW + MS), 0);
	ck_assert_uint_eq(take(NOW + SECOND), N + 1);
	for (int i = 0; i <= N; i++)
		handover_strand(bucket, &wakeup, &taken[i]);
	bucket_check(bucket);
	ck_assert_int_eq(announced(), NOW + MS);
	ck_assert_int_eq(cancel(id[5]), 0);
	/* Each once, though one of them had two entries. */
	ck_assert_uint_eq(take(NOW + MS), N);
	ck_assert_int_eq(announced(), INT64_MAX);
	ck_assert_uint_eq(bucket_put(bucket, &wakeup, &spares, taken, N), 0);
	ck_assert_uint_eq(run_all(), N - 1);
	end();
}
END_TEST

/* Its holder was probably preempted, on the same CPU. */
START_TEST(a_held_bucket_is_passed_over)
{
	struct intake *in = intake_create(4);

	for (uint32_t i = 0; i < 4; i++)
		lock_acquire(&in->bucket[i].lock);
	for (uint32_t i = 0; i < 4; i++) {
		ck_assert_ptr_eq(intake_pick_other(in, &in->bucket[i]),
				 &in->bucket[i]);
		lock_release(&in->bucket[i].lock);
		for (uint32_t k = 0; k < 4; k++)
			if (k != i)
				ck_assert_ptr_eq(
					intake_pick_other(in, &in->bucket[k]),
					&in->bucket[i]);
		ck_assert_ptr_eq(intake_pick(in, 0), &in->bucket[i]);
		lock_acquire(&in->bucket[i].lock);
	}
	intake_destroy(in);

	in = intake_create(1);
	lock_acquire(&in->bucket[0].lock);
	ck_assert_ptr_eq(intake_pick(in, 0), &in->bucket[0]);
	intake_destroy(in);
}
END_TEST

/* What comes in while rent rests, and a few. */
#define RESTED (64 + 8)

/* All of rent's tests are in one lane but where they say so. */
static uint64_t schedule_in_lane(int64_t i)
{
	return schedule(NOW + 5 * SECOND + i);
}

static size_t used(void)
{
	return slots_used(&bucket->slots);
}

/*
 * The promise that garbage follows the live: any number of schedules, a window
 * of live timers that are cancelled in the order in which they came, and next
 * to no entries and slots of the dead.
 */
START_TEST(rent_bounds_garbage)
{
	static const size_t windows[] = {1, 10, 1000, 20000};
	static uint64_t ring[20000];

	for (size_t w = 0; w < 4; w++) {
		size_t window = windows[w], most = 0;

		begin();
		for (size_t i = 0; i < 12 * window + 1000; i++) {
			uint64_t *id = &ring[i % window];

			if (i >= window)
				must(cancel(*id) == 0);
			*id = schedule_in_lane((int64_t)i);
			most = bucket_size(bucket) > most ? bucket_size(bucket)
							  : most;
			must(used() <= bucket_size(bucket));
		}
		bucket_check(bucket);
		ck_assert_uint_le(most, window + 2 * RESTED);
		ck_assert_uint_eq(run_all(), window);
		end();
	}
}
END_TEST

/* How often in the queue does one come before an older one? */
static size_t count_disorder(const struct queue *q)
{
	int64_t last = INT64_MIN;
	size_t n = 0;

	for (size_t i = 0; i < queue_span(q); i++) {
		const struct entry *e = queue_at(q, i);

		if (!e || entry_is_hole(e))
			continue;
		n += e->deadline < last;
		last = e->deadline;
	}
	return n;
}

/*
 * The same where some live long and some are soon gone, in no order.  Those
 * that live stay in theirs, all but a few at the front.
 */
START_TEST(rent_bounds_garbage_in_any_order)
{
	enum { WINDOW = 5000, STEPS = 60 * WINDOW };
	static uint64_t ring[WINDOW];
	uint64_t rng = test_seed();
	size_t most = 0;

	begin();
	for (int i = 0; i < STEPS; i++) {
		uint64_t *id = &ring[random_below(&rng, WINDOW)];

		if (*id)
			must(cancel(*id) == 0);
		*id = schedule_in_lane(i);
		most = bucket_size(bucket) > most ? bucket_size(bucket) : most;
	}
	ck_assert_uint_le(most, WINDOW / 10 * 22);
	bucket_check(bucket);
	ck_assert_uint_le(
		count_disorder(&bucket->lane[lane_at(5 * SECOND)].queue), 50);
	end();
}
END_TEST

/* The oldest arrival is never cancelled, and must not shield the rest. */
START_TEST(rent_gets_past_an_immortal)
{
	enum { WINDOW = 100 };
	uint64_t ring[WINDOW];
	size_t most = 0;

	begin();
	schedule_in_lane(0);
	for (int i = 0; i < 100000; i++) {
		if (i >= WINDOW)
			must(cancel(ring[i % WINDOW]) == 0);
		ring[i % WINDOW] = schedule_in_lane(i);
		most = bucket_size(bucket) > most ? bucket_size(bucket) : most;
	}
	ck_assert_uint_le(most, 2 * WINDOW + 2 * RESTED + BLOCK_ENTRIES);
	end();
}
END_TEST

/*
 * One stays, some are over at once and some later.  Who is busy with the
 * former, which are the last in the queue, must find the latter too, also where
 * there are many slots.
 */
START_TEST(rent_finds_quick_and_slow)
{
	enum { PEAK = 30000, WINDOW = 1000, STEPS = 200000 };
	static uint64_t ring[WINDOW], peak[PEAK];
	size_t most = 0;

	begin();
	schedule_in_lane(0);
	for (int i = 0; i < PEAK; i++)
		peak[i] = schedule_in_lane(0);
	cancel_all(peak, PEAK);
	for (int i = 0; i < STEPS; i++) {
		if (i >= WINDOW)
			must(cancel(ring[i % WINDOW]) == 0);
		ring[i % WINDOW] = schedule_in_lane(i);
		must(cancel(schedule_in_lane(i)) == 0);
		if (i >= STEPS / 2 && bucket_size(bucket) > most)
			most = bucket_size(bucket);
	}
	ck_assert_uint_le(most, 4 * WINDOW);
	end();
}
END_TEST

/* The same where the latter have no slot: their timers have newer entries. */
START_TEST(rent_finds_old_entries)
{
	enum { WINDOW = 1000, STEPS = 200000 };
	static uint64_t ids[WINDOW];
	size_t most = 0;

	begin();
	schedule_in_lane(0);
	for (int i = 0; i < WINDOW; i++)
		ids[i] = schedule_in_lane(STEPS);
	for (int i = 0; i < STEPS; i++) {
		must(cancel(schedule_in_lane(i)) == 0);
		must(reschedule(ids[i % WINDOW],
				NOW + 5 * SECOND + STEPS - i - 1) == 0);
		most = bucket_size(bucket) > most ? bucket_size(bucket) : most;
	}
	ck_assert_uint_le(most, 4 * WINDOW);
	end();
}
END_TEST

/* Pairs among timers that stay: these hide nothing. */
START_TEST(rent_among_those_that_stay)
{
	static const size_t windows[] = {50, 300, 3000};

	for (size_t w = 0; w < 3; w++) {
		size_t live = windows[w], most = 0;

		begin();
		for (size_t i = 0; i < live; i++)
			schedule_in_lane(1000000 + (int64_t)i);
		for (int i = 0; i < 100000; i++) {
			must(cancel(schedule_in_lane(i)) == 0);
			most = bucket_size(bucket) > most ? bucket_size(bucket)
							  : most;
		}
		ck_assert_uint_le(most, 3 * live + 6 * RESTED + BLOCK_ENTRIES);
		bucket_check(bucket);
		ck_assert_uint_eq(run_all(), live);
		end();
	}
}
END_TEST

/*
 * Those in front stay, as do those at the back, and many between them came to
 * their time: a visit took these.  What comes after that is as well looked
 * after as before.
 */
START_TEST(rent_gets_past_what_was_taken)
{
	enum { STAY = BLOCK_ENTRIES, TAKEN = 700 * BLOCK_ENTRIES };
	size_t most = 0;

	begin();
	for (unsigned i = 0; i < STAY; i++)
		schedule_in_lane(20 * SECOND);
	for (unsigned i = 0; i < TAKEN; i++)
		schedule_in_lane(0);
	for (unsigned i = 0; i < STAY; i++)
		schedule_in_lane(20 * SECOND);
	ck_assert_uint_eq(take(NOW + 5 * SECOND), TAKEN);
	for (unsigned i = 0; i < TAKEN; i++)
		must(run(taken[i], NOW + 5 * SECOND));
	intake_flush(intake);
	ck_assert_uint_eq(bucket_size(bucket), 2 * STAY);
	for (unsigned i = 0; i < TAKEN; i++) {
		must(cancel(schedule_in_lane(20 * SECOND)) == 0);
		most = bucket_size(bucket) > most ? bucket_size(bucket) : most;
	}
	ck_assert_uint_le(most, 3 * 2 * STAY + RESTED);
	end();
}
END_TEST

/* A hundred thousand cancelled at once go as new ones come. */
START_TEST(rent_drains_a_mass_cancel)
{
	enum { N = 100000 };
	static uint64_t ids[N];
	uint32_t end_before;

	begin();
	for (int i = 0; i < N; i++)
		ids[i] = schedule_in_lane(i);
	end_before = bucket->slots.end;
	cancel_all(ids, N);
	for (int i = 0; i < N; i++)
		must(cancel(schedule_in_lane(i)) == 0);
	ck_assert_uint_le(bucket_size(bucket), 2 * RESTED);
	ck_assert_uint_eq(bucket->slots.end, end_before);
	bucket_check(bucket);
	end();
}
END_TEST

/* So many and more then, until no slot is free. */
static void use_all_slots(uint64_t *id, size_t n, int64_t then)
{
	for (size_t i = 0; i < n; i++)
		id[i] = schedule(then);
	while (used() < (bucket->slots.end - 1) << SLOT_WORD_LOG2)
		schedule(then);
}

/* It takes no memory for slots if some were cancelled, though it rests. */
START_TEST(rent_comes_before_memory)
{
	enum { N = 20000 };
	static uint64_t ids[N];
	uint32_t end_before;

	begin();
	use_all_slots(ids, N, NOW + HOUR);
	end_before = bucket->slots.end;
	cancel_all(ids, N);
	bucket->lane[lane_at(HOUR)].rests = 60;
	for (int i = 0; i < N; i++)
		schedule(NOW + HOUR);
	ck_assert_uint_eq(bucket->slots.end, end_before);
	bucket_check(bucket);
	end();
}
END_TEST

/*
 * Nor where they are in a lane to which nobody comes any more.  And little
 * where its own, with some that live, has its turn before.
 */
START_TEST(rent_looks_into_other_lanes)
{
	enum { N = 20000, OWN = 1000 };
	static uint64_t ids[N];

	for (int own = 0; own <= OWN; own += OWN) {
		uint32_t ready_before;

		begin();
		for (int i = 0; i < own; i++)
			schedule_in_lane(i);
		use_all_slots(ids, N, NOW + HOUR);
		ready_before = bucket->slots.ready;
		cancel_all(ids, N);
		bucket->next_lane = lane_at(5 * SECOND);
		bucket->next = (struct queue_position){0, 0};
		for (int i = 0; i < N; i++)
			schedule_in_lane(i);
		ck_assert_uint_le(bucket->slots.ready - ready_before,
				  (uint32_t)own / 8);
		ck_assert_uint_le(used(), bucket_size(bucket));
		bucket_check(bucket);
		end();
	}
}
END_TEST

/* Holes are none. */
static size_t count_entries(void)
{
	size_t n = 0;

	for (unsigned lane = 0; lane < LANES; lane++) {
		const struct queue *q = &bucket->lane[lane].queue;

		for (size_t i = 0; i < queue_span(q); i++) {
			const struct entry *e = queue_at(q, i);

			n += e && !entry_is_hole(e);
		}
	}
	return n;
}

/*
 * Goes on while any of so many looks is left, and until it has been around:
 * has come to the end twice.  Returns in how many steps.
 */
static int reclaim(uint64_t looks)
{
	int steps = 0, ends = 0;

	for (; looks > 0 && ends < 2; steps++) {
		uint64_t before = looks;
		size_t sum = count_entries() + bucket_size(bucket);
		size_t n = bucket_reclaim(bucket, &spares, &looks);

		must(n <= RENT_RECLAIM);
		must(n == 0 || looks < before ||
		     count_entries() + bucket_size(bucket) < sum);
		ends += n == 0;
		if (!lock_is_held(&bucket->lock))
			bucket_check(bucket);
	}
	return steps;
}

/* All live: no further than what was paid for, and once around, or twice. */
START_TEST(reclaiming_ends)
{
	enum { LIVE = 160 * RENT_RECLAIM };
	int steps;

	begin();
	ck_assert_int_eq(reclaim(UINT64_MAX), 2);
	for (int i = 0; i < LIVE; i++)
		schedule_in_lane(i);
	ck_assert_int_eq(reclaim(RENT_RECLAIM), 1);
	ck_assert_int_eq(reclaim(RENT_RECLAIM + 1), 2);
	steps = reclaim(UINT64_MAX);
	ck_assert_int_ge(steps, LIVE / RENT_RECLAIM);
	ck_assert_int_le(steps, 2 * (LIVE / RENT_RECLAIM + 2));
	ck_assert_uint_eq(bucket_size(bucket), LIVE);
	ck_assert_uint_eq(run_all(), LIVE);
	end();
}
END_TEST

/*
 * Nobody schedules any more, and those who live came first.  The driver finds
 * the rest.
 */
START_TEST(reclaiming_gets_past_the_living)
{
	enum { LIVE = 300, DEAD = 20 * BLOCK_ENTRIES };
	static uint64_t ids[DEAD];

	begin();
	for (int i = 0; i < LIVE; i++)
		schedule_in_lane(i);
	for (unsigned i = 0; i < DEAD; i++)
		ids[i] = schedule_in_lane(i);
	cancel_all(ids, DEAD);
	reclaim(UINT64_MAX);
	ck_assert_uint_eq(bucket_size(bucket), LIVE);
	end();
}
END_TEST

/* The same in each lane; a step is in one, and they have their turns. */
START_TEST(reclaiming_is_for_all_lanes)
{
	enum { LIVE = 50, DEAD = 8 * BLOCK_ENTRIES };
	static uint64_t ids[LANES * DEAD];
	size_t n = 0;

	begin();
	for (unsigned lane = 0; lane < LANES; lane++) {
		for (int i = 0; i < LIVE; i++)
			schedule(NOW + in_middle_of(lane));
		for (unsigned i = 0; i < DEAD; i++)
			ids[n++] = schedule(NOW + in_middle_of(lane));
	}
	cancel_all(ids, n);
	/* All get some of what is paid for a part. */
	reclaim(LANES * (LIVE + RENT_RECLAIM));
	for (unsigned lane = 0; lane < LANES; lane++)
		ck_assert_uint_lt(in_lane(lane), LIVE + DEAD);
	reclaim(UINT64_MAX);
	ck_assert_uint_le(bucket_size(bucket), LANES * LIVE * 5 / 4);
	ck_assert_uint_eq(run_all(), LANES * LIVE);
	end();
}
END_TEST

/* Few among many that live: once around finds them. */
START_TEST(reclaiming_finds_a_few)
{
	enum { N = 10000, DEAD = N / 20 };
	static uint64_t ids[N];

	begin();
	for (int i = 0; i < N; i++)
		ids[i] = schedule_in_lane(i);
	for (int i = 0; i < N; i += N / DEAD)
		must(cancel(ids[i]) == 0);
	reclaim(UINT64_MAX);
	ck_assert_uint_le(bucket_size(bucket), N - DEAD * 3 / 4);
	end();
}
END_TEST

/* Who has the lock is not held up. */
START_TEST(reclaiming_waits_for_nobody)
{
	uint64_t id;

	begin();
	id = schedule_in_lane(1);
	ck_assert_int_eq(cancel(id), 0);
	lock_acquire(&bucket->lock);
	ck_assert_int_eq(reclaim(1), 1);
	ck_assert_uint_eq(bucket_size(bucket), 1);
	lock_release(&bucket->lock);
	ck_assert_int_eq(reclaim(1), 1);
	ck_assert_uint_eq(bucket_size(bucket), 0);
	end();
}
END_TEST

/* A model: the timers that live, and when they are due. */
enum { MODEL_MAX = 2000 };
static struct {
	uint64_t id;
	int64_t deadline;
} model[MODEL_MAX];
static size_t model_n;

static int64_t random_deadline(uint64_t *rng)
{
	uint64_t bits = 16 + random_below(rng, 36);

	return watch_now(&watch) + (int64_t)(next_random(rng) >> (64 - bits)) -
	       1000;
}

static void model_schedule(uint64_t *rng)
{
	if (model_n == MODEL_MAX)
		return;
	model[model_n].deadline = random_deadline(rng);
	model[model_n].id = schedule(model[model_n].deadline);
	model_n++;
}

static void model_cancel(uint64_t *rng)
{
	size_t i = random_below(rng, model_n);

	must(cancel(model[i].id) == 0);
	must(cancel(model[i].id) == -ENOENT);
	model[i] = model[--model_n];
}

static void model_reschedule(uint64_t *rng)
{
	size_t i = random_below(rng, model_n);

	model[i].deadline = random_deadline(rng);
	must(reschedule(model[i].id, model[i].deadline) == 0);
}

/* Whatever the bucket was asked to look at, all that is due runs. */
static void model_run(int64_t now)
{
	size_t due = 0;

	for (size_t i = 0; i < model_n; i++) {
		if (model[i].deadline <= now) {
			due++;
			model[i--] = model[--model_n];
		}
	}
	ck_assert_uint_eq(run_due(now), due);
}

/* No timer is due before what is announced. */
static void model_check(void)
{
	int64_t nearest = bucket->nearest;

	bucket_check(bucket);
	must(wakeup.visit[0] == nearest);
	for (size_t i = 0; i < model_n; i++) {
		const struct slot *s = slot_of(model[i].id);

		must(s->queued >= nearest && model[i].deadline >= nearest);
		must(s->deadline == model[i].deadline);
	}
}

START_TEST(random_steps)
{
	enum { STEPS = 30000 };
	uint64_t rng = test_seed();

	model_n = 0;
	begin();
	for (int i = 0; i < STEPS; i++) {
		uint64_t dice = random_below(&rng, 1000);
		int64_t pass = (int64_t)(next_random(&rng) >>
					 (20 + random_below(&rng, 24)));

		if (dice < 550)
			model_schedule(&rng);
		else if (model_n > 0 && dice < 700)
			model_reschedule(&rng);
		else if (model_n > 0 && dice < 970)
			model_cancel(&rng);
		else if (dice < 975)
			reclaim(random_below(&rng, 100));
		else if (dice < 978)
			model_run(watch_now(&watch));
		else
			watch_set(&watch, watch_now(&watch) + pass);
		model_check();
	}
	ck_assert_uint_eq(run_all(), model_n);
	end();
}
END_TEST

START_TEST(many_buckets_make_distinct_ids)
{
	enum { BUCKETS = 1024 };
	static uint64_t ids[BUCKETS];
	struct slot *s;

	watch_init_virtual(&watch, NOW);
	begin_all(BUCKETS);
	for (uint32_t i = 0; i < BUCKETS; i++) {
		bucket = &intake->bucket[i];
		ids[i] = schedule(1);
	}
	for (uint32_t i = 0; i < BUCKETS; i++) {
		ck_assert_int_eq(cancel(ids[i]), 0);
		ck_assert_int_eq(cancel(ids[i]), -ENOENT);
		s = intake_slot(intake, ids[i]);
		ck_assert_ptr_eq(s, slots_of(&intake->bucket[i].slots,
					     slot_index(ids[i])));
	}
	end();

	/* An index can name a fourth bucket of three. */
	begin_all(3);
	for (uint32_t i = 0; i < 3; i++) {
		bucket = &intake->bucket[i];
		schedule(1);
	}
	for (uint64_t number = 0; number < 300; number++)
		ck_assert_ptr_null(intake_slot(intake, number << 2 | 3));
	end();
	/* And it is not looked for, even if there is something. */
	begin_all(4);
	bucket = &intake->bucket[3];
	ids[3] = schedule(1);
	ck_assert_ptr_nonnull(intake_slot(intake, ids[3]));
	intake->n = 3;
	ck_assert_ptr_null(intake_slot(intake, ids[3]));
	intake->n = 4;
	end();
}
END_TEST

/* Each announces for itself. */
START_TEST(each_bucket_is_asked_for_its_own)
{
	struct bucket_set due;
	uint32_t got;

	watch_init_virtual(&watch, NOW);
	begin_all(3);
	for (uint32_t i = 0; i < 3; i++) {
		bucket = &intake->bucket[i];
		schedule(NOW + (3 - i) * SECOND);
	}
	ck_assert(!wakeup_collect(&wakeup, NOW, &due));
	ck_assert(wakeup_collect(&wakeup, NOW + 2 * SECOND, &due));
	ck_assert(bucket_set_take(&due, &got) && got == 1);
	ck_assert(bucket_set_take(&due, &got) && got == 2);
	ck_assert(!bucket_set_take(&due, &got));
	ck_assert_int_eq(wakeup_arrivals(&wakeup), NOW + 3 * SECOND);
	end();
}
END_TEST

START_TEST(bucket_sets)
{
	struct bucket_set set = {0};
	static const uint32_t in[] = {1023, 0, 31, 32, 512, 0};
	static const uint32_t out[] = {0, 31, 32, 512, 1023};
	uint32_t got;

	ck_assert_uint_eq(bucket_set_count(&set), 0);
	for (size_t i = 0; i < 6; i++)
		bucket_set_add(&set, in[i]);
	for (size_t i = 0; i < 5; i++) {
		ck_assert(bucket_set_take(&set, &got));
		ck_assert_uint_eq(got, out[i]);
	}
	ck_assert(!bucket_set_take(&set, &got));
	ck_assert_uint_eq(bucket_set_count(&set), 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		only_while_open,
		announces_what_is_earlier,
		announces_nothing_twice,
		never_is_not_announced,
		near_and_far_do_not_mix,
		the_base_follows_the_visits,
		a_stale_base_is_mended,
		a_stale_base_is_mended_by_reschedule,
		who_is_not_the_earliest_takes_the_lane_that_it_is_given,
		a_little_earlier_is_not_worth_a_look_at_the_clock,
		what_falls_is_seldom_announced,
		what_has_passed_is_due_now,
		what_has_just_passed_is_due_now,
		what_has_passed_does_not_wait_for_the_slack,
		what_has_passed_goes_to_no_other_lane,
		moved_to_what_has_passed_it_does_not_wait,
		others_wake_the_driver_for_one_that_is_held_up,
		what_has_passed_keeps_its_turn,
		rescheduled_to_what_has_passed,
		on_some_clocks_it_keeps_its_deadline,
		a_visit_leaves_what_is_far,
		a_visit_leaves_what_is_later,
		a_visit_goes_by_steps,
		arrivals_between_steps,
		an_earlier_one_between_steps,
		announces_what_is_left,
		what_is_left_is_known_by_lane,
		spare_blocks_are_exchanged,
		puts_back,
		puts_back_nothing,
#ifndef FAIL_ALLOC_UNAVAILABLE
		puts_back_what_it_has_room_for,
		schedules_nothing_without_memory,
		schedules_without_room,
#endif
		the_stranded_wait,
		the_stranded_are_handed_out,
		a_held_bucket_is_passed_over,
		rent_bounds_garbage,
		rent_bounds_garbage_in_any_order,
		rent_gets_past_an_immortal,
		rent_finds_quick_and_slow,
		rent_finds_old_entries,
		rent_among_those_that_stay,
		rent_gets_past_what_was_taken,
		rent_drains_a_mass_cancel,
		rent_comes_before_memory,
		rent_looks_into_other_lanes,
		reclaiming_ends,
		reclaiming_gets_past_the_living,
		reclaiming_is_for_all_lanes,
		reclaiming_finds_a_few,
		reclaiming_waits_for_nobody,
		random_steps,
		many_buckets_make_distinct_ids,
		each_bucket_is_asked_for_its_own,
		bucket_sets,
	};

	return RUN_TESTS("bucket", tests);
}
