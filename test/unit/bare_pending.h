/* SPDX-License-Identifier: MIT */
/*
 * What is pending, without an engine: the test is the driver, which collects
 * from a few buckets.
 */
#pragma once

#include "bare_intake.h"
#include "begun.h"
#include "checks/pending.h"
#include "entries.h"
#include "intake/collect.h"
#include "intake/reserve.h"
#include "intake/unqueued.h"
#include "pending/pending.h"

/* NOW is what the clock shows in the beginning. */
#define NOW    (INT64_C(1) << 50)
#define MS     INT64_C(1000000)
#define SECOND (1000 * MS)
#define HOUR   (3600 * SECOND)

static struct pending pending;

static inline int64_t now(void)
{
	return watch_now(&watch);
}

static inline void begin_pending(uint32_t buckets)
{
	watch = WATCH_VIRTUAL(NOW);
	begin_intake(buckets);
	ck_assert(pending_init(&pending, intake, &wakeup));
}

/* With memory for n timers here, and for some more in the buckets. */
static inline void begin_reserve(size_t n)
{
	watch = WATCH_VIRTUAL(NOW);
	make_intake(2);
	ck_assert(intake_reserve(intake, 8 * n));
	intake_set_open(intake, true);
	ck_assert(pending_init(&pending, intake, &wakeup));
	ck_assert(pending_reserve(&pending, n));
}

static inline void check(void)
{
	pending_check(&pending);
	for (uint32_t i = 0; i < intake->n; i++)
		bucket_check(&intake->bucket[i]);
}

static inline void end_pending(void)
{
	check();
	pending_destroy(&pending);
	end_intake();
}

/* Odd and even ones have a bucket each. */
static inline uint64_t schedule(int64_t deadline)
{
	return schedule_in(&intake->bucket[deadline & 1], deadline);
}

static inline void must_cancel(uint64_t id)
{
	must(cancel(id) == 0);
}

static inline void must_reschedule(uint64_t id, int64_t deadline)
{
	must(reschedule(id, deadline) == 0);
}

static inline void visit(struct bucket *b, int64_t by)
{
	struct visit v;
	bool more;

	visit_begin(&v, by, now());
	do {
		more = bucket_collect(b, &wakeup, &v);
		for (uint32_t i = 0; i < v.cursor.taken; i++)
			pending_add(&pending, v.cursor.row[i]);
		/* As if it were that time by now: the first is to stay. */
		for (int i = 0; i < v.entries; i++)
			pending_file(&pending, v.entry[i], by);
		v.full = v.entries > 0 &&
			 v.entry[v.entries - 1].deadline >= pending.beyond;
	} while (more);
}

/* What is due by then comes in, and more. */
static inline void collect(int64_t by)
{
	struct bucket_set due = wakeup_collect(&wakeup, by);
	uint32_t i;

	if (due.used == 0)
		return;
	while (bucket_set_take(&due, &i))
		visit(&intake->bucket[i], by);
	check();
}

/* The earliest of what was collected. */
static inline int64_t next_pending(void)
{
	int64_t bound = INT64_MIN, next, at = now();

	while (!pending_next(&pending, at, &next) ||
	       !pending_has_found(&pending, next)) {
		bound = next > bound ? next : bound;
		at = bound > at ? bound : at;
		pending_check(&pending);
	}
	must(next >= bound);
	return next;
}

/* The earliest of all. */
static inline int64_t earliest(void)
{
	for (;;) {
		int64_t t = next_pending(), nearest = wakeup_nearest(&wakeup);

		if (nearest >= t)
			return t;
		collect(nearest);
	}
}

/* Runs the earliest one and returns its slot, which is free then. */
static inline const struct slot *run(void)
{
	int64_t deadline = earliest();
	struct entry e = pending_take(&pending);
	struct slot *s = intake_slot_of(intake, &e);
	uint64_t overrun = 0;
	enum expiry x;

	must(e.deadline == deadline);
	if (deadline > now())
		watch_set(&watch, deadline);
	x = begin_entry(intake_bucket(intake, e.index), s, &e, deadline,
			&overrun);
	if (x == EXPIRY_LATER) {
		pending_file(&pending, e, now());
		return run();
	}
	must(x == EXPIRY_RUN && s->deadline == deadline && !expiry_end(s));
	intake_recycle(intake, s);
	return s;
}

static inline size_t in_buckets(void)
{
	return entries_of(&pending) - entries_pending(&pending);
}

/* In blocks that are not open. */
static inline size_t in_blocks(void)
{
	return entries_pending(&pending) - pending.heap.n;
}

static inline size_t entries(void)
{
	return entries_of(&pending);
}

static inline size_t used(void)
{
	size_t n = 0;

	intake_flush(intake);
	for (uint32_t i = 0; i < intake->n; i++)
		n += intake->bucket[i].slots.used;
	return n;
}

static inline int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}
