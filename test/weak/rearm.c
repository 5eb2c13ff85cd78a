/* SPDX-License-Identifier: MIT */
/*
 * A timer that is due is rescheduled to an earlier time, which gives it a
 * second entry.  Then it is disarmed, recycling drops that entry, and it is
 * armed again, for later; once more, and the sweep makes the entry stale.  The
 * driver has the first entry, and may be about to begin the timer by that.
 *
 * It hands the timer over before that is rescheduled, which makes no entry
 * then, or not at all.  In the end one entry counts, or it has run.
 *
 * BUG_TWO_STEPS: the driver hands it over by a load and a store.
 */
#include "harness.h"

#ifdef BUG_TWO_STEPS
#include "two_steps.h"
#define atom32_swap two_steps
#endif
#include "store/slot.h"
#undef atom32_swap

#include "armed.h"
#include "begun.h"
#include "stand_ins.h"

#include "handing.h"
#include "intake/expiry.c"
#include "intake/schedule.c"
#include "store/slot.c"
#include "store/slots.c"

#include "intake/recycle.c"
#include "intake/sweep.c"

static struct block_pool pool;
static struct bucket bucket;
static struct watch watch;
static struct wakeup wakeup;
static char chunk[SLOT_FIRST_NUMBER * sizeof(struct slot)]
	__attribute__((aligned(TT_CACHE_LINE)));
static struct slot *slot;
static struct entry entry;
static uint64_t id;
static bool ran;
static int moved;
static bool handed_over; /* before it was moved */

static void setup(void)
{
	const struct timer t = {NOW, 0, NULL, NULL, 0};
	struct slots *table = &bucket.slots;

	memset(&bucket, 0, sizeof(bucket));
	bucket.pool = &pool;
	memset(chunk, 0, sizeof(chunk));
	bucket.state = BUCKET_OPEN;
	watch = (struct watch){.clock = CLOCK_MONOTONIC};
	memset(&wakeup, 0, sizeof(wakeup));
	wakeup.watch = &watch;
	slots_init(table, 0, 0);
	slots_add_chunk(table, 0, chunk);
	slot = slots_take(table);
	/* There is no other. */
	*table->at = 0;
	id = arm_slot(slot, &t, NOW);
	entry = slot_entry(slot);
	n_arrived = 0;
	ran = handed_over = false;
	moved = -EINVAL;
}

static void drop_by_rent(void)
{
	weak_check(n_arrived == 1 && is_over(&bucket, arrived),
		   "recycling does not drop it");
	n_arrived = 0;
}

static void sweep(void)
{
	sweep_for_call(&bucket);
	weak_check(*bucket.slots.at == 0, "the sweep frees it");
}

static void lose_entry(void (*how)(void))
{
	lock_acquire(&bucket.lock);
	how();
	lock_release(&bucket.lock);
}

static void lose_and_arm(void (*how)(void))
{
	weak_check(bucket_disarm(&bucket, slot, id, false, NULL) == 0,
		   "it is not disarmed");
	lose_entry(how);
	weak_check(bucket_reschedule(&bucket, &wakeup, slot, id, 2 * NOW,
				     false) == 0,
		   "it is not armed");
}

static void arm_again(void)
{
	moved = bucket_reschedule(&bucket, &wakeup, slot, id, NOW / 2, false);
	handed_over = moved == 0 && n_arrived == 0;
	if (moved != 0 || handed_over)
		return;
	lose_and_arm(drop_by_rent);
	lose_and_arm(sweep);
}

static void drive(void)
{
	uint64_t overrun = 0;
	enum expiry x = begin_entry(&bucket, slot, &entry, NOW, &overrun);

	ran = x == EXPIRY_RUN;
	weak_check(ran || x == EXPIRY_STALE, "it is put back");
}

static void check(void)
{
	unsigned good = 0;

	weak_check(ran == (moved != 0 || handed_over),
		   "it has run before its time");
	for (unsigned i = 0; i < n_arrived; i++)
		good += slot_owns(slot, &arrived[i]);
	weak_check(good == !ran, "not one entry counts");
}

const struct weak weak = {setup, {drive, arm_again, NULL}, check};
