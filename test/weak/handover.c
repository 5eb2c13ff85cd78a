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

static void arrival_grow(struct bucket *b, struct wakeup *w, struct lane *l,
			 bool a_slot)
{
	(void)b;
	(void)w;
	(void)l;
	(void)a_slot;
}

static bool arrival_visit_by(struct bucket *b, struct wakeup *w, int64_t time)
{
	(void)b;
	(void)w;
	(void)time;
	return false;
}

/* Nothing is told to the driver anyway. */
#define arrival_push_at_once arrival_push

/* Its slot goes back to the bucket. */
#define slots_give(t, s, number) ((void)(t), (void)(s), (void)(number), freed++)
#include "intake/handover.c"

void slot_heap_add(struct slot_heap *h, const struct slots *t, struct slot *s)
{
	(void)h;
	(void)t;
	(void)s;
	weak_fail("there is memory, so no timer is stranded");
}

void slot_heap_remove(struct slot_heap *h, const struct slots *t,
		      struct slot *s)
{
	slot_heap_add(h, t, s);
}

/* Nobody sleeps. */
void wakeup_kick(struct wakeup *w)
{
	(void)w;
}

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
