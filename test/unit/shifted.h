/* SPDX-License-Identifier: MIT */
/*
 * A clock under control: so many hours later than the kernel says.  Who
 * includes this takes over clock_gettime, for the library too, whose parts it
 * links.
 */
#pragma once

#include "base/atomic.h"
#include "real.h"

#include <time.h>

static atom32 shifted_clock, shift_hours;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	/* Threads that come first at the same time find the same. */
	static atomword next;
	int r;

	if (!atomword_load_acquire(&next))
		atomword_store_release(
			&next, (uintptr_t)real_with_times("clock_gettime"));
	r = ((int (*)(clockid_t, struct timespec *))atomword_load_acquire(
		&next))(clock, t);
	real_wrote(t, sizeof(*t));
	if (r == 0 && clock == (clockid_t)atom32_load_acquire(&shifted_clock))
		t->tv_sec += (int32_t)atom32_load(&shift_hours) * 3600;
	return r;
}

/* CLOCK_MONOTONIC, and nothing: none. */
static inline void step(clockid_t clock, int hours)
{
	atom32_store(&shift_hours, (uint32_t)hours);
	atom32_store_release(&shifted_clock, (uint32_t)clock);
}
