/* SPDX-License-Identifier: MIT */
/*
 * An intake without an engine: the test schedules into its buckets, and takes
 * from them what a driver would.
 */
#pragma once

#include "checks/bucket.h"
#include "harness.h"
#include "intake/intake.h"
#include "intake/schedule.h"
#include "must.h"
#include "use_all.h"

static struct watch watch;
static struct wakeup wakeup;
static struct intake *intake;

/* So many buckets, shut.  The watch must be set before. */
static inline void make_intake(uint32_t n)
{
	wakeup_init(&wakeup, &watch);
	ck_assert(wakeup_open(&wakeup, n));
	intake = intake_create(n);
	ck_assert_ptr_nonnull(intake);
}

/* The same, open and used. */
static inline void begin_intake(uint32_t n)
{
	make_intake(n);
	intake_set_open(intake, true);
	use_all(intake);
}

static inline void end_intake(void)
{
	for (uint32_t i = 0; i < intake->n; i++)
		bucket_check(&intake->bucket[i]);
	intake_destroy(intake);
	wakeup_close(&wakeup);
}

static inline struct slot *slot_of(uint64_t id)
{
	return intake_slot(intake, id);
}

static inline struct bucket *bucket_of(uint64_t id)
{
	return intake_bucket(intake, slot_index(id));
}

static inline void nothing(void *arg)
{
	(void)arg;
}

static inline int try_to_schedule_in(struct bucket *b, int64_t deadline,
				     uint64_t *ret_id)
{
	return bucket_schedule(b, &wakeup,
			       &(struct timer){deadline, 0, nothing, NULL, 0},
			       ret_id);
}

/* Many are scheduled: a ck_assert for each would take longer than that. */
static inline uint64_t schedule_in(struct bucket *b, int64_t deadline)
{
	uint64_t id = 0;

	must(try_to_schedule_in(b, deadline, &id) == 0 && id != 0);
	return id;
}

static inline int cancel(uint64_t id)
{
	return slot_cancel(slot_of(id), id);
}

static inline int reschedule(uint64_t id, int64_t deadline)
{
	return bucket_reschedule(bucket_of(id), &wakeup, slot_of(id), id,
				 deadline, false);
}
