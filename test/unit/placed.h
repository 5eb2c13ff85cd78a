/* SPDX-License-Identifier: MIT */
/*
 * In which bucket a timer is.
 */
#pragma once

#include "timers.h"

static inline struct intake *intake(void)
{
	return tt->engine.intake;
}

static inline uint32_t bucket_of(timerthread_id id)
{
	return intake_bucket(intake(), slot_index(id))->slots.bucket;
}

static inline timerthread_id far_timer(void)
{
	return schedule(timerthread_now(tt) + HOUR, never, NULL);
}
