/* SPDX-License-Identifier: MIT */
/*
 * See moving.h.  The driver hands the timer over, and the executor's thread,
 * which is the same here, begins it.
 */
#include "moving.h"

static struct arrival arrival_aim(struct bucket *b, int64_t deadline)
{
	(void)b;
	return (struct arrival){NULL, deadline};
}

static bool arrival_has_room(struct bucket *b, struct lane *l)
{
	(void)b;
	(void)l;
	return true;
}

static void arrival_grow(struct bucket *b, struct lane *l, bool a_slot)
{
	(void)b;
	(void)l;
	(void)a_slot;
}

static bool arrival_announce(struct bucket *b, struct wakeup *w,
			     int64_t deadline)
{
	(void)b;
	(void)w;
	(void)deadline;
	return false;
}

/* Its slot goes back to the bucket. */
#define slots_give(t, s, number) ((void)(t), (void)(s), (void)(number), freed++)
#include "intake/handover.c"

/* Nobody sleeps. */
void wakeup_kick(struct wakeup *w)
{
	(void)w;
}

static void begin_handed_over(void)
{
	uint64_t overrun = 0;

	if (handover_begin(&bucket, &wakeup, &slot, &overrun) == EXPIRY_RUN)
		run_callback();
}

static void come_upon(struct entry e)
{
	switch (handover_give(&bucket, &slot, &e, NOW)) {
	case EXPIRY_RUN:
		begin_handed_over();
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
