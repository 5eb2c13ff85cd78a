/* SPDX-License-Identifier: MIT */
/*
 * See moving.h.  The driver comes upon the entry, and then upon the new one.
 */
#include "moving.h"

void handover_add(struct bucket *b, struct wakeup *w, struct lane *l,
		  struct slot *s, int result)
{
	(void)b;
	(void)w;
	(void)l;
	(void)s;
	(void)result;
	weak_fail("there is room, and no slack");
}

bool handover_move(struct bucket *b, struct wakeup *w, struct slot *s,
		   int64_t due)
{
	(void)b;
	(void)w;
	(void)s;
	(void)due;
	weak_fail("it is not handed over");
}

void wakeup_kick(struct wakeup *w)
{
	(void)w;
	weak_fail("the driver is awake");
}

static enum expiry come_up(struct entry *e)
{
	uint64_t overrun = 0;

	return expiry_begin(&bucket, &slot, e, NOW, &overrun);
}

static void begin(void)
{
	run_callback();
}

const struct weak weak = {
	moving_init, {fire, move_twice, cancel}, moving_check};
