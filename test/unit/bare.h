/* SPDX-License-Identifier: MIT */
/*
 * An engine without an instance: the test is the driver.
 */
#pragma once

#include "checks/bucket.h"
#include "checks/pending.h"
#include "engine/turn.h"
#include "harness.h"
#include "intake/schedule.h"
#include "use_all.h"

static struct engine engine;

/* What the engine takes from options must be set before; else all zero. */
static inline void bare_open(uint32_t buckets, clockid_t clock)
{
	engine.watch.clock = clock;
	ck_assert_int_eq(engine_open(&engine, buckets, 0, false), 0);
	intake_set_open(engine.intake, true);
	use_all(engine.intake);
}

static inline void bare_begin(uint32_t buckets, clockid_t clock)
{
	engine_init(&engine, NULL);
	bare_open(buckets, clock);
}

/* Returns the deadline to sleep until. */
static inline int64_t bare_turn(void)
{
	int64_t nearest;

	ck_assert(engine_turn(&engine, watch_now(&engine.watch)));
	nearest = wakeup_nearest(&engine.wakeup);
	return engine.next < nearest ? engine.next : nearest;
}

static inline uint64_t bare_add(uint32_t bucket, const struct timer *t)
{
	uint64_t id = 0;

	ck_assert_int_eq(bucket_schedule(&engine.intake->bucket[bucket],
					 &engine.wakeup, t, &id),
			 0);
	return id;
}

static inline uint64_t bare_schedule(uint32_t bucket, int64_t deadline,
				     timerthread_fn *fn, void *arg)
{
	return bare_add(bucket, &(struct timer){deadline, 0, fn, arg, 0});
}

static inline int bare_cancel(uint64_t id)
{
	return slot_cancel(intake_slot(engine.intake, id), id);
}

static inline size_t bare_slots_used(void)
{
	size_t n = 0;

	for (uint32_t i = 0; i < engine.intake->n; i++)
		n += engine.intake->bucket[i].slots.used;
	return n;
}

static inline void bare_check(void)
{
	pending_check(&engine.pending);
	for (uint32_t i = 0; i < engine.intake->n; i++)
		bucket_check(&engine.intake->bucket[i]);
}

static inline void bare_end(void)
{
	bare_check();
	engine_close(&engine, false);
}
