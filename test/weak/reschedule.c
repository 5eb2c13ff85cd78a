/* SPDX-License-Identifier: MIT */
/*
 * See moving.h.  The driver comes upon the entry, and then upon the new one.
 */
#include "moving.h"

void handover_strand_new(struct bucket *b, struct wakeup *w, struct slot *s)
{
	(void)b;
	(void)w;
	(void)s;
	weak_fail("there is room for an entry");
}

bool handover_announce(struct bucket *b, struct wakeup *w, int64_t deadline)
{
	(void)b;
	(void)w;
	(void)deadline;
	weak_fail("it is not handed over");
}

void wakeup_kick(struct wakeup *w)
{
	(void)w;
	weak_fail("the driver is awake");
}

static void come_upon(struct entry e)
{
	uint64_t overrun = 0;

	switch (expiry_begin(&bucket, &slot, &e, NOW, &overrun)) {
	case EXPIRY_RUN:
		run_callback();
		break;
	case EXPIRY_LATER:
		kept[n_kept++] = e;
		break;
	case EXPIRY_OVER:
		freed++;
		break;
	default:
		break;
	}
}

static void fire(void)
{
	struct entry e;

	come_upon(first);
	if (!take_arrival(&e))
		return;
	if (e.deadline <= NOW)
		come_upon(e);
	else
		kept[n_kept++] = e;
}

const struct weak weak = {
	moving_init, {fire, move_twice, cancel}, moving_check};
