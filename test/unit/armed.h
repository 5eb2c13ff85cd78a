/* SPDX-License-Identifier: MIT */
/*
 * A timer in a slot, as calls that schedule and cancel change it.
 */
#pragma once

#include "store/slot.h"

/* Returns its id. */
static inline uint64_t arm_slot(struct slot *s, const struct timer *t,
				int64_t due)
{
	uint32_t word = atom32_load(&s->state);

	slot_arm(s, word, t, due, SLOT_ARMED);
	return slot_id(s, word);
}

/* As timerthread_cancel. */
static inline int cancel_slot(struct slot *s, uint64_t id)
{
	return slot_kill(s, id) ? 0 : slot_cancel(s, id);
}
