/* SPDX-License-Identifier: MIT */
/*
 * Short calls on the instance under test, and looks at its inside.
 */
#pragma once

#include "checks/cap.h"
#include "contents.h"
#include "fixture.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>

#define MS   INT64_C(1000000)
#define HOUR INT64_C(3600000000000)

static inline timerthread_id schedule(int64_t deadline, timerthread_fn *fn,
				      void *arg)
{
	timerthread_id id = 0;

	ck_assert_int_eq(timerthread_schedule(tt, deadline, fn, arg, &id), 0);
	ck_assert_uint_ne(id, 0);
	return id;
}

static inline timerthread_id every(int64_t first, int64_t period,
				   timerthread_fn *fn, void *arg)
{
	timerthread_id id = 0;

	ck_assert_int_eq(
		timerthread_schedule_every(tt, first, period, fn, arg, &id), 0);
	ck_assert_uint_ne(id, 0);
	return id;
}

static inline int64_t deadline_of(timerthread_id id)
{
	int64_t deadline = 0;

	ck_assert_int_eq(timerthread_get_deadline(tt, id, &deadline), 0);
	return deadline;
}

/* No such timer is pending. */
static inline void check_not_pending(timerthread_id id)
{
	int64_t deadline = 77;

	ck_assert_int_eq(timerthread_get_deadline(tt, id, &deadline), -ENOENT);
	ck_assert_int_eq(deadline, 77);
}

/* All that was due before this call has run when it returns. */
static inline void settle(void)
{
	sem_t settled;

	sem_init(&settled, 0, 0);
	schedule(timerthread_now(tt), post, &settled);
	wait_for(&settled);
	/* Its callback is over too, so that the semaphore may go. */
	schedule(0, post, &ran);
	wait_for(&ran);
	sem_destroy(&settled);
}

/* Until so many places under the cap are free: callbacks give theirs back. */
static inline void wait_for_places(size_t n)
{
	while (cap_free(&tt->engine.cap) < n)
		sched_yield();
}

/* Holds the thread that runs callbacks inside of one. */
static inline timerthread_id hold_thread(void)
{
	timerthread_id id = schedule(0, hold, &ran);

	wait_for(&ran);
	return id;
}

/* The same, so that what is due meanwhile runs in the order of deadlines. */
static inline timerthread_id hold_driver(void)
{
	driver_keep_order(tt);
	return hold_thread();
}

/* Waits until the timer thread sleeps, or is just about to; if it ever does. */
static inline void wait_for_sleep(void)
{
	bool asleep = tt->driver == DRIVER_VIRTUAL;

	while (!asleep) {
		sched_yield();
		lock_acquire(&tt->engine.wakeup.lock);
		asleep = tt->engine.wakeup.sleep != INT64_MIN;
		lock_release(&tt->engine.wakeup.lock);
	}
}

/* Entries that wait in the buckets. */
static inline size_t arrivals(void)
{
	size_t n = 0;

	for (uint32_t i = 0; i < tt->engine.intake->n; i++) {
		struct bucket *b = &tt->engine.intake->bucket[i];

		lock_acquire(&b->lock);
		n += bucket_size(b);
		lock_release(&b->lock);
	}
	return n;
}

/* Slots that are not free. */
static inline size_t slots_in_use(void)
{
	size_t n = 0;

	for (uint32_t i = 0; i < tt->engine.intake->n; i++) {
		struct bucket *b = &tt->engine.intake->bucket[i];

		lock_acquire(&b->lock);
		n += b->slots.used;
		lock_release(&b->lock);
	}
	return n;
}
