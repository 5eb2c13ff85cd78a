/* SPDX-License-Identifier: MIT */
/*
 * A timer's entry has come up: it is handed over, and the same thread begins
 * it.
 */
#pragma once

#include "intake/expiry.h"

/* LATER: *e, or if it was handed over by then the timer, must be filed. */
static inline enum expiry begin_entry(struct bucket *b, struct slot *s,
				      struct entry *e, int64_t now,
				      uint64_t *overrun)
{
	enum expiry x = expiry_hand_over(b, s, e, now);

	if (x != EXPIRY_RUN || slot_begin(s))
		return x;
	return expiry_begin(b, s, now, overrun);
}
