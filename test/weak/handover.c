/* SPDX-License-Identifier: MIT */
/*
 * See moving.h.  The driver hands the timer over, and the executor's thread,
 * which is the same here, begins it.
 */
#include "moving.h"

/* Its slot goes back to the bucket. */
#define slots_give(t, s, number) ((void)(t), (void)(s), (void)(number), freed++)
#include "handing.h"

static enum expiry come_up(struct entry *e)
{
	return handover_give(&bucket, &slot, e, NOW);
}

static void begin(void)
{
	uint64_t overrun = 0;

	if (handover_begin(&bucket, &wakeup, &slot, &overrun) == EXPIRY_RUN)
		run_callback();
}

const struct weak weak = {
	moving_init, {fire, move_twice, cancel}, moving_check};
