/* SPDX-License-Identifier: MIT */
/*
 * A bucket without an engine, and the visits to it, which the test makes.
 */
#pragma once

#include "bare_intake.h"
#include "begun.h"
#include "contents.h"
#include "intake/collect.h"
#include "intake/recycle.h"
#include "intake/unqueued.h"

#define NOW    (INT64_C(1) << 50)
#define MS     INT64_C(1000000)
#define SECOND (1000 * MS)
#define HOUR   (3600 * SECOND)

static struct bucket *bucket;

/* What the last visit took, and the blocks that it left. */
enum { MAX_TAKEN = 200000 };
static struct entry taken[MAX_TAKEN];
static struct block *spares;

/* So many buckets, open. */
static inline void begin_all(uint32_t n)
{
	begin_intake(n);
	bucket = &intake->bucket[0];
	spares = NULL;
}

static inline void begin_on(clockid_t clock)
{
	watch = (struct watch){.clock = CLOCK_MONOTONIC};
	watch.clock = clock;
	begin_all(1);
}

static inline size_t take(int64_t by);

/* At a time that stands still, which the bucket knows. */
static inline void begin(void)
{
	watch = WATCH_VIRTUAL(NOW);
	begin_all(1);
	ck_assert_uint_eq(take(NOW), 0);
}

static inline void end(void)
{
	end_intake();
	block_free_all(spares);
}

static inline int try_to_schedule(int64_t deadline, uint64_t *ret_id)
{
	return try_to_schedule_in(bucket, deadline, ret_id);
}

static inline uint64_t schedule(int64_t deadline)
{
	return schedule_in(bucket, deadline);
}

static inline void cancel_all(const uint64_t *id, size_t n)
{
	for (size_t i = 0; i < n; i++)
		must(cancel(id[i]) == 0);
}

static inline size_t in_lane(unsigned lane)
{
	return queue_size(&bucket->lane[lane].queue);
}

/* The lane that has all that there is. */
static inline unsigned the_lane(void)
{
	size_t n = bucket_size(bucket);

	for (unsigned lane = 0; lane < LANES; lane++) {
		if (in_lane(lane) == n)
			return lane;
	}
	ck_abort_msg("more than one has some");
}

/* A time that is so far away as the middle of this lane is. */
static inline int64_t in_middle_of(unsigned lane)
{
	int bit = 0;

	if (lane == 0)
		return NEAR_NS / 2;
	while (distance_lanes[bit] < lane)
		bit++;
	return INT64_C(3) << (TICK_LOG2 + bit - 1);
}

/* The lane for what is so far away. */
static inline unsigned lane_at(int64_t distance)
{
	return distance_lane(distance_base(NOW), NOW + distance);
}

/* What the bucket has announced. */
static inline int64_t announced(void)
{
	ck_assert_int_eq(wakeup.visit_at[0], bucket->nearest);
	ck_assert_int_eq(wakeup_nearest(&wakeup), bucket->nearest);
	return bucket->nearest;
}

static inline size_t copy(struct row r, size_t n)
{
	for (size_t i = 0; i < r.block->n; i++) {
		must(n < MAX_TAKEN && r.block->entry[i].deadline >= r.nearest);
		taken[n++] = r.block->entry[i];
	}
	return n;
}

/* What a step has taken goes behind the n that there are. */
static inline size_t copy_all(const struct visit *v, size_t n)
{
	const struct queue_cursor *c = &v->cursor;

	for (uint32_t i = 0; i < c->taken; i++) {
		n = copy(c->row[i], n);
		block_push(&spares, c->row[i].block);
	}
	for (int i = 0; i < v->entries; i++)
		taken[n++] = v->entry[i];
	return n;
}

/* The wake-up asks for it. */
static inline void visit_of(struct visit *v, int64_t by)
{
	wakeup_collect(&wakeup, by);
	visit_begin(v, by, watch_now(&watch));
}

/* Returns as bucket_collect. */
static inline bool step(struct visit *v)
{
	return bucket_collect(bucket, &wakeup, v);
}

/* A visit; returns how many entries it took. */
static inline size_t take(int64_t by)
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
static inline bool run(struct entry e, int64_t now)
{
	struct slot *s = intake_slot_of(intake, &e);
	uint64_t overrun = 0;
	enum expiry x = begin_entry(bucket, s, &e, now, &overrun);

	if (x == EXPIRY_LATER && e.deadline <= now)
		return run(e, now);
	if (x == EXPIRY_LATER)
		must(bucket_put(bucket, &wakeup, &e, 1) == 0);
	if (x == EXPIRY_RUN)
		must(s->deadline <= now && !expiry_end(s));
	if (x == EXPIRY_RUN || x == EXPIRY_OVER)
		intake_recycle(intake, s);
	return x == EXPIRY_RUN;
}

/* As the driver does, with a bucket and nothing else. */
static inline size_t run_due(int64_t now)
{
	size_t n = take(now), live = 0;

	for (size_t i = 0; i < n; i++) {
		if (taken[i].deadline <= now)
			live += run(taken[i], now);
		else
			must(bucket_put(bucket, &wakeup, &taken[i], 1) == 0);
	}
	intake_flush(intake);
	return live;
}

/* Empties the bucket; returns how many were live. */
static inline size_t run_all(void)
{
	return run_due(INT64_MAX);
}
