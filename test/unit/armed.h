/* SPDX-License-Identifier: MIT */
/*
 * A timer in a slot, as a call that schedules leaves it.
 */
#ifndef TT_TEST_ARMED_H
#define TT_TEST_ARMED_H

#include "store/slot.h"

/* Returns its id. */
static inline uint64_t arm_slot(struct slot *s, const struct timer *t,
				int64_t due)
{
	uint32_t word = atom32_load(&s->state);

	slot_arm(s, word, t, due, SLOT_ARMED);
	return slot_id(s, word);
}

#endif
