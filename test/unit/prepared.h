/* SPDX-License-Identifier: MIT */
/*
 * Timers that need not be armed, and what the calls say of one that is not.
 */
#pragma once

#include "called.h"

static inline timerthread_id prepare(timerthread_fn *fn, void *arg)
{
	timerthread_id id = 0;

	ck_assert_int_eq(timerthread_prepare(tt, fn, arg, &id), 0);
	ck_assert_uint_ne(id, 0);
	return id;
}

static inline int arm(timerthread_id id, int64_t deadline)
{
	return timerthread_reschedule(tt, id, deadline);
}

static inline int disarm(timerthread_id id)
{
	return timerthread_disarm(tt, id);
}

static inline int disarm_wait(timerthread_id id)
{
	return timerthread_disarm_wait(tt, id);
}

static inline int cancel(timerthread_id id)
{
	return timerthread_cancel(tt, id);
}

/* It is neither armed nor running. */
static inline void check_unarmed(timerthread_id id)
{
	check_not_pending(id);
	ck_assert_int_eq(disarm(id), -ENOENT);
	ck_assert_int_eq(disarm_wait(id), -ENOENT);
}

static inline void check_no_cancel(timerthread_id id)
{
	void *arg = &arg;

	ck_assert_int_eq(cancel(id), -ENOENT);
	ck_assert_int_eq(timerthread_cancel_wait(tt, id), -ENOENT);
	ck_assert_int_eq(timerthread_cancel_take(tt, id, &arg), -ENOENT);
	ck_assert_ptr_eq(arg, &arg);
}

/* No call finds it; what those that arm say depends on the instance. */
static inline void check_gone_or(timerthread_id id, int armed)
{
	check_unarmed(id);
	check_no_cancel(id);
	ck_assert_int_eq(arm(id, 0), armed);
	ck_assert_int_eq(timerthread_reschedule_after(tt, id, 0), armed);
	check_unarmed(id);
}

static inline void check_gone(timerthread_id id)
{
	check_gone_or(id, -ENOENT);
}
