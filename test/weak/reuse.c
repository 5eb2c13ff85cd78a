/* SPDX-License-Identifier: MIT */
/*
 * A timer is cancelled by one thread, which frees the slot and schedules
 * another timer in it; a second one cancels by the old id, and takes the
 * argument; and the driver comes upon the old entry, which is due.
 *
 * The old id cancels the old timer alone, once, and yields its argument; the
 * old entry neither begins nor frees the new timer.
 *
 * BUG_SAME_GENERATION: a slot that is freed keeps its generation.
 * BUG_SAME_TICKET: the new timer has the ticket of the old one.
 * BUG_TAKEN_LATE: the argument is read when the timer was cancelled.
 */
#include "harness.h"

#include "store/slots.h"

#ifdef BUG_SAME_GENERATION
#define slot_free(s, word)                                                     \
	atom32_store_release(&(s)->state, slot_in(word, SLOT_FREE))
#endif

#include "armed.h"
#include "begun.h"
#include "stand_ins.h"

#include "intake/expiry.c"
#include "store/slot.c"
#include "store/slots.c"

static struct bucket bucket;
static struct slot slot;
static struct entry entry;
static uint64_t old_id, new_id;
static int old_argument, new_argument;
static int result[WEAK_THREADS];
static bool ran_old, ran_new, scheduled;
static void *taken; /* if the second thread has cancelled it */

static void old_callback(void *arg)
{
	(void)arg;
	ran_old = true;
}

static void new_callback(void *arg)
{
	(void)arg;
	ran_new = true;
}

static void setup(void)
{
	const struct timer t = {NOW, 0, old_callback, &old_argument, 0};

	bucket.lock = (struct lock){0};
	memset(&slot, 0, sizeof(slot));
	slot.index = SLOT_FIRST_NUMBER;
	old_id = arm_slot(&slot, &t, NOW);
	entry = slot_entry(&slot);
	old_argument = new_argument = 0;
	ran_old = ran_new = scheduled = false;
	taken = &old_argument;
	result[0] = result[1] = -EINVAL;
}

/* As a sweep, which takes the slot from under its entry. */
static bool recycle(void)
{
	uint32_t word = atom32_load(&slot.state);
	uint32_t ticket = atom32_load(&slot.ticket);

	if (!slot_is_dead(word) || slot_is_handed_over(&slot) ||
	    atom32_swap(&slot.ticket, ticket, ticket_next(ticket)) != ticket)
		return false;
	slot_free(&slot, word);
	return true;
}

static void cancel_and_schedule(void)
{
	const struct timer t = {2 * NOW, 0, new_callback, &new_argument, 0};

	result[0] = cancel_slot(&slot, old_id);
	lock_acquire(&bucket.lock);
	if (recycle()) {
#ifdef BUG_SAME_TICKET
		atom32_store(&slot.ticket, slot.ticket - 2 * TICKET_STEP);
#endif
		new_id = arm_slot(&slot, &t, 2 * NOW);
		scheduled = true;
	}
	lock_release(&bucket.lock);
}

static void take_old(void)
{
	void *arg;

	result[1] = slot_take(&slot, old_id, &arg);
#ifdef BUG_TAKEN_LATE
	arg = slot_arg(&slot);
#endif
	if (result[1] != 0)
		return;
	old_argument = 2;
	taken = arg;
}

static void fire(void)
{
	uint64_t overrun = 0;

	if (begin_entry(&bucket, &slot, &entry, NOW, &overrun) != EXPIRY_RUN)
		return;
	slot_fn (&slot)(slot_arg(&slot));
	if (!expiry_end(&slot))
		atom32_store_release(&slot.state,
				     slot_next(atom32_load(&slot.state)));
}

static void check(void)
{
	int zeros = (result[0] == 0) + (result[1] == 0);

	weak_check(!ran_new, "the new timer has run before its time");
	weak_check(ran_old + zeros == 1, "not one has the old timer");
	weak_check(taken == &old_argument, "it is another timer's argument");
	weak_check(!scheduled || cancel_slot(&slot, new_id) == 0,
		   "the new timer is lost");
}

const struct weak weak = {setup, {cancel_and_schedule, take_old, fire}, check};
